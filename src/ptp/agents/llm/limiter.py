"""How often models are called and what may be spent: one limit for all runs of a data directory, in order of asking.

Every process waits in one queue, kept in an SQLite file; a process that died leaves it.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from ptp._util.clock import Clock
from ptp.errors import AgentError

WINDOW = 60.0
HOUR = 3600.0
SHORT = 60.0  # seconds that are simply waited; what takes longer is queued, and said
SCHEMA = """
CREATE TABLE IF NOT EXISTS queue (ticket INTEGER PRIMARY KEY AUTOINCREMENT, account TEXT NOT NULL, process INTEGER);
CREATE TABLE IF NOT EXISTS calls (account TEXT NOT NULL, at REAL NOT NULL, ticket INTEGER NOT NULL, cost REAL);
CREATE INDEX IF NOT EXISTS calls_by_time ON calls(account, at);
CREATE TABLE IF NOT EXISTS accounts (account TEXT PRIMARY KEY, remaining INTEGER, resets_at REAL);
"""


class Waited(NamedTuple):
    """How a call came to its turn."""

    seconds: float
    queued: bool
    """Whether it had to wait for longer than a minute."""


class Limiter:
    """The turn of calls to one account."""

    def __init__(
        self, folder: Path, account: str, per_minute: int, dollars_per_hour: float | None = None,
        clock: Clock | None = None,
    ) -> None:  # fmt: skip
        self._path = folder / "limits.sqlite"
        self._account = account
        self._per_minute = per_minute
        self._dollars = dollars_per_hour
        self._clock = clock or Clock()
        folder.mkdir(parents=True, exist_ok=True)
        with self._open() as database:
            database.execute("BEGIN IMMEDIATE")  # many may begin at once: each waits for the others
            for statement in filter(str.strip, SCHEMA.split(";")):
                database.execute(statement)
            database.execute("COMMIT")

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        database = sqlite3.connect(self._path, timeout=60, isolation_level=None)
        database.execute("PRAGMA synchronous = OFF")  # after a power cut the limits begin anew
        try:
            yield database
        finally:
            database.close()

    def acquire(self, given_up: Callable[[], bool] = lambda: False) -> Waited:
        """Wait for the turn of one call, and count it."""
        began = self._clock.time()
        queued = False
        with self._open() as database:
            ticket = database.execute(
                "INSERT INTO queue (account, process) VALUES (?, ?)", (self._account, os.getpid())
            ).lastrowid
            assert ticket is not None
            try:
                while (wait := self._try(database, ticket)) is not None:
                    if given_up():
                        raise AgentError("the run has ended before its call came to its turn")
                    queued = queued or wait > SHORT
                    self._clock.sleep(min(wait, 1.0))
            finally:
                database.execute("DELETE FROM queue WHERE ticket = ?", (ticket,))
        return Waited(self._clock.time() - began, queued)

    def _try(self, database: sqlite3.Connection, ticket: int) -> float | None:
        """Take the turn and return None, or return how long to wait before looking again."""
        database.execute("BEGIN IMMEDIATE")
        try:
            before = self._before(database, ticket)
            wait = 0.01 * before if before else self._wait(database)
            if wait <= 0:
                turn = (self._account, self._clock.time(), ticket)
                database.execute("INSERT INTO calls VALUES (?, ?, ?, NULL)", turn)
                database.execute(
                    "UPDATE accounts SET remaining = remaining - 1 WHERE account = ? AND remaining > 0",
                    (self._account,),
                )
                database.execute("DELETE FROM queue WHERE ticket = ?", (ticket,))
        finally:
            database.execute("COMMIT")
        return wait if wait > 0 else None

    def _before(self, database: sqlite3.Connection, ticket: int) -> int:
        """Return how many wait before a ticket; those of processes that died are removed."""
        query = "SELECT DISTINCT process FROM queue WHERE account = ? AND ticket < ?"
        for (process,) in database.execute(query, (self._account, ticket)).fetchall():
            if not _lives(process):
                database.execute("DELETE FROM queue WHERE process = ?", (process,))
        count = "SELECT count(*) FROM queue WHERE account = ? AND ticket < ?"
        return int(database.execute(count, (self._account, ticket)).fetchone()[0])

    def _wait(self, database: sqlite3.Connection) -> float:
        """Return how long the first in the queue has to wait for the limits; 0 for not at all."""
        now = self._clock.time()
        database.execute("DELETE FROM calls WHERE account = ? AND at <= ?", (self._account, now - HOUR))
        turns = "SELECT at FROM calls WHERE account = ? AND at > ? ORDER BY at DESC LIMIT 1 OFFSET ?"
        full = database.execute(turns, (self._account, now - WINDOW, self._per_minute - 1)).fetchone()
        waits = [0.0 if full is None else full[0] + WINDOW - now]
        allowed = "SELECT remaining, resets_at FROM accounts WHERE account = ?"
        for remaining, resets_at in database.execute(allowed, (self._account,)):
            if remaining == 0 and resets_at is not None:
                waits.append(resets_at - now)
        if self._dollars is not None:
            waits.append(self._until_affordable(database, now))
        return max(waits)

    def _until_affordable(self, database: sqlite3.Connection, now: float) -> float:
        query = "SELECT at, cost FROM calls WHERE account = ? AND cost IS NOT NULL ORDER BY at DESC"
        assert self._dollars is not None
        spent = 0.0
        for at, cost in database.execute(query, (self._account,)):
            spent += cost
            if spent >= self._dollars:
                return float(at) + HOUR - now
        return 0.0

    def heard(self, remaining: int | None, resets_at: float | None, cost: float | None) -> None:
        """Note what the provider still allows, and what the last call cost."""
        with self._open() as database:
            if remaining is not None:
                row = (self._account, remaining, resets_at)
                database.execute("INSERT OR REPLACE INTO accounts VALUES (?, ?, ?)", row)
            if cost is not None:
                database.execute(
                    "UPDATE calls SET cost = coalesce(cost, 0) + ? WHERE rowid = "
                    "(SELECT rowid FROM calls WHERE account = ? ORDER BY at DESC LIMIT 1)",
                    (cost, self._account),
                )


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
