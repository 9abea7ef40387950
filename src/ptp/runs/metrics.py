"""The figures of a run: as they are now, and over the ticks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from itertools import accumulate
from typing import Any

from msgspec import Struct

from ptp.errors import UnknownName
from ptp.recording import RunDirectory
from ptp.recording.database import Database
from ptp.records import Metadata
from ptp.runs.settings import find_config
from ptp.runs.status import newest_metric, target_rate
from ptp.runs.tables import ERROR_TICK, State, as_json
from ptp.runs.ticks import newest_tick, state_at
from ptp.worlds.knowledge import Knowledge, knowledge_of

RECENT = 1_000  # decisions that latencies are taken from
EXACT = 20_000  # ticks up to which every decision is looked at
Points = list[tuple[int, float]]


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
    """How the player is doing; absent where the world can't report it."""

    pokemon_caught: int | None = None
    """Creatures caught in the wild or traded for."""
    pokemon_owned: int | None = None
    """Species that were ever owned, those that were given too."""
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
    """One for each requested name that has points."""


def read_metrics(directory: RunDirectory) -> Metrics:
    """Return the figures of a run as they are now."""
    with Database(directory.database) as database:
        state, tick = state_at(database), newest_tick(database)
        knowledge = knowledge_of(directory.read_metadata().facts.family)
        found: dict[str, Any] = {name: knowledge.figure(name, state) for name in knowledge.figures}
        if any(value is not None for value in found.values()):
            found |= {name: database.row(sql)[0] for name, sql in knowledge.tallies.items()}
        game = Game(**{name: value for name, value in found.items() if name in Game.__struct_fields__})
        performance = _performance(directory, database, knowledge.is_engaged(state), tick)
        return Metrics(directory.run_id, tick, performance, game)


