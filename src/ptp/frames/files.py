"""Pictures as files, each named by the hash of its pixels."""

from __future__ import annotations

import errno
from pathlib import Path

from ptp.errors import RecordingError
from ptp.frames.disk import NEARLY
from ptp.frames.folder import FrameFolder, Room
from ptp.frames.pictures import SUFFIXES, Format, encode, fingerprint
from ptp.frames.shots import Counts, Shot, metadata_of, record_of
from ptp.frames.triggers import EVENTS
from ptp.records import FrameRemoved, FrameShrunk, Notice, Record

PLACE = "frames"


class FileStore:
    """Keeps each picture once; a full disk costs pictures, never the run."""

    def __init__(
        self, run: Path, quota: int, format: Format, quality: int, *, compress: bool = False, once: bool = True
    ) -> None:
        self.counts = Counts()
        self._folder = FrameFolder(run / PLACE, quota, compress)
        self._format = format
        self._quality = quality
        self._once = once
        self._last = ""
        self._told: set[str] = set()

    def keep(self, shot: Shot) -> list[Record]:
        """Keep a picture; one that is equal to the one before costs nothing, unless something happened."""
        digest = fingerprint(shot.picture)
        if self._once and digest == self._last and shot.trigger not in EVENTS:
            self.counts.repeated += 1
            return []
        try:
            return self._keep(shot, digest)
        except (OSError, RecordingError) as problem:
            self.counts.failed += 1
            return self._tell(shot, "frame_lost", _words(problem))

    def _keep(self, shot: Shot, digest: str) -> list[Record]:
        compression = "text" if isinstance(shot.picture, str) else self._format
        name = f"{digest[:2]}/{digest}{'' if self._once else f'-{shot.tick}'}{SUFFIXES[compression]}"
        records: list[Record] = []
        size = self._folder.size_of(name)
        if size is None:
            data = encode(shot.picture, self._format, self._quality)
            size = len(data)
            records = self._made_room(shot.tick, self._folder.add(name, data))
        self._last = digest
        self.counts.kept += 1
        self.counts.bytes = self._folder.used
        metadata = metadata_of(shot, self._format, self._quality, digest)
        return [*records, record_of(shot, f"{PLACE}/{name}", size, metadata), *self._warn(shot, records)]

    def _made_room(self, tick: int, room: Room) -> list[Record]:
        self.counts.shrunk += len(room.shrunk)
        self.counts.removed += len(room.removed)
        told: list[Record] = [FrameShrunk(f"{PLACE}/{name}", size) for name, size in room.shrunk]
        return told + [FrameRemoved(f"{PLACE}/{name}", tick) for name in room.removed]

    def _warn(self, shot: Shot, made_room: list[Record]) -> list[Record]:
        quota = self._folder.quota
        if any(type(record) is FrameRemoved for record in made_room):
            return self._tell(
                shot, "frames_removed", f"pictures fill their {quota:,} bytes; the oldest are removed for new ones"
            )
        if made_room:
            return self._tell(
                shot, "frames_shrunk", f"pictures fill their {quota:,} bytes; the oldest are made smaller"
            )
        if self._folder.used >= NEARLY * quota:
            used = f"{self._folder.used / quota:.0%} of their {quota:,} bytes"
            return self._tell(shot, "frames_nearly_full", f"pictures take {used}; see --screenshot-max-storage")
        return []

    def _tell(self, shot: Shot, kind: str, message: str) -> list[Record]:
        """Return a notice the first time that something of its kind happens."""
        if kind in self._told:
            return []
        self._told.add(kind)
        return [Notice(shot.at, shot.tick, "warning", kind, message)]

    def forget_after(self, tick: int) -> None:
        """Begin anew; what is written may serve again, since it is named by what it shows."""
        self._last = ""

    def close(self) -> list[Record]:
        """Let go of the folder."""
        self._folder.close()
        return []


def _words(problem: OSError | RecordingError) -> str:
    if isinstance(problem, OSError) and problem.errno == errno.ENOSPC:
        return "the disk is full: pictures are lost until there is space again; see `ptp du` and `ptp prune`"
    return f"a picture can't be written: {problem}"
