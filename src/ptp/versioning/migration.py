"""Taking a run database from one schema to another: all the way or not at all.

Every step with its record is part of one transaction, so a crash leaves the old version or the new one. SQLite does
the work inside the file; no row passes through Python.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import apsw
import msgspec

from ptp.errors import RecordingError, RunUnreadable, UsageError
from ptp.versioning.backup import Told, kept_backup, make_backup, pending_backup
from ptp.versioning.drift import missing_parts
from ptp.versioning.paths import Step
from ptp.versioning.schema import (
    NO_VERSION,
    check_found,
    check_target,
    drop_of,
    find_path,
    rename_of,
    statements,
    step_sql,
)
from ptp.versioning.shape import read_shape, shape_of
from ptp.versioning.stamp import Loss, read_version, record_step, write_version


class Plan(msgspec.Struct, frozen=True):
    """What a migration does."""

    database: str
    from_version: str
    to_version: str
    steps: list[str]
    dropped: list[Loss]
    """What the older schema can't hold; empty on the way up."""
    backup: str | None = None
    """The copy of the database as it was, if it was to be kept."""


def silent(_phase: str, _done: int, _total: int) -> None:
    """Tell nobody."""


def plan(database: Path, target: str, assumed: str | None = None) -> Plan:
    """Return what a migration would do; *assumed* is the version that the caller says the database has."""
    check_target(target)
    with opened(database, apsw.SQLITE_OPEN_READONLY) as connection:
        return _plan(connection, database, target, assumed)


def migrate(
    database: Path, target: str, assumed: str | None = None, *, keep_backup: bool = False, told: Told = silent
) -> Plan:
    """Take a database to the *target* version; whoever calls makes sure that nobody writes to it meanwhile."""
    check_target(target)
    with opened(database, apsw.SQLITE_OPEN_READWRITE) as connection:
        planned = _plan(connection, database, target, assumed)
        if planned.from_version == target and read_version(connection, database) == target:
            pending_backup(database).unlink(missing_ok=True)  # a migration that ended just before it could do so
            return planned
        kept = kept_backup(database, planned.from_version) if keep_backup else None
        if kept is not None and kept.exists():
            raise UsageError(f"{kept} is there already; move it away, or leave out --keep-backup")
        backup = make_backup(connection, database, told)
        try:
            _apply(connection, database, planned, told)
        except BaseException:
            backup.unlink()
            raise
    if kept is None:
        backup.unlink()
        return planned
    backup.replace(kept)
    return msgspec.structs.replace(planned, backup=str(kept))


@contextmanager
def opened(database: Path, flags: int) -> Iterator[apsw.Connection]:
    """Open a database and say in words what SQLite says of it."""
    if not database.exists():
        raise RunUnreadable(f"{database} is missing; restore the file, or name another run")
    connection = None
    try:
        connection = apsw.Connection(str(database), flags=flags)
        connection.set_busy_timeout(5000)
        yield connection
    except apsw.BusyError:
        raise RecordingError(f"{database} is used by another program; close it and migrate again") from None
    except (apsw.NotADBError, apsw.CorruptError) as problem:
        raise RunUnreadable(f"{database} is damaged ({problem}); restore it from a copy") from None
    except (apsw.Error, OSError) as problem:
        raise RecordingError(f"{database} can't be used: {problem}; it stays as it is") from None
    finally:
        if connection is not None:
            connection.close()


def _plan(connection: apsw.Connection, database: Path, target: str, assumed: str | None) -> Plan:
    version = _present_version(connection, database, assumed)
    path = find_path(version, target)
    return Plan(str(database), version, target, [str(step) for step in path], list(losses(connection, path)))


def _present_version(connection: apsw.Connection, database: Path, assumed: str | None) -> str:
    """Return the version of a database; one that has none is believed to have *assumed* if its tables agree."""
    version = read_version(connection, database)
    if assumed is None or version not in (assumed, NO_VERSION):
        check_found(version, database)
        if assumed is not None:
            raise UsageError(f"{database} has schema {version}, not {check_target(assumed)}; leave out --from")
        return version
    missing = missing_parts(read_shape(connection), shape_of(check_target(assumed)))
    if version == NO_VERSION and missing:
        raise UsageError(f"{database} is not of schema {assumed}: it has no {missing[0]}; name another with --from")
    return assumed


def losses(connection: apsw.Connection, path: Sequence[Step]) -> Iterator[Loss]:
    """Tell what the steps of a path will drop from a database as it is now."""
    shape = read_shape(connection)
    present: dict[str, str] = {}
    for statement in (text for step in path for text in statements(step_sql(step))):
        renamed = rename_of(statement)
        if renamed is not None:
            present[renamed[1]] = present.get(renamed[0], renamed[0])
        dropped = drop_of(statement)
        if dropped is not None:
            name, column = dropped
            table = present.get(name, name)
            if column is None or column in shape.tables.get(table, {}):
                yield Loss(name, column, _count(connection, table, column or "*"))


def _count(connection: apsw.Connection, table: str, what: str) -> int:
    return int(connection.execute(f'SELECT count({what}) FROM "{table}"').get)


def _apply(connection: apsw.Connection, database: Path, planned: Plan, told: Told) -> None:
    path = find_path(planned.from_version, planned.to_version)
    connection.pragma("journal_mode", "wal")  # what a crash leaves in it can be read without writing
    connection.execute("BEGIN IMMEDIATE")
    try:
        if read_version(connection, database) not in (planned.from_version, NO_VERSION):
            raise RecordingError(f"{database} was changed by another program; migrate again")
        write_version(connection, planned.from_version)
        for number, step in enumerate(path):
            told(str(step), number, len(path))
            _take(connection, step)
        _check(connection, database, planned)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _take(connection: apsw.Connection, step: Step) -> None:
    dropped = list(losses(connection, [step]))
    for statement in statements(step_sql(step)):
        connection.execute(statement)
    write_version(connection, step.goal)
    rows = {table: _count(connection, table, "*") for table in read_shape(connection).tables if table[0] != "_"}
    record_step(connection, step, rows, dropped)


def _check(connection: apsw.Connection, database: Path, planned: Plan) -> None:
    missing = missing_parts(read_shape(connection), shape_of(planned.to_version))
    if missing:
        raise RecordingError(
            f"{database} has no {missing[0]}, so it stays at {planned.from_version}; see `ptp drift schema {database}`"
        )
