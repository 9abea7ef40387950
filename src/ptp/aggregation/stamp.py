"""What the central database says of itself: its schema version, and the migrations it went through."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import msgspec

from ptp._util.clock import iso
from ptp.errors import CentralError
from ptp.versioning.central import checksum_of
from ptp.versioning.stamp import Loss, Migration

if TYPE_CHECKING:
    import psycopg

    from ptp.versioning.paths import Step

MIGRATIONS = """CREATE TABLE IF NOT EXISTS _migrations (
    migration_id INTEGER GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    from_version TEXT NOT NULL,
    to_version TEXT NOT NULL,
    migrated_at TIMESTAMP NOT NULL,
    checksum TEXT NOT NULL,
    row_counts JSONB NOT NULL,
    dropped JSONB NOT NULL
)"""


def has_table(connection: psycopg.Connection, name: str) -> bool:
    """Whether the schema we work in has a table of that name."""
    query = "SELECT 1 FROM pg_tables WHERE schemaname = current_schema() AND tablename = %s"
    return connection.execute(query, (name,)).fetchone() is not None


def read_version(connection: psycopg.Connection, where: object) -> str | None:
    """Return the schema version of a central database, None when it has no tables of ours yet."""
    if not has_table(connection, "_schema_version"):
        return None
    versions = [str(version) for (version,) in connection.execute("SELECT version FROM _schema_version")]
    if len(versions) != 1:
        told = ", ".join(versions) or "none"
        raise CentralError(f"{where} should name one schema version but names {told}; restore it from a copy")
    return versions[0]


def write_version(connection: psycopg.Connection, version: str) -> None:
    """Say that the database has this schema version now."""
    connection.execute("UPDATE _schema_version SET version = %s", (version,))


def record_step(connection: psycopg.Connection, step: Step, rows: dict[str, int], dropped: Sequence[Loss]) -> None:
    """Keep in the database that a step was taken."""
    connection.execute(MIGRATIONS)
    connection.execute(
        "INSERT INTO _migrations (from_version, to_version, migrated_at, checksum, row_counts, dropped) "
        "VALUES (%s, %s, %s, %s, %s, %s)",
        (step.start, step.goal, datetime.fromtimestamp(time.time(), UTC).replace(tzinfo=None), checksum_of(step),
         json.dumps(rows), msgspec.json.encode(dropped).decode()),
    )  # fmt: skip


def read_history(connection: psycopg.Connection) -> list[Migration]:
    """Return the migrations of a central database, oldest first."""
    if not has_table(connection, "_migrations"):
        return []
    query = "SELECT from_version, to_version, migrated_at, checksum, row_counts, dropped FROM _migrations"
    return [_migration(*row) for row in connection.execute(f"{query} ORDER BY migration_id")]


def _migration(start: str, goal: str, at: datetime, checksum: str, rows: dict[str, int], dropped: Any) -> Migration:
    stamp = iso(at.replace(tzinfo=UTC).timestamp())
    return Migration(start, goal, stamp, checksum, rows, msgspec.convert(dropped, list[Loss]))
