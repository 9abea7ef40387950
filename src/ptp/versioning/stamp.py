"""What a database says of itself: its schema version, and the migrations it went through."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from datetime import UTC, datetime

import msgspec

from ptp._util.clock import iso
from ptp.versioning.dialect import Dialect
from ptp.versioning.schema import Step

MIGRATIONS = """CREATE TABLE IF NOT EXISTS _migrations (
    migration_id {key},
    from_version TEXT NOT NULL,
    to_version TEXT NOT NULL,
    migrated_at TIMESTAMP NOT NULL,
    checksum TEXT NOT NULL,
    row_counts {json} NOT NULL,
    dropped {json} NOT NULL
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


def read_version(db: Dialect) -> str | None:
    """Return the schema version of a database, None when it has no version table."""
    if not db.has_table("_schema_version"):
        return None
    versions = [str(version) for (version,) in db.rows("SELECT version FROM _schema_version")]
    if len(versions) != 1:
        named = ", ".join(versions) or "none"
        raise db.schemas.unreadable(
            f"{db.name} should name one schema version but names {named}; restore it from a copy"
        )
    return versions[0]


def known_version(db: Dialect) -> str:
    """Return the schema version of a database that this ptp can work with."""
    return db.schemas.check_found(read_version(db), db.name)


def write_version(db: Dialect, version: str) -> None:
    """Say that the database has this schema version now."""
    if not db.has_table("_schema_version"):
        db.rows(db.schemas.creations(version)["_schema_version"])
        db.rows("INSERT INTO _schema_version (version) VALUES (?)", version)
    db.rows("UPDATE _schema_version SET version = ?", version)


def record_step(db: Dialect, step: Step, rows: dict[str, int], dropped: Sequence[Loss]) -> None:
    """Keep in the database that a step was taken."""
    db.rows(MIGRATIONS.format(key=db.serial_key, json=db.json_type))
    db.rows(
        "INSERT INTO _migrations (from_version, to_version, migrated_at, checksum, row_counts, dropped) "
        "VALUES (?, ?, ?, ?, ?, ?)",
        step.start, step.goal, iso(time.time()), db.schemas.checksum(step), json.dumps(rows),
        msgspec.json.encode(dropped).decode(),
    )  # fmt: skip


def read_history(db: Dialect) -> list[Migration]:
    """Return the migrations of a database, oldest first."""
    if not db.has_table("_migrations"):
        return []
    query = (
        "SELECT from_version, to_version, CAST(migrated_at AS TEXT), checksum, CAST(row_counts AS TEXT), "
        "CAST(dropped AS TEXT) FROM _migrations ORDER BY migration_id"
    )
    history = []
    for start, goal, at, checksum, counts, dropped in db.rows(query):
        try:
            when = iso(datetime.fromisoformat(at).replace(tzinfo=UTC).timestamp())
            losses = msgspec.json.decode(dropped, type=list[Loss])
            history.append(Migration(start, goal, when, checksum, json.loads(counts), losses))
        except (ValueError, TypeError, msgspec.MsgspecError) as problem:
            raise db.schemas.unreadable(f"{db.name} has a migration that can't be read: {problem}") from None
    return history