def _performance(directory: RunDirectory, database: Database, engaged: bool, tick: int) -> Performance:
    query = f"SELECT decision_latency_ms FROM action_history ORDER BY decision_id DESC LIMIT {RECENT}"
    latencies = sorted(row[0] for row in database.rows(query) if row[0] is not None)
    count = len(latencies)
    errors = database.row("SELECT count(*) FROM errors")[0]
    queue = newest_metric(database, "screenshot_queue_size")
    calls, _ = _spending(database, 60)
    _, cost = _spending(database, 600)
    return Performance(
        tick_rate_actual=newest_metric(database, "tick_rate"),
        tick_rate_target=target_rate(find_config(directory, database), engaged),
        decision_latency_avg=round(sum(latencies) / count, 3) if count else None,
        decision_latency_p95=round(latencies[(count - 1) * 95 // 100], 3) if count else None,
        api_calls_per_minute=calls,
        api_cost_per_hour=cost,
        memory_usage_mb=newest_metric(database, "memory"),
        screenshot_queue_size=None if queue is None else int(queue),
        error_rate=round(1000 * errors / tick, 4) if tick else None,
    )


def _spending(database: Database, seconds: int) -> tuple[float | None, float | None]:
    """Return model calls per minute and dollars per hour, over the last seconds before the newest decision."""
    query = """SELECT count(model_used), coalesce(sum(api_cost), 0),
                      julianday(max(timestamp)) - julianday(min(timestamp))
               FROM (SELECT model_used, api_cost, timestamp FROM action_history ORDER BY decision_id DESC LIMIT 5000)
               WHERE julianday(timestamp) >= (SELECT julianday(timestamp) - ? / 86400.0 FROM action_history
                                              ORDER BY decision_id DESC LIMIT 1)"""
    calls, cost, days = database.row(query, seconds)
    if days is None:
        return None, None
    passed = max(1.0, min(days * 86400, seconds))
    return round(calls * 60 / passed, 3), round(cost * 3600 / passed, 6)


# -- over the ticks --------------------------------------------------------------------------------------------


def read_series(directory: RunDirectory, names: Sequence[str], points: int) -> SeriesList:
    """Return figures over the ticks, by default all; those without points are left out."""
    with Database(directory.database) as database:
        sources = _Plot(database, points).sources(directory.read_metadata())
        found = []
        for name in names or sources:
            if name not in sources:
                raise UnknownName("metric", name[:80], list(sources))
            unit, read = sources[name]
            found.append(Series(name, unit, read()))
    return SeriesList(directory.run_id, [series for series in found if series.points])


class _Plot:
    def __init__(self, database: Database, points: int) -> None:
        self._database = database
        self._points = points
        self._last = newest_tick(database)
        self._stride = max(1, -(-self._last // points))

    def sources(self, metadata: Metadata) -> dict[str, tuple[str, Callable[[], Points]]]:
        knowledge = knowledge_of(metadata.facts.family)
        found: dict[str, tuple[str, Callable[[], Points]]] = {
            "tick_rate_actual": ("ticks/s", partial(self._measured, "tick_rate")),
            "memory_usage_mb": ("MB", partial(self._measured, "memory")),
            "cost": ("dollars", partial(self._measured, "cost")),
        }
        found |= {name: (unit, partial(self._figure, knowledge, name)) for name, unit in knowledge.figures.items()}
        for gauge in metadata.facts.gauges:
            found.setdefault(gauge.name, (gauge.unit, partial(self._measured, gauge.name)))
        return found | {
            "decision_latency_avg": ("ms", self._latency),
            "reward": ("reward", self._reward),
            "episode_reward": ("reward", self._episodes),
            "error_rate": ("errors", self._errors),
        }

    def _rounded(self, digits: int, query: str, *values: Any) -> Points:
        rows = self._database.rows(query, *values)
        return [(tick or 0, round(value, digits)) for tick, value in rows if value is not None]

    def _measured(self, kind: str) -> Points:
        query = """SELECT max(tick), avg(value) FROM (
                     SELECT tick, value, ntile(?) OVER (ORDER BY tick) AS bin FROM performance_metrics
                     WHERE metric_type = ?)
                   GROUP BY bin ORDER BY 1"""
        return self._rounded(4, query, self._points, kind)

    def _figure(self, knowledge: Knowledge, name: str) -> Points:
        figures = ((tick, knowledge.figure(name, state)) for tick, state in self._states)
        return [(tick, float(value)) for tick, value in figures if value is not None]

    @cached_property
    def _states(self) -> list[tuple[int, State]]:
        """States at even distances, read once for all the figures that are taken from them."""
        ticks = self._samples() if self._database.has_tape else []
        return [(tick, state_at(self._database, tick)) for tick in ticks]

    def _samples(self) -> list[int]:
        """Return ticks at even distances, the first and the newest among them."""
        count = min(self._points, self._last)
        return sorted({1 + (self._last - 1) * index // max(1, count - 1) for index in range(count)})

    def _latency(self) -> Points:
        if self._last <= EXACT:
            query = f"""SELECT max(tick), avg(decision_latency_ms) FROM action_history
                        GROUP BY tick / {self._stride} ORDER BY 1"""
            return self._rounded(4, query)
        query = """SELECT value, (SELECT avg(decision_latency_ms) FROM (
                     SELECT decision_latency_ms FROM action_history WHERE tick <= value ORDER BY tick DESC LIMIT 20))
                   FROM json_each(?)"""
        return self._rounded(4, query, as_json(self._samples()))

    def _reward(self) -> Points:
        table, tick = ("episodes", "last_tick") if self._last > 50 * EXACT else ("steps", "tick")
        query = f"SELECT max({tick}), sum(reward) FROM {table} GROUP BY ({tick} - 1) / {self._stride} ORDER BY 1"
        rows = list(self._database.rows(query))
        totals = accumulate(value or 0.0 for _, value in rows)
        found = [(int(tick), round(total, 6)) for (tick, _), total in zip(rows, totals, strict=True)]
        return found if any(value for _, value in found) else []  # the world never gave any

    def _episodes(self) -> Points:
        query = """SELECT max(last_tick), avg(reward) FROM (
                     SELECT last_tick, reward, ntile(?) OVER (ORDER BY episode) AS bin FROM episodes)
                   GROUP BY bin ORDER BY 1"""
        return self._rounded(6, query, self._points)

    def _errors(self) -> Points:
        query = f"SELECT coalesce({ERROR_TICK}, 0) FROM errors ORDER BY timestamp LIMIT ?"
        rows = self._database.rows(query, self._points)
        return [(int(row[0]), float(number)) for number, row in enumerate(rows, 1)]
