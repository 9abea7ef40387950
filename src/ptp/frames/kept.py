"""Reading the pictures that were kept, from files and from archives alike, and writing them for other programs."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import apsw
import msgspec

from ptp.errors import RunUnreadable, UsageError
from ptp.frames.pictures import FORMATS, SUFFIXES, Format, decode, encode
from ptp.recording import RunDirectory
from ptp.recording.database import Database

QUALITY = 95  # of a picture that is written in another lossy form


class KeptFile(msgspec.Struct, frozen=True, gc=False):
    """A picture as it was kept: the bytes of a file."""

    data: bytes
    format: str


def read_kept(run: Path, reference: str) -> KeptFile:
    """Return the file that `screenshots.file_path` names."""
    name, _, tick = reference.partition("#")
    path = inside(run, name)
    if tick:
        return _read_archived(path, int(tick))
    try:
        return KeptFile(path.read_bytes(), FORMATS[path.suffix])
    except (OSError, KeyError) as problem:
        raise RunUnreadable(f"{path} can't be read: {problem}; `ptp video` draws it again from the tape") from None


def inside(run: Path, name: str) -> Path:
    """Return a path in a run's folder; one that leads out of it is refused, wherever it came from."""
    path = (run / name).resolve()
    if not path.is_relative_to(run.resolve()):
        raise RunUnreadable(f"the picture {name!r} of run {run.name} is not in its folder; it is not opened")
    return path


def _read_archived(path: Path, tick: int) -> KeptFile:
    query = "SELECT substr(data, start + 1, size), format FROM frames JOIN segments USING (segment) WHERE tick = ?"
    try:
        with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
            for data, form in connection.execute(query, (tick,)):
                return KeptFile(data, form)
    except apsw.Error as problem:
        raise RunUnreadable(f"{path} can't be read ({problem}); restore it from a copy") from None
    raise RunUnreadable(f"{path.name} has no picture of tick {tick}")


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
            _write(directory.path, reference, target / f"tick_{tick:06d}", format, done)
    except OSError as problem:
        raise UsageError(f"{target}: {problem.strerror or problem}; name another folder") from None
    return done


def _write(run: Path, reference: str, target: Path, format: Format | None, done: Exported) -> None:
    try:
        kept = read_kept(run, reference)
    except RunUnreadable as problem:
        done.missing.append(str(problem))
        return
    if format is not None and kept.format not in (format, "text"):
        kept = KeptFile(encode(decode(kept.data, kept.format), format, QUALITY), format)
    done.bytes += target.with_suffix(SUFFIXES[kept.format]).write_bytes(kept.data)
    done.pictures += 1
