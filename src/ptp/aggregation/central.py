"""The central database: a server that somebody names or a PostgreSQL of our own, its dialect, and its status.

Our own listens on a Unix socket only. It is started by the first who needs it and stopped by the last, who is known by
a lock: a user that is killed leaves no trace but the server, which the next user finds and stops.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import urlsplit

import msgspec

from ptp._util.clock import iso
from ptp.aggregation.postgres import MISSING, Postgres
from ptp.errors import CentralError, UsageError
from ptp.versioning.dialect import Column, Shape, read_shape
from ptp.versioning.schema import Schemas
from ptp.versioning.stamp import read_version

if TYPE_CHECKING:
    import psycopg

CENTRAL_SCHEMAS = Schemas(
    noun="central schema",
    folder=Path(__file__).with_name("sql"),
    versions={
        "1.0": "runs, decisions, battles, what models achieve, and three views over them",
        "1.1": "adds the world and the agent of each run, a roll-up row per run, and indexes on runs",
    },
    unreadable=CentralError,
    unversioned="has no tables yet; make them with `ptp schema migrate --central`",
)

LOCK = 0x707470  # the letters ptp
PATIENCE = "30s"  # that we wait for others to let go of a table
SCRATCH = "ptp_scratch"

_COLUMNS = """
SELECT class.relname, attribute.attname, format_type(attribute.atttypid, attribute.atttypmod), attribute.attnotnull,
       pg_get_expr(given.adbin, given.adrelid), coalesce(array_position(key.conkey, attribute.attnum), 0)
FROM pg_class AS class
JOIN pg_attribute AS attribute ON attribute.attrelid = class.oid AND attnum > 0 AND NOT attisdropped
LEFT JOIN pg_attrdef AS given ON given.adrelid = class.oid AND given.adnum = attribute.attnum
LEFT JOIN pg_constraint AS key ON key.conrelid = class.oid AND key.contype = 'p'
WHERE class.relnamespace = current_schema()::regnamespace AND class.relkind IN ('r', 'p')
ORDER BY class.oid, attribute.attnum
"""

_INDEXES = """
SELECT name.relname, class.relname,
       (SELECT string_agg(pg_get_indexdef(index.indexrelid, place, true), ', ' ORDER BY place)
        FROM generate_series(1, index.indnkeyatts) AS place),
       index.indisunique
FROM pg_index AS index
JOIN pg_class AS name ON name.oid = index.indexrelid
JOIN pg_class AS class ON class.oid = index.indrelid
WHERE class.relnamespace = current_schema()::regnamespace
  AND NOT EXISTS (SELECT 1 FROM pg_constraint WHERE conindid = index.indexrelid)
ORDER BY name.oid
"""

_VIEWS = """
SELECT relname, relkind = 'm', pg_get_viewdef(oid, true) FROM pg_class
WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('v', 'm') ORDER BY oid
"""
VARIABLE = "PTP_DATABASE_URL"
_COUNTS = """
SELECT (SELECT count(*) FROM aggregated_runs), (SELECT count(*) FROM aggregated_decisions),
       (SELECT count(*) FROM aggregated_battles), (SELECT max(imported_at) FROM aggregated_runs)
"""


class PostgreSQL:
    """A central database that is connected to."""

    schemas = CENTRAL_SCHEMAS
    argument = "--central"
    starts_empty = True
    serial_key = "INTEGER GENERATED ALWAYS AS IDENTITY PRIMARY KEY"
    json_type = "JSONB"
    columns_query = _COLUMNS
    indexes_query = _INDEXES
    views_query = _VIEWS

    def __init__(self, connection: psycopg.Connection, where: object) -> None:
        self.connection = connection
        self.name = str(where)

    def rows(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """Run a statement and return the rows it gives."""
        done = self.connection.execute(sql.replace("?", "%s"), values) if values else self.connection.execute(sql)
        return done.fetchall() if done.description else []

    def has_table(self, name: str) -> bool:
        """Whether the schema we work in has such a table."""
        query = "SELECT 1 FROM pg_tables WHERE schemaname = current_schema() AND tablename = ?"
        return bool(self.rows(query, name))

    def shape_of(self, version: str) -> Shape:
        """Return the shape that a version has: it is made beside the database and discarded again."""
        import psycopg

        with self.connection.transaction() as scratch:
            self.connection.execute(f"CREATE SCHEMA {SCRATCH}; SET LOCAL search_path TO {SCRATCH}")
            self.connection.execute(self.schemas.sql(version))
            shape = read_shape(self)
            raise psycopg.Rollback(scratch)
        return shape

    def changing(self) -> AbstractContextManager[None]:
        """Begin a transaction that waits for whoever brings rows in."""
        return changing(self.connection, "pg_advisory_xact_lock")

    def change_column(self, table: str, column: str, facts: Column, create: str) -> str:
        """Return the SQL that makes a column what it should be."""
        change = f"ALTER COLUMN {column}"
        return (
            f"ALTER TABLE {table} {change} DROP DEFAULT, {change} TYPE {facts.type} USING {column}::{facts.type}, "
            f"{change} {'SET' if facts.required else 'DROP'} NOT NULL"
            + (f", {change} SET DEFAULT {facts.default}" if facts.default else "")
            + (f", ADD PRIMARY KEY ({column})" if facts.key else "")
            + ";"
        )


@contextmanager
def changing(connection: psycopg.Connection, lock: str = "pg_advisory_xact_lock_shared") -> Iterator[None]:
    """Begin a transaction; whoever changes the schema waits for those who bring rows, and they for it."""
    with connection.transaction():
        connection.execute(f"SET LOCAL lock_timeout = '{PATIENCE}'")
        connection.execute(f"SELECT {lock}({LOCK})")
        yield


class Central:
    """The central database: a URL, or the folder of a server of our own."""

    def __init__(self, folder: Path, url: str | None = None) -> None:
        self.folder = folder / "central"
        self.url = url or os.environ.get(VARIABLE) or None
        if self.url and not self.url.startswith(("postgresql://", "postgres://")):
            raise UsageError(f"{self.url!r} is not a PostgreSQL URL; write postgresql://user@host/database")

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
                    try:
                        fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    except OSError:
                        pass  # somebody else still uses it
                    else:
                        server.stop()


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
