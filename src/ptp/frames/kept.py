"""Reading the pictures that were kept, from files and from archives alike.

They are written for other programs, and a forked run gets those of its parent, as far as its quota goes.
"""

from __future__ import annotations

import os
import shutil
from contextlib import closing
from itertools import groupby
from pathlib import Path
from typing import Literal
from urllib.parse import quote

import apsw
import msgspec

from ptp._util.files import check_regular
from ptp.errors import RecordingError, RunUnreadable, UsageError
from ptp.frames.archive import SCHEMA
from ptp.frames.pictures import FORMATS, SUFFIXES, Format, decode, encode
from ptp.recording import RunDirectory
from ptp.recording.database import Database
from ptp.records import FrameRemoved, Record
from ptp.versioning.sqlite import guard, refuse_foreign

QUALITY = 95  # of a picture that is written in another lossy form


class KeptFile(msgspec.Struct, frozen=True, gc=False):
    """A picture as it was kept: the bytes of a file."""

    data: bytes
    format: Literal["jpeg", "png", "webp", "text"]


def read_kept(run: Path, reference: str) -> KeptFile:
    """Return the file that `screenshots.file_path` names."""
    name, _, tick = reference.partition("#")
    path = inside(run, name)
    if not tick:
        try:
            check_regular(path)
            return msgspec.convert({"data": path.read_bytes(), "format": FORMATS[path.suffix]}, KeptFile)
        except (OSError, KeyError) as problem:
            raise RunUnreadable(f"{path} can't be read: {problem}; `ptp video` draws it again from the tape") from None
    if not (tick.isascii() and tick.isdecimal() and len(tick) < 19):
        raise RunUnreadable(f"{path.name} can have no picture of tick {tick!r}")
    query = "SELECT substr(data, start + 1, size), format FROM frames JOIN segments USING (segment) WHERE tick = ?"
    try:
        check_regular(path)
        with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
            guard(connection)
            refuse_foreign(connection, path)
            for data, form in connection.execute(query, (int(tick),)):
                return msgspec.convert({"data": data, "format": form}, KeptFile)
    except (apsw.Error, OSError, UnicodeDecodeError, msgspec.ValidationError) as problem:
        raise RunUnreadable(f"{path} can't be read ({problem}); restore it from a copy") from None
    raise RunUnreadable(f"{path.name} has no picture of tick {tick}")


def inside(run: Path, name: str) -> Path:
    """Return a path in a run's folder; one that leads out of it is refused, wherever it came from."""
    path = (run / name).resolve()
    if not path.is_relative_to(run.resolve()):
        raise RunUnreadable(f"the picture {name!r} of run {run.name} is not in its folder; it is not opened")
    return path


class Exported(msgspec.Struct):
    """What was written."""

    run_id: str
    path: str
    pictures: int
    bytes: int
    missing: list[str]
    """Why pictures that the run names could not be read."""


def export_pictures(
    directory: RunDirectory, target: Path, first: int = 1, last: int | None = None, format: Format | None = None
) -> Exported:
    """Write the kept pictures of some ticks, as they were kept or in another form; text stays text."""
    query = """SELECT tick, file_path FROM screenshots
               WHERE file_path IS NOT NULL AND tick >= ? AND (? IS NULL OR tick <= ?) ORDER BY tick"""
    with Database(directory.database) as database:
        rows = list(database.rows(query, first, last, last))
    if not rows:
        ticks = f"tick {first} on" if last is None else f"ticks {first} to {last}"
        raise UsageError(f"run {directory.run_id} has no pictures of {ticks}; see `ptp screenshot list`")
    done = Exported(directory.run_id, str(target), 0, 0, [])
    try:
        target.mkdir(parents=True, exist_ok=True)
        for tick, reference in rows:
            try:
                kept = read_kept(directory.path, reference)
            except RunUnreadable as problem:
                done.missing.append(str(problem))
                continue
            if format is not None and kept.format not in (format, "text"):
                kept = KeptFile(encode(decode(kept.data, kept.format), format, QUALITY), format)
            done.bytes += (target / f"tick_{tick:06d}{SUFFIXES[kept.format]}").write_bytes(kept.data)
            done.pictures += 1
    except OSError as problem:
        raise UsageError(f"{target}: {problem.strerror or problem}; name another folder") from None
    return done


def adopt_pictures(run: Path, parent: RunDirectory, last_tick: int, quota: int) -> list[Record]:
    """Bring another run's pictures up to a tick into the folder of one that forked from it, newest first.

    Returns the records of those that stay behind; the run's rows have been copied before.
    """
    query = """SELECT file_path FROM screenshots WHERE file_path IS NOT NULL AND tick <= ?
               GROUP BY file_path ORDER BY max(tick) DESC"""
    with Database(parent.database) as database:
        found = [path for (path,) in database.rows(query, last_tick)]
    left: list[Record] = []
    room = quota
    try:
        for name, _ in groupby(found, lambda path: path.partition("#")[0]):
            source, target = inside(parent.path, name), run / name
            target.parent.mkdir(parents=True, exist_ok=True)
            is_archive = target.suffix == ".db"
            size = _copy_archive(source, target, last_tick, room) if is_archive else _link(source, target, room)
            room -= size or 0
            if size is None:
                left.append(FrameRemoved(name, None if is_archive else last_tick + 1))
    except OSError as problem:
        raise RecordingError(f"pictures can't be brought into {run}: {problem.strerror or problem}") from None
    return left


def _link(source: Path, target: Path, room: int) -> int | None:
    """Give a file a second name, which costs nothing; where that can't be done, copy it.

    Returns the bytes that it takes; None when it is gone, or finds no room.
    """
    try:
        size = source.stat().st_size
        if size > room:
            return None
        os.link(source, target)
    except FileNotFoundError:
        return None
    except FileExistsError:
        return 0
    except OSError:
        shutil.copy2(source, target)
    return size


def _copy_archive(source: Path, target: Path, last_tick: int, room: int) -> int | None:
    """Copy the segments of an archive, which may still be growing, up to a tick; None as above."""
    flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE | apsw.SQLITE_OPEN_URI
    try:
        with closing(apsw.Connection(str(target), flags=flags)) as connection:
            connection.execute(SCHEMA)
            connection.execute("ATTACH ? AS parent", (f"file:{quote(str(source))}?mode=ro",))
            with connection:
                for table, column in (("segments", "first_tick"), ("frames", "tick")):
                    query = f"INSERT INTO {table} SELECT * FROM parent.{table} WHERE {column} <= ?"
                    connection.execute(query, (last_tick,))
        size = target.stat().st_size
    except apsw.Error:
        size = None  # gone or damaged; the tape can draw its pictures again
    if size is None or size > room:
        target.unlink(missing_ok=True)
        return None
    return size
