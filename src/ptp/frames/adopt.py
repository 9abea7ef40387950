"""The pictures of a shared history: a forked run gets those of its parent, as far as its quota goes."""

from __future__ import annotations

import os
import shutil
from itertools import groupby
from pathlib import Path
from urllib.parse import quote

import apsw

from ptp.errors import RecordingError
from ptp.frames.archive import SCHEMA
from ptp.frames.kept import inside
from ptp.recording import RunDirectory
from ptp.recording.database import Database
from ptp.records import FrameRemoved, Record


def adopt_pictures(run: Path, parent: RunDirectory, last_tick: int, quota: int) -> list[Record]:
    """Bring another run's pictures up to a tick into this run's folder, newest first.

    Returns the records of those that stay behind; the run's rows have been copied before.
    """
    query = """SELECT file_path FROM screenshots WHERE file_path IS NOT NULL AND tick <= ?
               GROUP BY file_path ORDER BY max(tick) DESC"""
    with Database(parent.database) as database:
        found = [path for (path,) in database.rows(query, last_tick)]
    left: list[Record] = []
    used = 0
    try:
        for name, _ in groupby(found, lambda path: path.partition("#")[0]):
            size = _adopt(run, parent.path, name, last_tick, quota - used)
            used += size or 0
            if size is None:
                left.append(FrameRemoved(name, None if name.endswith(".db") else last_tick + 1))
    except OSError as problem:
        raise RecordingError(f"pictures can't be brought into {run}: {problem.strerror or problem}") from None
    return left


def _adopt(run: Path, parent: Path, name: str, last_tick: int, room: int) -> int | None:
    """Return the bytes that a file takes in its new place; None when it is gone, or finds no room."""
    source, target = inside(parent, name), run / name
    if target.suffix != ".db":
        return _link(source, target, room)
    size = _copy_archive(source, target, last_tick)
    if size is None or size > room:
        target.unlink(missing_ok=True)
        return None
    return size


def _link(source: Path, target: Path, room: int) -> int | None:
    """Give a file a second name, which costs nothing; where that can't be done, copy it."""
    try:
        size = source.stat().st_size
        if size > room:
            return None
        target.parent.mkdir(parents=True, exist_ok=True)
        os.link(source, target)
    except FileNotFoundError:
        return None
    except FileExistsError:
        return 0
    except OSError:
        shutil.copy2(source, target)
    return size


def _copy_archive(source: Path, target: Path, last_tick: int) -> int | None:
    """Copy the segments of an archive, which may still be growing, up to a tick."""
    target.parent.mkdir(parents=True, exist_ok=True)
    flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE | apsw.SQLITE_OPEN_URI
    try:
        connection = apsw.Connection(str(target), flags=flags)
        connection.execute(SCHEMA)
        connection.execute("ATTACH ? AS parent", (f"file:{quote(str(source))}?mode=ro",))
        with connection:
            connection.execute("INSERT INTO segments SELECT * FROM parent.segments WHERE first_tick <= ?", (last_tick,))
            connection.execute("INSERT INTO frames SELECT * FROM parent.frames WHERE tick <= ?", (last_tick,))
        connection.close()
    except apsw.Error:
        return None  # gone or damaged; the tape can draw its pictures again
    return target.stat().st_size
