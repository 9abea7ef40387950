"""The database of a run, as a file: migrated behind a copy of itself, and checked."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import msgspec

from ptp._util.files import write_atomic
from ptp.errors import PtpError, RecordingError, RunUnreadable, UsageError
from ptp.versioning.drift import Verified, verify
from ptp.versioning.migration import OnProgress, Plan, migrate, plan, present_version, silent
from ptp.versioning.schema import RUN_SCHEMAS
from ptp.versioning.sqlite import SQLite, opened, refuse_foreign
from ptp.versioning.stamp import read_version

PAGES = 2048  # copied at a time, between two reports of progress


def pending_backup(database: Path) -> Path:
    """Return where the copy is while a migration goes on."""
    return database.with_name(f"{database.name}.before-migration")


def read_header(database: Path) -> dict[str, Any] | None:
    """Return the header beside a run's database as it is, with whatever else is in it; None when there is none."""
    path = database.resolve().with_name("metadata.json")
    if database.name != "game_data.db" or not path.exists():
        return None
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, Any])
    except (OSError, ValueError, RecursionError, msgspec.DecodeError) as problem:
        raise RunUnreadable(f"{path} can't be read: {problem}; restore it from a copy") from None


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
    """Take a database to the *target* version, and the header of its run with it.

    Whoever calls makes sure that nobody writes to it meanwhile.
    """
    RUN_SCHEMAS.check_target(target)
    header = read_header(database)
    done = _migrate_copied(database, target, assumed, keep_backup, on_progress)
    if header is not None and header.get("schema_version") != target:
        encoded = msgspec.json.encode(header | {"schema_version": target})
        write_atomic(database.resolve().with_name("metadata.json"), msgspec.json.format(encoded, indent=2) + b"\n")
    return done


def _migrate_copied(
    database: Path, target: str, assumed: str | None, keep_backup: bool, on_progress: OnProgress
) -> Plan:
    with opened(database, apsw.SQLITE_OPEN_READWRITE) as db:
        version = present_version(db, assumed)
        refuse_foreign(db.connection, database, version)
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
    needed, free = database.stat().st_size, shutil.disk_usage(database.parent).free
    if free < 2 * needed:
        raise RecordingError(
            f"{database} needs {2 * needed / 1e9:,.2f} GB for its copy and its changes, and {free / 1e9:,.2f} GB are "
            "free; free some space and migrate again"
        )
    path = pending_backup(database)
    partial = path.with_name(f".{path.name}.partial")
    partial.unlink(missing_ok=True)
    try:
        with closing(apsw.Connection(str(partial))) as copy, copy.backup("main", connection, "main") as backup:
            while not backup.step(PAGES):
                on_progress("backup", backup.page_count - backup.remaining, backup.page_count)
        partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
    return path


def verify_file(database: Path) -> Verified:
    """Check a database's version, shape, history and pages, its header, and what a torn migration left."""
    try:
        with opened(database) as db:
            return verify(db, lambda version: _file(db, database, version))
    except PtpError as problem:
        return Verified(str(database), None, False, [str(problem)])


def _file(db: SQLite, database: Path, version: str) -> Iterator[str]:
    """Look at the pages, at the header of the run, and for a copy that a migration left behind."""
    refuse_foreign(db.connection, database, version)
    for (text,) in db.rows("PRAGMA quick_check(10)"):
        if text != "ok":
            yield f"damaged: {text}; restore it from a copy"
    try:
        header = read_header(database)
        named = version if header is None else header.get("schema_version")
        if named != version:
            remedy = f"let it follow with `ptp schema migrate {database.parent} --to {version}`"
            yield f"{database.resolve().with_name('metadata.json')} says schema {named}; {remedy}"
    except RunUnreadable as problem:
        yield str(problem)
    backup = pending_backup(database)
    if backup.exists():
        yield f"a migration was torn off and left {backup}; the database is whole, migrate again and it goes away"
