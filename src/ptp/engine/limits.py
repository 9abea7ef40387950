"""When a run ends by itself."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from ptp.config.tree import Limits as LimitConfig
from ptp.errors import ConfigError
from ptp.records import WorldFacts
from ptp.worlds import Signals


class Progress(msgspec.Struct):
    """What limits are measured against."""

    ticks: int = 0
    episodes: int = 0
    elapsed: float = 0.0
    reward: float = 0.0
    last_reward: float | None = None
    """The total reward of the last whole episode."""
    cost: float = 0.0
    signals: Signals = Signals()


Check = tuple[str, Callable[[Progress], bool]]

NEEDED_SIGNAL = {"max_pokemon_caught": "caught", "max_badges": "badges", "max_level": "level"}


class Limits:
    """The limits that a config sets; hard ones are exact, soft ones let the current decision finish."""

    def __init__(self, config: LimitConfig, facts: WorldFacts) -> None:
        for name, signal in NEEDED_SIGNAL.items():
            if getattr(config, name) is not None and signal not in facts.signals:
                flag = "--" + name.replace("_", "-")
                raise ConfigError(f"{flag}: world {facts.name!r} does not tell this; leave it out")
        self._hard = _present(
            ("max-ticks", config.max_ticks, lambda most: lambda p: p.ticks >= most),
            ("episodes", config.episodes, lambda most: lambda p: p.episodes >= most),
        )
        self._soft = _present(
            ("max-time", config.max_time, lambda most: lambda p: p.elapsed >= most),
            ("max-cost", config.max_cost, lambda most: lambda p: p.cost > most),
            (
                "max-pokemon-caught",
                config.max_pokemon_caught,
                lambda most: lambda p: p.signals.values.get("caught", 0) >= most,
            ),
            ("max-badges", config.max_badges, lambda most: lambda p: p.signals.values.get("badges", 0) >= most),
            ("max-level", config.max_level, lambda most: lambda p: p.signals.values.get("level", 0) >= most),
        )

    @property
    def has_soft(self) -> bool:
        """Whether there is any soft limit to look at."""
        return bool(self._soft)

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


def _present(*entries: tuple[str, float | None, Callable[[float], Callable[[Progress], bool]]]) -> list[Check]:
    return [(name, make(most)) for name, most, make in entries if most is not None]
