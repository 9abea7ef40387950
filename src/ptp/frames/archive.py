"""Pictures in SQLite archives, many to a blob, for games with more pictures than a folder should hold."""

from __future__ import annotations

from pathlib import Path

import apsw
import msgspec

from ptp.frames.disk import NEARLY
from ptp.frames.pictures import Format, encode, fingerprint
from ptp.frames.profiles import StorageProfile
from ptp.frames.shots import Counts, Shot, ShotMetadata, metadata_of, record_of
from ptp.frames.triggers import EVENTS
from ptp.records import FrameRemoved, Notice, Record

PLACE = "frames"
PARTS = 16  # an archive is closed when it has grown to this part of the quota
PER_PICTURE, PER_ARCHIVE = 200, 40_960  # bytes that SQLite may need beside the pictures themselves
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
    """Fills one archive after the other; a picture is told only when its segment is committed.

    When the quota is used up the oldest archive goes as a whole, which is why none grows beyond a small part of it.
    """

    def __init__(self, run: Path, quota: int, profile: StorageProfile, quality: int) -> None:
        self.counts = Counts()
        self._run = run
        self._folder = run / PLACE
        self._folder.mkdir(parents=True, exist_ok=True)
        self._quota = quota
        self._part = quota // PARTS
        self._profile = profile
        self._format: Format = profile.format
        self._quality = quality
        self._number = max((int(path.stem.rpartition("_")[2]) for path in archives(run)), default=0)
        self._connection: apsw.Connection | None = None
        self._last = ""
        self._told: set[str] = set()
        self._measure()
        self._begin_segment()

    def _measure(self) -> None:
        self.counts.bytes = sum(path.stat().st_size for path in archives(self._run))

    def _begin_segment(self) -> None:
        self._data = bytearray()
        self._places: list[_Place] = []
        self._known: dict[str, tuple[int, int]] = {}

    def keep(self, shot: Shot) -> list[Record]:
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
        full = len(self._places) >= self._profile.segment_frames or len(self._data) >= self._part
        return self._commit() if full else []

    def _commit(self) -> list[Record]:
        places, data = self._places, bytes(self._data)
        self._begin_segment()
        last = places[-1].shot
        needed = len(data) + len(data) // 1000 + PER_PICTURE * len(places) + PER_ARCHIVE
        if needed > self._quota:
            self.counts.failed += len(places)
            remedy = f"{len(data):,} bytes don't fit into {self._quota:,}; raise --screenshot-max-storage"
            return self._tell(last, "frame_lost", f"pictures can't be kept: {remedy}")
        try:
            told = self._make_room(last, needed)
            name = self._write(places, data)
        except (apsw.Error, OSError) as problem:
            self.counts.failed += len(places)
            return self._tell(last, "frame_lost", f"pictures can't be written: {problem}; see `ptp du` and `ptp prune`")
        self.counts.kept += len(places)
        for place in places:
            told.append(record_of(place.shot, f"{PLACE}/{name}#{place.shot.tick}", place.size, place.metadata))
        return told + self._warn(last)

    def _make_room(self, shot: Shot, needed: int) -> list[Record]:
        """Remove the oldest archives until a segment fits."""
        told: list[Record] = []
        for path in archives(self._run):
            if self.counts.bytes + needed <= self._quota:
                break
            if self._connection is not None and path == self._path():
                self._rotate()
            self.counts.removed += _count_frames(path)
            path.unlink()
            self._measure()
            told.append(FrameRemoved(f"{PLACE}/{path.name}"))
        if told:
            words = f"pictures fill their {self._quota:,} bytes; the oldest archives are removed for new ones"
            told += self._tell(shot, "frames_removed", words)
        return told

    def _warn(self, shot: Shot) -> list[Record]:
        if self.counts.bytes < NEARLY * self._quota:
            return []
        used = f"{self.counts.bytes / self._quota:.0%} of their {self._quota:,} bytes"
        return self._tell(shot, "frames_nearly_full", f"pictures take {used}; see --screenshot-max-storage")

    def _path(self) -> Path:
        return self._folder / f"archive_{self._number:06d}.db"

    def _write(self, places: list[_Place], data: bytes) -> str:
        connection = self._connection or self._open_next()
        path = self._path()
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
        self._measure()
        profile = self._profile
        if (
            frames >= profile.max_frames_per_archive
            or episodes >= profile.max_episodes_per_archive
            or path.stat().st_size >= self._part
        ):
            self._rotate()
        return path.name

    def _open_next(self) -> apsw.Connection:
        self._number += 1
        self._connection = apsw.Connection(str(self._path()))
        self._connection.pragma("synchronous", "normal")
        self._connection.execute(SCHEMA)
        return self._connection

    def _rotate(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _tell(self, shot: Shot, kind: str, message: str) -> list[Record]:
        if kind in self._told:
            return []
        self._told.add(kind)
        return [Notice(shot.at, shot.tick, "warning", kind, message)]

    def forget_after(self, tick: int) -> None:
        """Leave out of the segment what was taken back."""
        self._last = ""
        self._places = [place for place in self._places if place.shot.tick <= tick]

    def close(self) -> list[Record]:
        """Commit the segment that is not full yet."""
        told = self._commit() if self._places else []
        self._rotate()
        return told


def _count_frames(path: Path) -> int:
    try:
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
        ((count,),) = connection.execute("SELECT count(*) FROM frames")
        connection.close()
    except apsw.Error:
        return 0  # damaged: its pictures were lost before
    return int(count)


def archives(run: Path) -> list[Path]:
    """Return the archives of a run, oldest first."""
    return sorted((run / PLACE).glob("archive_*.db"))
