"""Pictures in SQLite archives, many to a blob, for games with more pictures than a folder should hold."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import apsw
from msgspec import Struct, structs

from ptp.frames.pictures import content_digest, encode, fingerprint
from ptp.frames.profiles import StorageProfile
from ptp.frames.shots import PLACE, LocalStore, Shot
from ptp.records import FrameKept, FrameRemoved, Record

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


class _Placed(Struct, frozen=True):
    """A picture in the segment that is being filled; its record does not name the archive yet."""

    kept: FrameKept
    episode: int
    start: int


class ArchiveStore(LocalStore):
    """Fills one archive after the other; a picture is told only when its segment is committed.

    When the quota is used up the oldest archive goes as a whole, which is why none grows beyond a small part of it.
    """

    def __init__(self, run: Path, quota: int, profile: StorageProfile, quality: int) -> None:
        super().__init__(run, quota, profile.format, quality, profile.snapshot_deduplication)
        self._run = run
        self._folder.mkdir(parents=True, exist_ok=True)
        self._part = quota // PARTS
        self._profile = profile
        self._number = max((int(path.stem.rpartition("_")[2]) for path in archives(run)), default=0)
        self._connection: apsw.Connection | None = None
        self._measure()
        self._begin_segment()

    def _measure(self) -> None:
        self.counts.bytes = sum(path.stat().st_size for path in archives(self._run))

    def _begin_segment(self) -> None:
        self._data = bytearray()
        self._segment: list[_Placed] = []
        self._known: dict[str, tuple[int, int, str]] = {}

    def keep(self, shot: Shot) -> list[Record]:
        """Put a picture into the segment; one that equals another in it refers to its bytes."""
        digest = fingerprint(shot.picture)
        place = self._known.get(digest) if self._once else None
        if place is None:
            data = encode(shot.picture, self._format, self._quality)
            place = self._known[digest] = (len(self._data), len(data), content_digest(data))
            self._data += data
        else:
            self.counts.repeated += 1
        start, size, content = place
        self._segment.append(_Placed(self._record(shot, f"#{shot.tick}", size, digest, content), shot.episode, start))
        full = len(self._segment) >= self._profile.segment_frames or len(self._data) >= self._part
        return self._commit() if full else []

    def _commit(self) -> list[Record]:
        segment, data = self._segment, bytes(self._data)
        self._begin_segment()
        last = segment[-1].kept
        needed = len(data) + len(data) // 1000 + PER_PICTURE * len(segment) + PER_ARCHIVE
        if needed > self._quota:
            remedy = f"{len(data):,} bytes don't fit into {self._quota:,}; raise --screenshot-max-storage"
            return self._lose(segment, f"pictures can't be kept: {remedy}")
        try:
            told = self._make_room(last, needed)
            name = self._write(segment, data)
        except (apsw.Error, OSError) as problem:
            return self._lose(segment, f"pictures can't be written: {problem}; see `ptp du` and `ptp prune`")
        self.counts.kept += len(segment)
        told += [structs.replace(each.kept, path=f"{PLACE}/{name}#{each.kept.tick}") for each in segment]
        return told + self._warn_when_nearly_full(last)

    def _lose(self, segment: list[_Placed], message: str) -> list[Record]:
        self.counts.failed += len(segment)
        return self._tell(segment[-1].kept, "frame_lost", message)

    def _make_room(self, last: FrameKept, needed: int) -> list[Record]:
        told: list[Record] = []
        for path in archives(self._run):
            if self.counts.bytes + needed <= self._quota:
                break
            if path == self._path():
                self._rotate()
            self.counts.removed += _count_frames(path)
            path.unlink()
            self._measure()
            told.append(FrameRemoved(f"{PLACE}/{path.name}"))
        if told:
            words = f"pictures fill their {self._quota:,} bytes; the oldest archives are removed for new ones"
            told += self._tell(last, "frames_removed", words)
        return told

    def _path(self) -> Path:
        return self._folder / f"archive_{self._number:06d}.db"

    def _write(self, segment: list[_Placed], data: bytes) -> str:
        if self._connection is None:
            self._number += 1
            self._connection = apsw.Connection(str(self._path()))
            self._connection.pragma("synchronous", "normal")
            self._connection.execute(SCHEMA)
        connection, path = self._connection, self._path()
        with connection:
            ((number,),) = connection.execute("SELECT coalesce(max(segment), 0) + 1 FROM segments")
            ticks = [each.kept.tick for each in segment]
            connection.execute("INSERT INTO segments VALUES (?, ?, ?, ?)", (number, min(ticks), max(ticks), data))
            rows = [_row(each, number) for each in segment]
            connection.executemany("INSERT OR REPLACE INTO frames VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
            ((frames, episodes),) = connection.execute("SELECT count(*), count(DISTINCT episode) FROM frames")
        self._measure()
        most_frames, most_episodes = self._profile.max_frames_per_archive, self._profile.max_episodes_per_archive
        if frames >= most_frames or episodes >= most_episodes or path.stat().st_size >= self._part:
            self._rotate()
        return path.name

    def _rotate(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def forget_after(self, tick: int) -> None:
        """Leave out of the segment what was taken back."""
        self._segment = [each for each in self._segment if each.kept.tick <= tick]

    def close(self) -> list[Record]:
        """Commit the segment that is not full yet."""
        told = self._commit() if self._segment else []
        self._rotate()
        return told


def _row(placed: _Placed, segment: int) -> tuple[int | str, ...]:
    kept, facts = placed.kept, placed.kept.metadata
    width, height = facts.resolution.width, facts.resolution.height
    return (kept.tick, placed.episode, segment, placed.start, kept.size, facts.hash, facts.compression, width, height)


def _count_frames(path: Path) -> int:
    try:
        with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
            ((count,),) = connection.execute("SELECT count(*) FROM frames")
            return int(count)
    except apsw.Error:
        return 0  # damaged: its pictures were lost before


def archives(run: Path) -> list[Path]:
    """Return the archives of a run, oldest first."""
    return sorted((run / PLACE).glob("archive_*.db"))
