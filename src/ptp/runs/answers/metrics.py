"""What the API answers about figures now and over the ticks."""

from __future__ import annotations

from msgspec import Struct


class Performance(Struct):
    """How the run does; null where nothing was measured."""

    tick_rate_actual: float | None
    """Ticks per second, as last measured."""
    tick_rate_target: float | None
    """Ticks per second to keep; 0 is as fast as possible."""
    decision_latency_avg: float | None
    """Milliseconds that a decision took, on average over the newest thousand."""
    decision_latency_p95: float | None
    """Milliseconds that 95 of 100 of them stay below."""
    api_calls_per_minute: float | None
    """Model calls in the last minute of play."""
    api_cost_per_hour: float | None
    """Dollars per hour, at the rate of the last ten minutes."""
    memory_usage_mb: float | None
    """Megabytes that the run's process holds."""
    screenshot_queue_size: int | None
    """Pictures that wait to be written."""
    error_rate: float | None
    """Errors per thousand ticks."""


class Game(Struct, omit_defaults=True):
    """How the player does; absent where the world can't tell."""

    pokemon_caught: int | None = None
    """Kinds of creature that were caught."""
    battles_won: int | None = None
    battles_lost: int | None = None
    battles_fled: int | None = None
    """Battles that were left."""
    badges_earned: int | None = None
    current_level: int | None = None
    """The highest level in the party."""
    pokemon_party_size: int | None = None
    money: int | None = None


class Metrics(Struct):
    """The figures of a run at this moment."""

    run_id: str
    tick: int
    performance: Performance
    game: Game


class Series(Struct):
    """One figure over the ticks."""

    name: str
    unit: str
    points: list[tuple[int, float]]
    """Ticks and values."""


class SeriesList(Struct):
    """Figures over the ticks."""

    run_id: str
    series: list[Series]
    """One for each name that was asked for and has points."""
