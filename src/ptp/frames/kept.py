"""Reading the pictures that were kept: from files and from archives alike."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import apsw
import msgspec

from ptp.errors import RunUnreadable
from ptp.frames.pictures import FORMATS


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
