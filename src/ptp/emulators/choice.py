"""Which of the idle emulators of a pool does the next work."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, Protocol, get_args

from ptp.emulators.health import Level
from ptp.errors import ConfigError

ChoiceName = Literal["round-robin", "least-busy", "weighted", "health-aware"]


class Candidate(Protocol):
    """What is known of an emulator that could be chosen."""

    @property
    def name(self) -> str:
        """What it is called."""
        ...

    @property
    def level(self) -> Level:
        """How it is."""
        ...

    @property
    def busy_seconds(self) -> float:
        """How long it has worked so far."""
        ...

    @property
    def speed(self) -> float | None:
        """Commands per second that it played lately; None before its first work."""
        ...


Choice = Callable[[Sequence[Candidate]], int]
"""Returns the place of one of some candidates, of which there is at least one."""


class RoundRobin:
    """One after the other, by name."""

    def __init__(self) -> None:
        self._last = ""

    def __call__(self, candidates: Sequence[Candidate]) -> int:
        """Return the next one."""
        after = [place for place, it in enumerate(candidates) if it.name > self._last]
        chosen = min(after or range(len(candidates)), key=lambda place: candidates[place].name)
        self._last = candidates[chosen].name
        return chosen


def least_busy(candidates: Sequence[Candidate]) -> int:
    """Return the one that has worked least."""
    return min(range(len(candidates)), key=lambda place: candidates[place].busy_seconds)


class Weighted:
    """Each as often as it is fast; one whose speed is not known yet comes first."""

    def __init__(self) -> None:
        self._credit: dict[str, float] = {}

    def __call__(self, candidates: Sequence[Candidate]) -> int:
        """Return the one that is furthest behind its share."""
        for place, it in enumerate(candidates):
            if it.speed is None:
                return place
        credit = {it.name: self._credit.get(it.name, 0.0) + (it.speed or 0.0) for it in candidates}
        chosen = max(range(len(candidates)), key=lambda place: credit[candidates[place].name])
        credit[candidates[chosen].name] -= sum(it.speed or 0.0 for it in candidates)
        self._credit |= credit
        return chosen


def health_aware(candidates: Sequence[Candidate]) -> int:
    """Return the one that has worked least of those that are healthy; a degraded one only if there is no other."""
    healthy = [place for place, it in enumerate(candidates) if it.level == "healthy"]
    return min(healthy or range(len(candidates)), key=lambda place: candidates[place].busy_seconds)


def make_choice(name: str) -> Choice:
    """Return the choice of that name; one that failed is never a candidate."""
    match name:
        case "round-robin":
            return RoundRobin()
        case "least-busy":
            return least_busy
        case "weighted":
            return Weighted()
        case "health-aware":
            return health_aware
    raise ConfigError(f"no choice named {name!r}; choose one of: {', '.join(get_args(ChoiceName))}")
