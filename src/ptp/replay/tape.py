"""The tape of a run: its world, its seed, and every command in order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ptp.errors import RunUnreadable
from ptp.recording import RunDirectory
from ptp.recording.database import Database
from ptp.snapshots import SnapshotHeader


class TapeStep(NamedTuple):
    """One command and what came of it."""

    tick: int
    episode: int
    command: str
    reward: float | None
    state_hash: str
    decided: bool
    """Whether the agent was asked before this command."""


_COLUMNS = """tick, episode, command, reward, state_hash, EXISTS (
    SELECT 1 FROM action_history a WHERE a.tick = steps.tick - 1 AND a.execution_status IS NOT 'rolled_back')"""


class Tape:
    """A run's tape, read from its database."""

    def __init__(self, directory: RunDirectory) -> None:
        self.metadata = directory.read_metadata()
        self.world = directory.resolve(self.metadata.world)
        self._database = Database(directory.database)
        self.schema = self._database.version
        self.length: int = self._database.row("SELECT count(*) FROM steps")[0]

    def episode_start(self, tick: int) -> int:
        """Return the first tick of the episode that *tick* is in."""
        query = "SELECT tick FROM steps WHERE tick <= ? AND step = 1 ORDER BY tick DESC LIMIT 1"
        for (first,) in self._database.rows(query, tick):
            return int(first)
        raise RunUnreadable(f"the tape has no tick {tick}")

    def steps(self, first: int = 1) -> Iterator[TapeStep]:
        """Return the steps from tick *first* on."""
        query = f"SELECT {_COLUMNS} FROM steps WHERE tick >= ? ORDER BY tick"
        return map(TapeStep._make, self._database.rows(query, first))

    def spending(self) -> tuple[float, int, float]:
        """Return what the run has spent: dollars, decisions, seconds."""
        cost, newest = self._database.row("SELECT coalesce(sum(api_cost), 0), max(decision_id) FROM action_history")
        (elapsed,) = self._database.row("SELECT coalesce(max(elapsed), 0) FROM steps")
        return cost, 0 if newest is None else int(newest[24:36], 16) + 1, elapsed

    def is_current(self, header: SnapshotHeader) -> bool:
        """Whether a snapshot lies on the tape as it is now, and not in a future that was given up."""
        query = "SELECT count(*) FROM rewinds WHERE rewind > ? AND to_tick < ?"
        (given_up,) = self._database.row(query, header.rewinds, header.tick)
        return not given_up and header.tick <= self.length

    def close(self) -> None:
        """Close the database."""
        self._database.close()
