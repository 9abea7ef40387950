"""When a run ends by itself."""

from __future__ import annotations

from collections.abc import Callable

from ptp.config.tree import SIGNAL_LIMITS
from ptp.config.tree import Limits as LimitConfig
from ptp.engine.play import Progress
from ptp.errors import ConfigError
from ptp.records import WorldFacts

Check = tuple[str, Callable[[Progress], bool]]


class Limits:
    """The limits that a config sets; hard ones are exact, soft ones let the current decision finish."""

    def __init__(self, config: LimitConfig, facts: WorldFacts) -> None:
        self._hard = _present(
            ("max-ticks", config.max_ticks, lambda most: lambda p: p.ticks >= most),
            ("episodes", config.episodes, lambda most: lambda p: p.episodes >= most),
        )
        self._soft = _present(
            ("max-time", config.max_time, lambda most: lambda p: p.elapsed >= most),
            ("max-cost", config.max_cost, lambda most: lambda p: p.cost > most),
            *(_signal_limit(config, facts, name, signal) for name, signal in SIGNAL_LIMITS.items()),
        )

    @property
    def has_soft(self) -> bool:
        """Whether there is any soft limit to look at."""
        return bool(self._soft)

    def reached(self, progress: Progress) -> str | None:
        """Return the name of any limit that is reached."""
        return self.hard(progress) or self.soft(progress)

    def hard(self, progress: Progress) -> str | None:
        """Return the name of a limit that ends the run at once."""
        for name, reached in self._hard:
            if reached(progress):
                return name
        return None

    def soft(self, progress: Progress) -> str | None:
        """Return the name of a limit that ends the run when the current decision is finished."""
        for name, reached in self._soft:
            if reached(progress):
                return name
        return None


Entry = tuple[str, float | None, Callable[[float], Callable[[Progress], bool]]]


def _present(*entries: Entry) -> list[Check]:
    return [(name, make(most)) for name, most, make in entries if most is not None]


def _signal_limit(config: LimitConfig, facts: WorldFacts, name: str, signal: str) -> Entry:
    """Return the limit on a signal that the world declares."""
    most, flag = getattr(config, name), name.replace("_", "-")
    if most is not None and signal not in facts.signals:
        raise ConfigError(f"--{flag}: world {facts.name!r} does not report this; leave it out")
    return flag, most, lambda most: lambda p: p.signals.values.get(signal, 0) >= most
