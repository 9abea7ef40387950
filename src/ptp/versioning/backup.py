"""A copy of a database beside it, for as long as a migration goes on."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import apsw

from ptp.errors import RecordingError

PAGES = 2048  # copied at a time, between two looks at the progress

Told = Callable[[str, int, int], None]
"""Hears what is done, how much of it, and of how much."""


def pending_backup(database: Path) -> Path:
    """Return where the copy is while a migration goes on."""
    return database.with_name(f"{database.name}.before-migration")


def kept_backup(database: Path, version: str) -> Path:
    """Return where a copy stays that somebody asked to keep."""
    return database.with_name(f"{database.name}.{version}.backup")


def make_backup(connection: apsw.Connection, database: Path, told: Told) -> Path:
    """Copy a database, wait until the disk has the copy, and only then give it its name."""
    _check_space(database)
    path = pending_backup(database)
    partial = path.with_name(f".{path.name}.partial")
    partial.unlink(missing_ok=True)
    try:
        _copy(connection, partial, told)
        _sync(partial)
        partial.replace(path)
        _sync(path.parent)
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


def _copy(connection: apsw.Connection, path: Path, told: Told) -> None:
    target = apsw.Connection(str(path))
    try:
        with target.backup("main", connection, "main") as backup:
            while not backup.step(PAGES):
                told("backup", backup.page_count - backup.remaining, backup.page_count)
    finally:
        target.close()


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
