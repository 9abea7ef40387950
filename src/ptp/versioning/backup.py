"""The database of a run, migrated behind a copy of itself."""

from __future__ import annotations

import shutil
from pathlib import Path

import apsw
import msgspec

from ptp.errors import RecordingError, UsageError
from ptp.versioning.migration import OnProgress, Plan, migrate, plan, present_version, silent
from ptp.versioning.schema import RUN_SCHEMAS
from ptp.versioning.sqlite import opened
from ptp.versioning.stamp import read_version

PAGES = 2048  # copied at a time, between two reports of progress


def pending_backup(database: Path) -> Path:
    """Return where the copy is while a migration goes on."""
    return database.with_name(f"{database.name}.before-migration")


def kept_backup(database: Path, version: str) -> Path:
    """Return where a copy stays that somebody asked to keep."""
    return database.with_name(f"{database.name}.{version}.backup")


def migrate_file(
    database: Path,
    target: str,
    assumed: str | None = None,
    *,
    keep_backup: bool = False,
    on_progress: OnProgress = silent,
) -> Plan:
    """Take a database to the *target* version; whoever calls makes sure that nobody writes to it meanwhile."""
    RUN_SCHEMAS.check_target(target)
    with opened(database, apsw.SQLITE_OPEN_READWRITE) as db:
        version = present_version(db, assumed)
        if version == target == read_version(db):
            pending_backup(database).unlink(missing_ok=True)  # a migration that ended just before it could do so
            return plan(db, target)
        kept = kept_backup(database, version) if keep_backup else None
        if kept is not None and kept.exists():
            raise UsageError(f"{kept} is there already; move it away, or leave out --keep-backup")
        backup = make_backup(db.connection, database, on_progress)
        try:
            done = migrate(db, target, assumed, on_progress)
        except BaseException:
            backup.unlink()
            raise
    if kept is None:
        backup.unlink()
        return done
    backup.replace(kept)
    return msgspec.structs.replace(done, backup=str(kept))


def make_backup(connection: apsw.Connection, database: Path, on_progress: OnProgress) -> Path:
    """Copy a database, and give the copy its name when SQLite has brought all of it to the disk."""
    _check_space(database)
    path = pending_backup(database)
    partial = path.with_name(f".{path.name}.partial")
    partial.unlink(missing_ok=True)
    try:
        _copy(connection, partial, on_progress)
        partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
    return path


def _check_space(database: Path) -> None:
    needed, free = database.stat().st_size, shutil.disk_usage(database.parent).free
    if free < 2 * needed:
        raise RecordingError(
            f"{database} needs {2 * needed / 1e9:,.2f} GB for its copy and its changes, and {free / 1e9:,.2f} GB are "
            "free; free some space and migrate again"
        )


def _copy(connection: apsw.Connection, path: Path, on_progress: OnProgress) -> None:
    target = apsw.Connection(str(path))
    try:
        with target.backup("main", connection, "main") as backup:
            while not backup.step(PAGES):
                on_progress("backup", backup.page_count - backup.remaining, backup.page_count)
    finally:
        target.close()
