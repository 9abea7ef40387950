"""PostgreSQL, as the central database is kept in; nothing here imports psycopg before it is used."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ptp.errors import CentralError
from ptp.versioning.dialect import Column, Shape, read_shape
from ptp.versioning.schema import Schemas

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
