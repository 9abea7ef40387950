"""Pictures in SQLite archives, many to a blob, for games with more pictures than a folder should hold."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import apsw
import msgspec

from ptp.engine.records import Notice
from ptp.errors import RunUnreadable
from ptp.frames.pictures import Format, Picture, decode, encode, fingerprint
from ptp.frames.profiles import StorageProfile
from ptp.frames.shots import Counts, Shot, ShotMetadata, metadata_of, records_of
from ptp.frames.triggers import EVENTS

PLACE = "frames"
SCHEMA = """
CREATE TABLE IF NOT EXISTS segments (
    segment INTEGER PRIMARY KEY,
    first_tick INTEGER NOT NULL,
    last_tick INTEGER NOT NULL,
    data BLOB NOT NULL           -- pictures, one after the other
);
CREATE TABLE IF NOT EXISTS frames (
    tick INTEGER PRIMARY KEY,
    episode INTEGER NOT NULL,
    segment INTEGER NOT NULL REFERENCES segments,
    start INTEGER NOT NULL,      -- where in the segment the picture begins, from 0
    size INTEGER NOT NULL,
    hash TEXT NOT NULL,
    format TEXT NOT NULL,        -- jpeg, png, webp or text
    width INTEGER NOT NULL,
    height INTEGER NOT NULL
);
"""


class _Place(msgspec.Struct, frozen=True, gc=False):
    """A picture in the segment that is being filled."""

    shot: Shot
    start: int
    size: int
    metadata: ShotMetadata


class ArchiveStore:
    """Fills one archive after the other; a picture is told only when its segment is committed."""

    def __init__(self, run: Path, quota: int, profile: StorageProfile, quality: int) -> None:
        self.counts = Counts()
        self._folder = run / PLACE
        self._folder.mkdir(parents=True, exist_ok=True)
        self._quota = quota
        self._profile = profile
        self._format: Format = profile.format
        self._quality = quality
        self._number = len(archives(run))
        self._closed_bytes = sum(path.stat().st_size for path in archives(run))
        self._connection: apsw.Connection | None = None
        self._last = ""
        self._told: set[str] = set()
        self._begin_segment()

    def _begin_segment(self) -> None:
        self._data = bytearray()
        self._places: list[_Place] = []
        self._known: dict[str, tuple[int, int]] = {}

    def keep(self, shot: Shot) -> list[msgspec.Struct]:
        """Add a picture to the segment; the segment is committed when it is full."""
        digest = fingerprint(shot.picture)
        once = self._profile.snapshot_deduplication
        if once and digest == self._last and shot.trigger not in EVENTS:
            self.counts.repeated += 1
            return []
        self._last = digest
        place = self._known.get(digest) if once else None
        if place is None:
            data = encode(shot.picture, self._format, self._quality)
            place = self._known[digest] = (len(self._data), len(data))
            self._data += data
        self._places.append(_Place(shot, *place, metadata_of(shot, self._format, self._quality, digest)))
        return self._commit() if len(self._places) >= self._profile.segment_frames else []

    def _commit(self) -> list[msgspec.Struct]:
        places, data = self._places, bytes(self._data)
        self._begin_segment()
        last = places[-1].shot
        if self.counts.bytes + len(data) > self._quota:
            self.counts.skipped += len(places)
            return self._tell(last, "frames_full", f"archives fill their {self._quota:,} bytes; no more are kept")
        try:
            name = self._write(places, data)
        except (apsw.Error, OSError) as problem:
            self.counts.failed += len(places)
            return self._tell(last, "frame_lost", f"pictures can't be written: {problem}; see `ptp du` and `ptp prune`")
        self.counts.kept += len(places)
        told: list[msgspec.Struct] = []
        for place in places:
            told += records_of(place.shot, f"{PLACE}/{name}#{place.shot.tick}", place.size, place.metadata)
        return told

    def _write(self, places: list[_Place], data: bytes) -> str:
        connection = self._connection or self._open_next()
        path = self._folder / f"archive_{self._number:06d}.db"
        with connection:
            ((newest,),) = connection.execute("SELECT coalesce(max(segment), 0) FROM segments")
            segment = newest + 1
            ticks = [place.shot.tick for place in places]
            connection.execute("INSERT INTO segments VALUES (?, ?, ?, ?)", (segment, min(ticks), max(ticks), data))
            connection.executemany(
                "INSERT OR REPLACE INTO frames VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [
                    (place.shot.tick, place.shot.episode, segment, place.start, place.size, place.metadata.hash,
                     place.metadata.compression, place.metadata.resolution.width, place.metadata.resolution.height)
                    for place in places
                ],
            )  # fmt: skip
            ((frames, episodes),) = connection.execute("SELECT count(*), count(DISTINCT episode) FROM frames")
        self.counts.bytes = self._closed_bytes + path.stat().st_size
        if frames >= self._profile.max_frames_per_archive or episodes >= self._profile.max_episodes_per_archive:
            self._rotate(path)
        return path.name

    def _open_next(self) -> apsw.Connection:
        self._number += 1
        self._connection = apsw.Connection(str(self._folder / f"archive_{self._number:06d}.db"))
        self._connection.pragma("synchronous", "normal")
        self._connection.execute(SCHEMA)
        return self._connection

    def _rotate(self, path: Path) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
            self._closed_bytes += path.stat().st_size

    def _tell(self, shot: Shot, kind: str, message: str) -> list[msgspec.Struct]:
        if kind in self._told:
            return []
        self._told.add(kind)
        return [Notice(shot.at, shot.tick, "warning", kind, message)]

    def forget_after(self, tick: int) -> None:
        """Leave out of the segment what was taken back."""
        self._last = ""
        self._places = [place for place in self._places if place.shot.tick <= tick]

    def close(self) -> list[msgspec.Struct]:
        """Commit the segment that is not full yet."""
        told = self._commit() if self._places else []
        if self._connection is not None:
            self._connection.close()
        return told


def archives(run: Path) -> list[Path]:
    """Return the archives of a run, oldest first."""
    return sorted((run / PLACE).glob("archive_*.db"))


def archived_frames(path: Path, first: int = 1, last: int | None = None) -> Iterator[tuple[int, Picture]]:
    """Return the pictures of an archive from tick *first* to *last*."""
    query = """SELECT tick, format, substr(data, start + 1, size) FROM frames JOIN segments USING (segment)
               WHERE tick >= ? AND (? IS NULL OR tick <= ?) ORDER BY tick"""
    try:
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
        for tick, form, data in connection.execute(query, (first, last, last)):
            yield tick, decode(data, form)
        connection.close()
    except apsw.Error as problem:
        raise RunUnreadable(f"{path} can't be read ({problem}); restore it from a copy") from None


def read_frame(run: Path, reference: str) -> Picture:
    """Return the picture that `steps.frame_ref` or `screenshots.file_path` names."""
    from ptp.frames.pictures import FORMATS

    name, _, tick = reference.partition("#")
    if tick:
        for _, picture in archived_frames(run / name, int(tick), int(tick)):
            return picture
        raise RunUnreadable(f"{name} has no picture of tick {tick}")
    try:
        return decode((run / name).read_bytes(), FORMATS[Path(name).suffix])
    except (OSError, KeyError, ValueError) as problem:
        raise RunUnreadable(
            f"{run / name} can't be read: {problem}; `ptp video` draws it again from the tape"
        ) from None
