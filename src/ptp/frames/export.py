"""Kept pictures as files that other programs open, one for each tick."""

from __future__ import annotations

from pathlib import Path

import msgspec

from ptp.errors import RunUnreadable, UsageError
from ptp.frames.kept import KeptFile, read_kept
from ptp.frames.pictures import SUFFIXES, Format, decode, encode
from ptp.recording import RunDirectory
from ptp.recording.database import Database

QUALITY = 95  # of a picture that is written in another lossy form


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
    kept = _converted(kept, format)
    done.bytes += target.with_suffix(SUFFIXES[kept.format]).write_bytes(kept.data)
    done.pictures += 1


def _converted(kept: KeptFile, format: Format | None) -> KeptFile:
    if format is None or kept.format in (format, "text"):
        return kept
    return KeptFile(encode(decode(kept.data, kept.format), format, QUALITY), format)
