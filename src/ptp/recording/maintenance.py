"""Changing what is kept of a run that has ended, so that its seal still holds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import apsw

from ptp.errors import RecordingError
from ptp.recording.database import Database, check_own
from ptp.recording.directory import RunDirectory, header_digest
from ptp.recording.seal import Seal, Why
from ptp.recording.unseal import check_seal
from ptp.records import Metadata


@contextmanager
def changing(directory: RunDirectory, reason: Why, header: Metadata | None = None) -> Iterator[apsw.Connection]:
    """Change the database of a run that has ended, in one transaction, and its *header* with it.

    A sealed run gets one more link.
    """
    note = None if header is None else {"header": header_digest(header)}
    try:
        connection = apsw.Connection(str(directory.database), flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            check_own(connection, directory.database)
            seal = Seal(connection) if _is_sealed(connection) else None
            with seal.change(reason, _last_tick(connection), note) if seal is not None else connection:
                yield connection
        finally:
            connection.close()
    except (apsw.Error, UnicodeDecodeError) as problem:
        raise RecordingError(f"{directory.database} can't be changed ({problem}); it is left as it is") from None
    _write_head(directory, header or directory.read_metadata(), None if seal is None else seal.head)


def seal_migrated(directory: RunDirectory, note: Any) -> None:
    """Seal a run anew that has another schema now; without one that can hold a seal it has none."""
    metadata = directory.read_metadata()
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
    with Database(directory.database) as database:  # an older schema does not hold how episodes began
        metadata.tape_digest = database.tape_digest() if metadata.tape_digest and database.has_tape else None
    _write_head(directory, metadata, head)


def check_before_migration(directory: RunDirectory) -> str | None:
    """Return the head of a run's seal; what is not as it was recorded must not be sealed anew."""
    try:
        with closing(apsw.Connection(str(directory.database), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
            if not _is_sealed(connection):
                return None
    except apsw.Error:
        return None  # the migration says what is wrong
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


def _write_head(directory: RunDirectory, metadata: Metadata, head: str | None) -> None:
    metadata.seal = head
    directory.write_metadata(metadata)
