"""The tape of a run: its world, its seed, and every command in order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from ptp.errors import RunUnreadable
from ptp.recording import RunDirectory
from ptp.recording.database import open_database


class TapeStep(NamedTuple):
    """One command and what came of it."""

    tick: int
    episode: int
    command: str
    reward: float | None
    state_hash: str


class Tape:
    """A run's tape, read from its database."""

    def __init__(self, directory: RunDirectory) -> None:
        self.metadata = directory.read_metadata()
        self._connection = open_database(directory.database)
        rows: list[Any] = self._connection.execute("SELECT count(*) FROM steps").fetchall()
        self.length: int = rows[0][0]
        if not self.length:
            raise RunUnreadable(f"run {directory.run_id} has no steps; there is nothing to replay")

    def episode_start(self, tick: int) -> int:
        """Return the first tick of the episode that *tick* is in."""
        query = "SELECT tick FROM steps WHERE tick <= ? AND step = 1 ORDER BY tick DESC LIMIT 1"
        found: list[Any] = self._connection.execute(query, (tick,)).fetchall()
        if not found:
            raise RunUnreadable(f"the tape has no tick {tick}")
        first: int = found[0][0]
        return first

    def steps(self, first: int = 1) -> Iterator[TapeStep]:
        """Return the steps from tick *first* on."""
        query = "SELECT tick, episode, command, reward, state_hash FROM steps WHERE tick >= ? ORDER BY tick"
        return map(TapeStep._make, self._connection.execute(query, (first,)))

    def close(self) -> None:
        """Close the database."""
        self._connection.close()
