"""A run in figures and in its own words, read from its database."""

from __future__ import annotations

import msgspec

from ptp.recording.database import Database
from ptp.recording.directory import RunDirectory
from ptp.records import Metadata
from ptp.worlds.knowledge import Knowledge, knowledge_of

POINTS = 300  # at most this many points per plot
PICTURES = 8  # at most this many pictures
NEAR = 20  # ticks that the picture of a moment may be earlier or later


class Series(msgspec.Struct):
    """One line of a plot."""

    title: str
    x: str
    y: str
    points: list[tuple[float, float]]
    steps: bool = False
    """Whether the value stays the same from one point to the next."""


class Moment(msgspec.Struct):
    """Something worth telling."""

    tick: int
    title: str


class Chapter(msgspec.Struct):
    """Moments of one kind, in the order in which they happened."""

    title: str
    moments: list[Moment]


class Picture(msgspec.Struct):
    """A kept picture of a moment."""

    tick: int
    title: str
    path: str
    """Relative to the run directory."""


class Episode(msgspec.Struct):
    """A whole episode."""

    episode: int
    reward: float
    steps: int
    last_tick: int


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
    best_episode: Episode | None
    last_episode: Episode | None
    has_reward: bool
    """Whether any step had one; many games know none."""
    game: dict[str, float]
    """What the world can count, by title: badges, catches, battles."""
    story: list[Chapter]
    pictures: list[Picture]
    errors: list[str]
    plots: list[Series]


def make_report(directory: RunDirectory) -> Report:
    """Read a run's figures from its database."""
    metadata = directory.read_metadata()
    knowledge = knowledge_of(metadata.facts.family)
    with Database(directory.database) as database:
        (steps,) = database.row("SELECT count(*) FROM steps")
        (episodes,) = database.row("SELECT count(*) FROM episodes")
        (has_reward,) = database.row("SELECT EXISTS (SELECT 1 FROM steps WHERE reward <> 0)")
        decisions, tokens, cost = database.row("SELECT count(*), sum(tokens_used), sum(api_cost) FROM action_history")
        statuses = "SELECT execution_status, count(*) FROM action_history GROUP BY 1 ORDER BY 1"
        errors = "SELECT error_type, error_message FROM errors ORDER BY timestamp LIMIT 20"
        story = _story(database, knowledge, episodes if has_reward else 0)
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
            best_episode=_episode(database, "reward DESC, episode"),
            last_episode=_episode(database, "episode DESC"),
            has_reward=bool(has_reward),
            game=_game(database, metadata, knowledge),
            story=story,
            pictures=_pictures(database, story, steps),
            errors=[f"{kind}: {message}" for kind, message in database.rows(errors)],
            plots=_plots(database, knowledge, steps, episodes, has_reward),
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


def _episode(database: Database, order: str) -> Episode | None:
    query = f"SELECT episode, reward, steps, last_tick FROM episodes WHERE reward IS NOT NULL ORDER BY {order} LIMIT 1"
    return next((Episode(*row) for row in database.rows(query)), None)


# -- the story ---------------------------------------------------------------------------------------------------


def _game(database: Database, metadata: Metadata, knowledge: Knowledge) -> dict[str, float]:
    titles = {gauge.name: gauge.title for gauge in metadata.facts.gauges}
    found = {titles.get(name, name): value for name, value in metadata.signals.items()}
    for name, sql in knowledge.tallies.items() if metadata.facts.signals else ():
        found[name.replace("_", " ").capitalize()] = database.row(sql)[0]
    return found


def _story(database: Database, knowledge: Knowledge, episodes: int) -> list[Chapter]:
    chapters = {title: _moments(database, sql) for title, sql in knowledge.chapters.items()}
    if episodes > 1:
        chapters["Best so far"] = _moments(database, _RECORDS)
    return [Chapter(title, moments) for title, moments in chapters.items() if moments]


_RECORDS = """SELECT last_tick, printf('episode %d: %g in %d steps', episode, reward, steps) FROM (
    SELECT *, max(reward) OVER (ORDER BY episode ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS best
    FROM episodes)
    WHERE best IS NULL OR reward > best ORDER BY episode"""


def _moments(database: Database, sql: str) -> list[Moment]:
    typed = "SELECT CAST(tick AS INTEGER), CAST(title AS TEXT) FROM found WHERE title IS NOT NULL"
    return [Moment(tick or 0, title) for tick, title in database.rows(f"WITH found(tick, title) AS ({sql}) {typed}")]


def _pictures(database: Database, story: list[Chapter], steps: int) -> list[Picture]:
    """Return a few pictures: of the first moments that have one, chapter by chapter, or else at even distances."""
    wanted = [moment for chapter in story for moment in chapter.moments]
    near = NEAR if wanted else steps
    found: dict[str, Picture] = {}
    query = """SELECT tick, file_path FROM screenshots WHERE tick BETWEEN ?1 - ?2 AND ?1 + ?2
               AND file_path NOT LIKE '%#%' ORDER BY iif(tick <= ?1, ?1 - tick, 5 * (tick - ?1)) LIMIT 1"""
    for moment in wanted or [Moment(round(steps * part / PICTURES), "") for part in range(1, PICTURES + 1)]:
        for tick, path in database.rows(query, moment.tick, near):
            found.setdefault(path, Picture(tick, moment.title, path))
        if len(found) == PICTURES:
            break
    return sorted(found.values(), key=lambda picture: picture.tick)


# -- plots -------------------------------------------------------------------------------------------------------


def _plots(database: Database, knowledge: Knowledge, steps: int, episodes: int, has_reward: bool) -> list[Series]:
    """Return the plots that show something."""
    size = max(1, -(-steps // POINTS))
    latency = f"SELECT max(tick), avg(decision_latency_ms) FROM action_history GROUP BY tick / {size} ORDER BY 1"
    cost = f"SELECT max(tick), sum(api_cost) FROM action_history GROUP BY tick / {size} ORDER BY 1"
    found = [_reward(database, size, episodes)] if has_reward else []
    for title, (unit, sql) in knowledge.curves.items():
        points = _thinned(_bins(database, sql))
        if points:
            found.append(Series(title, "tick", unit, [*points, (float(steps), points[-1][1])], steps=True))
    found.append(Series("Decision latency", "tick", "milliseconds", _bins(database, latency)))
    spent = _running(_bins(database, cost))
    if spent and spent[-1][1]:
        found.append(Series("Total cost", "tick", "dollars", spent))
    return [series for series in found if series.points]


def _thinned(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    return points[:: max(1, -(-len(points) // POINTS))]


def _reward(database: Database, size: int, episodes: int) -> Series:
    if episodes > 1:
        size = max(1, -(-episodes // POINTS))
        query = f"SELECT avg(episode), avg(reward) FROM episodes GROUP BY (episode - 1) / {size}"
        return Series("Return of each episode", "episode", "return", _bins(database, query))
    query = f"SELECT max(tick), sum(reward) FROM steps GROUP BY (tick - 1) / {size} ORDER BY 1"
    return Series("Total reward", "tick", "reward", _running(_bins(database, query)))


def _bins(database: Database, sql: str) -> list[tuple[float, float]]:
    typed = "SELECT CAST(x AS REAL), CAST(y AS REAL) FROM found WHERE x IS NOT NULL AND y IS NOT NULL"
    return [(x, y) for x, y in database.rows(f"WITH found(x, y) AS ({sql}) {typed}")]


def _running(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    total = 0.0
    summed = []
    for x, y in points:
        total += y
        summed.append((x, total))
    return summed
