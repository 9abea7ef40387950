"""Where the central database is, a server that somebody names or a PostgreSQL of our own, and how it stands.

Our own listens on a Unix socket only. It is started by the first who needs it and stopped by the last, who is known by
a lock: a user that is killed leaves no trace but the server, which the next user finds and stops.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC
from pathlib import Path
from typing import IO, TYPE_CHECKING
from urllib.parse import urlsplit

import msgspec

from ptp._util.clock import iso
from ptp.aggregation.dialect import PostgreSQL
from ptp.aggregation.postgres import MISSING, Postgres
from ptp.errors import CentralError, UsageError
from ptp.versioning.stamp import read_version

if TYPE_CHECKING:
    import psycopg

VARIABLE = "PTP_DATABASE_URL"
_COUNTS = """
SELECT (SELECT count(*) FROM aggregated_runs), (SELECT count(*) FROM aggregated_decisions),
       (SELECT count(*) FROM aggregated_battles), (SELECT max(imported_at) FROM aggregated_runs)
"""


class Central:
    """The central database: a URL, or the folder of a server of our own."""

    def __init__(self, folder: Path, url: str | None = None) -> None:
        self.folder = folder / "central"
        self.url = url or os.environ.get(VARIABLE) or None
        if self.url and not self.url.startswith(("postgresql://", "postgres://")):
            raise UsageError(f"{self.url!r} is no PostgreSQL; write postgresql://user@host/database")

    def exists(self) -> bool:
        """Whether somebody has named a server, or has ever used our own."""
        return self.url is not None or (self.folder / "pgdata").exists()

    def __str__(self) -> str:
        if self.url is None:
            return str(self.folder)
        parts = urlsplit(self.url)
        return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="").geturl()  # both may hold passwords

    @contextmanager
    def connected(self, *, make: bool = False) -> Iterator[psycopg.Connection]:
        """Connect; our own server is started when it has to be, and with *make* made too."""
        if not make and not self.exists():
            raise CentralError(f"there is no central database in {self} yet; make it with `ptp db ingest`")
        try:
            import psycopg
        except ImportError:
            raise CentralError(MISSING.format("psycopg")) from None
        with self._served() as address:
            try:
                with psycopg.connect(address, autocommit=True, connect_timeout=10) as connection:
                    connection.execute("SET timezone TO 'UTC'")
                    yield connection
            except psycopg.errors.LockNotAvailable:
                raise CentralError(f"{self} is used by another program; wait for it and try again") from None
            except psycopg.OperationalError as problem:
                raise CentralError(f"{self} can't be reached: {_first_line(problem)}; see `ptp db status`") from None
            except psycopg.Error as problem:
                remedy = "it stays as it is; see `ptp drift schema --central`"
                raise CentralError(f"{self}: {_first_line(problem)}; {remedy}") from None

    @contextmanager
    def opened(self, *, make: bool = False) -> Iterator[PostgreSQL]:
        """Connect, and offer what migrations and their checks need."""
        with self.connected(make=make) as connection:
            yield PostgreSQL(connection, self)

    @contextmanager
    def _served(self) -> Iterator[str]:
        if self.url is not None:
            yield self.url
            return
        server = Postgres(self.folder)
        with _opened(self.folder, "users.lock") as users:
            with _opened(self.folder, "start.lock") as starting:
                fcntl.flock(starting, fcntl.LOCK_EX)
                server.start()
                fcntl.flock(users, fcntl.LOCK_SH)
            try:
                yield server.address
            finally:
                with _opened(self.folder, "start.lock") as stopping:
                    fcntl.flock(stopping, fcntl.LOCK_EX)
                    if _is_last(users):
                        server.stop()


def _is_last(users: IO[bytes]) -> bool:
    try:
        fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _opened(folder: Path, name: str) -> IO[bytes]:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
        return open(folder / name, "rb")
    except OSError as problem:
        remedy = "choose another folder with --data-dir, or name a server with --database-url"
        raise CentralError(f"can't write to {folder}: {problem.strerror}; {remedy}") from None


def _first_line(problem: Exception) -> str:
    return (str(problem).splitlines() or [type(problem).__name__])[0].rstrip(".")


class CentralStatus(msgspec.Struct, frozen=True):
    """Where it is, and what is in it; counts are None before it has tables."""

    database: str
    server: str
    version: str | None
    size_bytes: int
    runs: int | None = None
    decisions: int | None = None
    battles: int | None = None
    last_import: str | None = None


def read_status(connection: psycopg.Connection, where: object) -> CentralStatus:
    """Look at a central database."""
    version = read_version(PostgreSQL(connection, where))
    facts = connection.execute("SELECT current_setting('server_version'), pg_database_size(current_database())")
    server, size = facts.fetchone() or ("unknown", 0)
    if version is None:
        return CentralStatus(str(where), server, None, size)
    runs, decisions, battles, last = connection.execute(_COUNTS).fetchone() or (None,) * 4
    told = None if last is None else iso(last.replace(tzinfo=UTC).timestamp())
    return CentralStatus(str(where), server, version, size, runs, decisions, battles, told)
