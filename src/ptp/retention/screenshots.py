"""Removing the pictures of runs that have ended; the tape can draw them again."""

from __future__ import annotations

import shutil
from contextlib import suppress

import apsw
import msgspec

from ptp.errors import PtpError, RunLocked
from ptp.frames.disk import tree_bytes
from ptp.recording import RunDirectory
from ptp.retention.plan import run_age
from ptp.retention.rollup import is_rolled_up, pack_run, unpack_run


class Emptied(msgspec.Struct):
    """A run without its pictures."""

    run_id: str
    pictures: int
    bytes: int


def plan_cleanup(directories: list[RunDirectory], older_than: float | None, now: float) -> list[Emptied]:
    """Return what each run's pictures take; runs that are played, too young, or without pictures are left out."""
    found = []
    for directory in directories:
        folder = directory.path / "frames"
        if directory.is_alive() or not folder.is_dir():
            continue
        if older_than is not None and run_age(directory, now) <= older_than:
            continue
        files = [path for path in folder.rglob("*") if path.is_file() and not path.name.startswith(".")]
        found.append(Emptied(directory.run_id, len(files), tree_bytes(folder)))
    return found


def clean_up(directories: list[RunDirectory], planned: list[Emptied]) -> list[Emptied]:
    """Remove the pictures, and return what was removed; a run that has come to life since is left alone."""
    by_id = {directory.run_id: directory for directory in directories}
    done = []
    for emptied in planned:
        directory = by_id[emptied.run_id]
        with suppress(RunLocked), directory.owned():
            _empty(directory)
            done.append(emptied)
    return done


def _empty(directory: RunDirectory) -> None:
    """Remove the rows' paths first: a path that leads nowhere is worse than a file that nobody names."""
    archived = is_rolled_up(directory)
    if archived:
        unpack_run(directory)
    if directory.database.exists():
        _forget_paths(directory)
    if archived:
        pack_run(directory)
    shutil.rmtree(directory.path / "frames")


def _forget_paths(directory: RunDirectory) -> None:
    try:
        connection = apsw.Connection(str(directory.database), flags=apsw.SQLITE_OPEN_READWRITE)
        with connection:
            connection.execute("UPDATE screenshots SET file_path = NULL, file_size_bytes = 0")
            connection.execute("UPDATE steps SET frame_ref = NULL WHERE frame_ref IS NOT NULL")
        connection.close()
    except apsw.Error as problem:
        raise PtpError(f"{directory.database} is damaged ({problem}); its pictures are left as they are") from None
