"""Changing what is kept of a run that has ended, so that its seal still holds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import apsw

from ptp.errors import RecordingError, RunUnreadable
from ptp.recording.database import Database, check_own
from ptp.recording.directory import RunDirectory
from ptp.recording.seal import Seal, Why
from ptp.recording.unseal import check_seal


@contextmanager
def changing(directory: RunDirectory, reason: Why) -> Iterator[apsw.Connection]:
    """Change the database of a run that has ended, in one transaction; a sealed run gets one more link."""
    try:
        connection = apsw.Connection(str(directory.database), flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            check_own(connection, directory.database)
            seal = Seal(connection) if _is_sealed(connection) else None
            with seal.change(reason, _last_tick(connection)) if seal is not None else connection:
                yield connection
        finally:
            connection.close()
    except apsw.Error as problem:
        raise RunUnreadable(f"{directory.database} is damaged ({problem}); it is left as it is") from None
    if seal is not None:
        _write_head(directory, seal.head)


def seal_migrated(directory: RunDirectory, note: Any) -> None:
    """Seal a run anew that has another schema now; without one that can hold a seal it has none."""
    connection = apsw.Connection(str(directory.database), flags=apsw.SQLITE_OPEN_READWRITE)
    head = None
    try:
        if _has_seals(connection):
            seal = Seal(connection)
            with seal.change("migrated", _last_tick(connection), note):
                seal.everything()
            head = seal.head
    finally:
        connection.close()
    _write_head(directory, head)


def check_before_migration(directory: RunDirectory) -> str | None:
    """Return the head of a run's seal; what is not as it was recorded must not be sealed anew."""
    with Database(directory.database) as database:
        checked = check_seal(database)
    if checked.faults:
        raise RecordingError(f"{directory.path} is not what was recorded: {checked.faults[0]}; see `ptp verify`")
    return checked.head


def _has_seals(connection: apsw.Connection) -> bool:
    found: list[Any] = connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'seals'").fetchall()
    return bool(found)


def _is_sealed(connection: apsw.Connection) -> bool:
    return _has_seals(connection) and bool(connection.execute("SELECT 1 FROM seals LIMIT 1").fetchall())


def _last_tick(connection: apsw.Connection) -> int:
    rows: list[Any] = connection.execute("SELECT coalesce(max(tick), 0) FROM steps").fetchall()
    tick: int = rows[0][0]
    return tick


def _write_head(directory: RunDirectory, head: str | None) -> None:
    metadata = directory.read_metadata()
    if metadata.seal != head and (metadata.completed_at is not None or head is None):
        metadata.seal = head
        directory.write_metadata(metadata)
