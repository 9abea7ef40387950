"""Old episodes of learners made small: statistics are merged, and steps that taught little are removed.

The tape is not touched: a run replays, resumes and forks as before.
"""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import Any

import msgspec

from ptp._util.files import write_atomic
from ptp.errors import PtpError, RecordingError
from ptp.frames.profiles import built_in_profiles
from ptp.recording import RunDirectory
from ptp.recording.database import Database
from ptp.recording.maintenance import changing
from ptp.recording.packed import is_packed

ROLLUP = "episode_rollup.json"
TRANSITIONS = "transitions.parquet"
BLOCK = 100  # episodes whose statistics are merged
LEAST_ERROR = 0.01
NEWEST = 500  # episodes that are left as they are

# Key events stay: what ended an episode, was rewarded unlike the step before, or was a first try.
_DULL = """tick IN (SELECT tick FROM (
    SELECT tick, episode, td_error, terminated, visits, reward, lag(reward) OVER (ORDER BY tick) AS before
    FROM transitions)
    WHERE episode <= ? AND abs(td_error) < ? AND NOT terminated AND visits != 1 AND reward IS before)"""
_MERGED = """SELECT min(episode), max(episode), count(*), sum(steps), avg(reward), min(reward), max(reward),
    avg(td_error), avg(convergence), min(epsilon) FROM learning
    WHERE episode <= ? GROUP BY (episode - 1) / ? ORDER BY 1"""


class Merged(msgspec.Struct, frozen=True):
    """What some episodes in a row came to."""

    first_episode: int
    last_episode: int
    episodes: int
    steps: int
    mean_reward: float
    least_reward: float
    most_reward: float
    td_error: float
    convergence: float
    epsilon: float


class RolledEpisodes(msgspec.Struct):
    """What a roll-up did to a run."""

    run_id: str
    episodes: int
    """Episodes whose statistics were merged."""
    removed: int
    """Transitions that were removed."""
    kept: int


class EpisodeRollupJob(msgspec.Struct, frozen=True):
    """Merges the statistics of old episodes, and removes their transitions with a small error but for key events."""

    least_error: float = LEAST_ERROR
    newest: int = NEWEST
    """Episodes that are left as they are."""

    def plan(self, directory: RunDirectory) -> RolledEpisodes:
        """Return what it would do."""
        with Database(directory.database) as database:
            last = self._last(database)
            (episodes,) = database.row("SELECT count(*) FROM learning WHERE episode <= ?", last)
            (removed,) = database.row(f"SELECT count(*) FROM transitions WHERE {_DULL}", last, self.least_error)
            (there,) = database.row("SELECT count(*) FROM transitions")
        return RolledEpisodes(directory.run_id, episodes, removed, there - removed)

    def run(self, directory: RunDirectory) -> RolledEpisodes:
        """Roll up the old episodes of a run that has ended; who calls it owns the run."""
        done = self.plan(directory)
        if not done.episodes:
            return done
        with Database(directory.database) as database:
            last = self._last(database)
            merged = [Merged(*row) for row in database.rows(_MERGED, last, BLOCK)]
        profile = built_in_profiles().get(directory.read_metadata().facts.storage_profile)
        (directory.path / "episodes").mkdir(exist_ok=True)
        if profile is not None and profile.episode_rollup_policy == "parquet":
            _write_transitions(directory)
        write_atomic(directory.path / "episodes" / ROLLUP, msgspec.json.encode({"episodes": merged}) + b"\n")
        with changing(directory, "pruned") as connection:
            connection.execute(f"DELETE FROM transitions WHERE {_DULL}", (last, self.least_error))
        return done

    def _last(self, database: Database) -> int:
        (newest,) = database.row("SELECT coalesce(max(episode), 0) FROM learning")
        return max(0, int(newest) - self.newest)


def _write_transitions(directory: RunDirectory) -> None:
    """Keep all transitions as Parquet before some are removed; an older file has more, and stays."""
    path = directory.path / "episodes" / TRANSITIONS
    if path.exists():
        return
    try:
        import polars
    except ImportError:
        raise RecordingError("Parquet needs polars; install it with `pip install polars`") from None
    names = (
        "tick",
        "episode",
        "state",
        "action",
        "reward",
        "next_state",
        "terminated",
        "td_error",
        "q_delta",
        "visits",
    )
    with Database(directory.database) as database:
        rows: Any = list(database.rows(f"SELECT {', '.join(names)} FROM transitions ORDER BY tick"))
    table = BytesIO()
    polars.DataFrame(rows, schema=list(names), orient="row").write_parquet(table, compression="zstd")
    write_atomic(path, table.getvalue())


def prune_bdi_rollups(
    paths: list[Path], job: EpisodeRollupJob, *, dry_run: bool = False
) -> tuple[list[RolledEpisodes], list[str]]:
    """Roll up the episodes of learners; return what was done, and what was not and why."""
    done: list[RolledEpisodes] = []
    failed: list[str] = []
    for directory in map(RunDirectory, paths):
        try:
            if is_packed(directory.database):
                continue
            with directory.owned():
                rolled = job.plan(directory) if dry_run else job.run(directory)
        except PtpError as problem:
            failed.append(f"{directory.run_id}: {problem}")
        else:
            done += [rolled] if rolled.episodes else []
    return done, failed
