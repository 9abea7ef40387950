"""The tape of a run: its world, its seed, and every command in order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ptp.errors import RunUnreadable
from ptp.recording import RunDirectory
from ptp.recording.database import Database


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
        self._database = Database(directory.database)
        self.length: int = self._database.row("SELECT count(*) FROM steps")[0]
        if not self.length:
            raise RunUnreadable(f"run {directory.run_id} has no steps; there is nothing to replay")

    def episode_start(self, tick: int) -> int:
        """Return the first tick of the episode that *tick* is in."""
        query = "SELECT tick FROM steps WHERE tick <= ? AND step = 1 ORDER BY tick DESC LIMIT 1"
        for (first,) in self._database.rows(query, tick):
            return int(first)
        raise RunUnreadable(f"the tape has no tick {tick}")

    def steps(self, first: int = 1) -> Iterator[TapeStep]:
        """Return the steps from tick *first* on."""
        query = "SELECT tick, episode, command, reward, state_hash FROM steps WHERE tick >= ? ORDER BY tick"
        return map(TapeStep._make, self._database.rows(query, first))

    def close(self) -> None:
        """Close the database."""
        self._database.close()
