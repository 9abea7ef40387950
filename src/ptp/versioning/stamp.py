"""What a database says of itself: its schema version, and the migrations it went through."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Sequence

import apsw
import msgspec

from ptp._util.clock import iso
from ptp.errors import RunUnreadable
from ptp.versioning.paths import Step
from ptp.versioning.schema import NO_VERSION, schema_sql, statements, step_sql

MIGRATIONS = """CREATE TABLE IF NOT EXISTS _migrations (
    migration_id INTEGER PRIMARY KEY,
    from_version TEXT NOT NULL,
    to_version TEXT NOT NULL,
    migrated_at TIMESTAMP NOT NULL,
    checksum TEXT NOT NULL,
    row_counts TEXT NOT NULL,
    dropped TEXT NOT NULL
)"""


class Loss(msgspec.Struct, frozen=True):
    """What an older schema can't hold."""

    table: str
    column: str | None
    rows: int

    def __str__(self) -> str:
        if self.column is None:
            return f"table {self.table} ({self.rows:,} rows)"
        return f"column {self.table}.{self.column} ({self.rows:,} values)"


class Migration(msgspec.Struct, frozen=True):
    """One step that a database went through."""

    from_version: str
    to_version: str
    migrated_at: str
    checksum: str
    row_counts: dict[str, int]
    dropped: list[Loss]


def has_table(connection: apsw.Connection, name: str) -> bool:
    """Whether the database itself has a table of that name."""
    query = "SELECT 1 FROM main.sqlite_schema WHERE type = 'table' AND lower(name) = ?"
    return connection.execute(query, (name,)).get is not None


def read_version(connection: apsw.Connection, where: object) -> str:
    """Return the schema version of a database, 0.0 when it has no version table."""
    if not has_table(connection, "_schema_version"):
        return NO_VERSION
    versions = [str(version) for (version,) in connection.execute("SELECT version FROM main._schema_version")]
    if len(versions) != 1:
        told = ", ".join(versions) or "none"
        raise RunUnreadable(f"{where} should name one schema version but names {told}; restore it from a copy")
    return versions[0]


def write_version(connection: apsw.Connection, version: str) -> None:
    """Say that the database has this schema version now."""
    if not has_table(connection, "_schema_version"):
        create = next(text for text in statements(schema_sql()) if "CREATE TABLE _schema_version" in text)
        connection.execute(create)
        connection.execute("INSERT INTO _schema_version (version) VALUES (?)", (version,))
    connection.execute("UPDATE _schema_version SET version = ?", (version,))


def checksum_of(step: Step) -> str:
    """Return the SHA-256 of a step's SQL."""
    return hashlib.sha256(step_sql(step).encode()).hexdigest()


def record_step(connection: apsw.Connection, step: Step, rows: dict[str, int], dropped: Sequence[Loss]) -> None:
    """Keep in the database that a step was taken."""
    connection.execute(MIGRATIONS)
    connection.execute(
        "INSERT INTO _migrations (from_version, to_version, migrated_at, checksum, row_counts, dropped) "
        "VALUES (?, ?, ?, ?, ?, ?)",
        (step.start, step.goal, iso(time.time()), checksum_of(step), json.dumps(rows),
         msgspec.json.encode(dropped).decode()),
    )  # fmt: skip


def read_history(connection: apsw.Connection) -> list[Migration]:
    """Return the migrations of a database, oldest first."""
    if not has_table(connection, "_migrations"):
        return []
    query = "SELECT from_version, to_version, migrated_at, checksum, row_counts, dropped FROM main._migrations"
    return [
        Migration(start, goal, at, checksum, json.loads(counts), msgspec.json.decode(dropped, type=list[Loss]))
        for start, goal, at, checksum, counts, dropped in connection.execute(f"{query} ORDER BY migration_id")
    ]
