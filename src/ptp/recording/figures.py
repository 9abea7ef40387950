"""A run in figures, read from its database."""

from __future__ import annotations

import msgspec

from ptp.recording.database import Database
from ptp.recording.directory import RunDirectory
from ptp.records import Metadata

POINTS = 300  # at most this many points per plot


class Series(msgspec.Struct):
    """One line of a plot."""

    title: str
    x: str
    y: str
    points: list[tuple[float, float]]


class Report(msgspec.Struct):
    """A run in figures."""

    run: Metadata
    steps: int
    decisions: int
    decision_statuses: dict[str, int]
    decision_latency_ms: dict[str, float]
    tokens: int | None
    cost: float | None
    episodes: int
    episode_reward: dict[str, float]
    episode_steps: dict[str, float]
    errors: list[str]
    plots: list[Series]


def make_report(directory: RunDirectory) -> Report:
    """Read a run's figures from its database."""
    metadata = directory.read_metadata()
    with Database(directory.database) as database:
        (steps,) = database.row("SELECT count(*) FROM steps")
        (episodes,) = database.row("SELECT count(*) FROM episodes")
        decisions, tokens, cost = database.row("SELECT count(*), sum(tokens_used), sum(api_cost) FROM action_history")
        statuses = "SELECT execution_status, count(*) FROM action_history GROUP BY 1 ORDER BY 1"
        errors = "SELECT error_type, error_message FROM errors ORDER BY timestamp LIMIT 20"
        return Report(
            run=metadata,
            steps=steps,
            decisions=decisions,
            decision_statuses=dict(database.rows(statuses)),
            decision_latency_ms=_spread(database, "action_history", "decision_latency_ms"),
            tokens=tokens,
            cost=cost,
            episodes=episodes,
            episode_reward=_spread(database, "episodes", "reward"),
            episode_steps=_spread(database, "episodes", "steps"),
            errors=[f"{kind}: {message}" for kind, message in database.rows(errors)],
            plots=_plots(database, steps, episodes),
        )


def _spread(database: Database, table: str, column: str) -> dict[str, float]:
    """Return count, mean, least, median, 95th percentile and most of a column; empty when there are none."""
    count, mean = database.row(f"SELECT count({column}), avg({column}) FROM {table}")
    if not count:
        return {}
    ranks = {"min": 0, "median": (count - 1) // 2, "p95": (count - 1) * 95 // 100, "max": count - 1}
    query = f"SELECT {column} FROM {table} WHERE {column} IS NOT NULL ORDER BY 1 LIMIT 1 OFFSET ?"
    values = {name: database.row(query, rank)[0] for name, rank in ranks.items()}
    return {"count": count, "mean": mean, **values}


def _plots(database: Database, steps: int, episodes: int) -> list[Series]:
    size = max(1, -(-steps // POINTS))
    latency = f"SELECT max(tick), avg(decision_latency_ms) FROM action_history GROUP BY tick / {size} ORDER BY 1"
    cost = f"SELECT max(tick), sum(api_cost) FROM action_history GROUP BY tick / {size} ORDER BY 1"
    return [
        _reward(database, size, episodes),
        Series("Decision latency", "tick", "milliseconds", _bins(database, latency)),
        Series("Total cost", "tick", "dollars", _running(_bins(database, cost))),
    ]


def _reward(database: Database, size: int, episodes: int) -> Series:
    if episodes > 1:
        size = max(1, -(-episodes // POINTS))
        query = f"SELECT avg(episode), avg(reward) FROM episodes GROUP BY (episode - 1) / {size}"
        return Series("Reward per episode", "episode", "reward", _bins(database, query))
    query = f"SELECT max(tick), sum(reward) FROM steps GROUP BY (tick - 1) / {size} ORDER BY 1"
    return Series("Total reward", "tick", "reward", _running(_bins(database, query)))


def _bins(database: Database, sql: str) -> list[tuple[float, float]]:
    return [(x, y) for x, y in database.rows(sql) if y is not None]


def _running(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    total = 0.0
    summed = []
    for x, y in points:
        total += y
        summed.append((x, total))
    return summed
