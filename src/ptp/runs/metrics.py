"""The figures of a run: as they are now, and over the ticks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ptp.errors import UnknownName
from ptp.recording import RunDirectory
from ptp.recording.database import Database
from ptp.records import Metadata
from ptp.runs.answers.metrics import Game, Metrics, Performance, Series, SeriesList
from ptp.runs.data import State
from ptp.runs.settings import find_config
from ptp.runs.states import newest_tick, state_at
from ptp.runs.status import newest_metric, target_rate
from ptp.runs.tables import ERROR_TICK
from ptp.worlds.knowledge import Knowledge, knowledge_of

RECENT = 1_000  # decisions that latencies are taken from
_EXACT = 20_000  # ticks up to which every decision is looked at


def read_metrics(directory: RunDirectory) -> Metrics:
    """Return the figures of a run as they are now."""
    with Database(directory.database) as database:
        state, tick = state_at(database), newest_tick(database)
        knowledge = knowledge_of(directory.read_metadata().facts.family)
        performance = _performance(directory, database, knowledge.is_engaged(state), tick)
        return Metrics(directory.run_id, tick, performance, _game(database, state, knowledge))


def _performance(directory: RunDirectory, database: Database, engaged: bool, tick: int) -> Performance:
    average, p95 = _latencies(database)
    errors = database.row("SELECT count(*) FROM errors")[0]
    queue = newest_metric(database, "screenshot_queue_size")
    calls, _ = _spending(database, 60)
    _, cost = _spending(database, 600)
    return Performance(
        tick_rate_actual=newest_metric(database, "tick_rate"),
        tick_rate_target=target_rate(find_config(directory, database), engaged),
        decision_latency_avg=average,
        decision_latency_p95=p95,
        api_calls_per_minute=calls,
        api_cost_per_hour=cost,
        memory_usage_mb=newest_metric(database, "memory"),
        screenshot_queue_size=None if queue is None else int(queue),
        error_rate=round(1000 * errors / tick, 4) if tick else None,
    )


def _latencies(database: Database) -> tuple[float | None, float | None]:
    query = f"SELECT decision_latency_ms FROM action_history ORDER BY decision_id DESC LIMIT {RECENT}"
    values = sorted(row[0] for row in database.rows(query) if row[0] is not None)
    if not values:
        return None, None
    return round(sum(values) / len(values), 3), round(values[(len(values) - 1) * 95 // 100], 3)


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


def _game(database: Database, state: State, knowledge: Knowledge) -> Game:
    found: dict[str, Any] = {name: knowledge.figure(name, state) for name in knowledge.figures}
    if any(value is not None for value in found.values()):
        found |= {name: database.row(sql)[0] for name, sql in knowledge.tallies.items()}
    return Game(**{name: value for name, value in found.items() if name in Game.__struct_fields__})


# -- over the ticks --------------------------------------------------------------------------------------------

Points = list[tuple[int, float]]

MEASURED = {"tick_rate_actual": ("tick_rate", "ticks/s"), "memory_usage_mb": ("memory", "MB"),
            "cost": ("cost", "dollars")}  # fmt: skip
OTHERS = {"decision_latency_avg": "ms", "reward": "reward", "episode_reward": "reward", "error_rate": "errors"}


def names_of(metadata: Metadata) -> list[str]:
    """Return the figures that a run can have: those of every run, of its world, and what its world measures."""
    figures = knowledge_of(metadata.facts.family).figures
    return [*MEASURED, *figures, *(gauge.name for gauge in metadata.facts.gauges), *OTHERS]


def read_series(directory: RunDirectory, names: Sequence[str], points: int) -> SeriesList:
    """Return figures over the ticks, by default all; those without points are left out."""
    metadata = directory.read_metadata()
    known = names_of(metadata)
    with Database(directory.database) as database:
        states = _Sampled(database, points)
        found = []
        for name in names or known:
            if name not in known:
                raise UnknownName("metric", name[:80], known)
            found.append(_series(database, states, name, points, metadata))
    return SeriesList(directory.run_id, [series for series in found if series.points])


def _series(database: Database, states: _Sampled, name: str, points: int, metadata: Metadata) -> Series:
    knowledge = knowledge_of(metadata.facts.family)
    if name in knowledge.figures:
        figures = ((tick, knowledge.figure(name, state)) for tick, state in states)
        return Series(name, knowledge.figures[name], [(tick, float(it)) for tick, it in figures if it is not None])
    if name in OTHERS:
        read = {"decision_latency_avg": _latency, "reward": _reward, "episode_reward": _episodes, "error_rate": _errors}
        return Series(name, OTHERS[name], read[name](database, points))
    units = {gauge.name: (gauge.name, gauge.unit) for gauge in metadata.facts.gauges}
    kind, unit = (units | MEASURED)[name]
    return Series(name, unit, _measured(database, kind, points))


def _measured(database: Database, kind: str, points: int) -> Points:
    query = """SELECT max(tick), avg(value) FROM (
                 SELECT tick, value, ntile(?) OVER (ORDER BY tick) AS bin FROM performance_metrics
                 WHERE metric_type = ?)
               GROUP BY bin ORDER BY 1"""
    return [(tick or 0, round(value, 4)) for tick, value in database.rows(query, points, kind) if value is not None]


def _samples(database: Database, points: int) -> list[int]:
    """Return ticks at even distances, the first and the newest among them."""
    last = newest_tick(database)
    count = min(points, last)
    return sorted({1 + (last - 1) * index // max(1, count - 1) for index in range(count)})


class _Sampled:
    """States at even distances, read once for all the figures that are taken from them."""

    def __init__(self, database: Database, points: int) -> None:
        self._database = database
        self._points = points
        self._states: list[tuple[int, State]] | None = None

    def __iter__(self) -> Iterator[tuple[int, State]]:
        if self._states is None:
            ticks = _samples(self._database, self._points) if self._database.has_tape else ()
            self._states = [(tick, state_at(self._database, tick)) for tick in ticks]
        return iter(self._states)


def _latency(database: Database, points: int) -> Points:
    last = newest_tick(database)
    if last <= _EXACT:
        size = max(1, -(-last // points))
        query = f"SELECT max(tick), avg(decision_latency_ms) FROM action_history GROUP BY tick / {size} ORDER BY 1"
        return [(tick, round(value, 4)) for tick, value in database.rows(query) if value is not None]
    query = """SELECT avg(decision_latency_ms) FROM (
                 SELECT decision_latency_ms FROM action_history WHERE tick <= ? ORDER BY tick DESC LIMIT 20)"""
    averages = ((tick, database.row(query, tick)[0]) for tick in _samples(database, points))
    return [(tick, round(value, 4)) for tick, value in averages if value is not None]


def _reward(database: Database, points: int) -> Points:
    """Return the total reward over the ticks; nothing where the world never gave any."""
    last = newest_tick(database)
    size = max(1, -(-last // points))
    query = f"SELECT max(tick), sum(reward) FROM steps GROUP BY (tick - 1) / {size} ORDER BY 1"
    if last > 50 * _EXACT:
        query = f"SELECT max(last_tick), sum(reward) FROM episodes GROUP BY (last_tick - 1) / {size} ORDER BY 1"
    total, found = 0.0, []
    for tick, value in database.rows(query):
        total += value or 0.0
        found.append((int(tick), round(total, 6)))
    return found if any(value for _, value in found) else []


def _episodes(database: Database, points: int) -> Points:
    query = """SELECT max(last_tick), avg(reward) FROM (
                 SELECT last_tick, reward, ntile(?) OVER (ORDER BY episode) AS bin FROM episodes)
               GROUP BY bin ORDER BY 1"""
    return [(tick, round(value, 6)) for tick, value in database.rows(query, points) if value is not None]


def _errors(database: Database, points: int) -> Points:
    query = f"SELECT coalesce({ERROR_TICK}, 0) FROM errors ORDER BY timestamp LIMIT ?"
    return [(int(row[0]), float(number)) for number, row in enumerate(database.rows(query, points), 1)]
