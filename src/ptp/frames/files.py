"""Pictures as files, each named by the hash of its pixels."""

from __future__ import annotations

import errno
from pathlib import Path

from ptp.errors import RecordingError
from ptp.frames.folder import FrameFolder, Room
from ptp.frames.pictures import SUFFIXES, Format
from ptp.frames.shots import PLACE, LocalStore, Shot
from ptp.records import FrameRemoved, FrameShrunk, Record


class FileStore(LocalStore):
    """Keeps each picture once; a full disk costs pictures, never the run."""

    def __init__(
        self, run: Path, quota: int, format: Format, quality: int, *, compress: bool = False, once: bool = True
    ) -> None:
        super().__init__(run, quota, format, quality, once)
        self._files = FrameFolder(self._folder, quota, compress)

    def _keep(self, shot: Shot, digest: str) -> list[Record]:
        try:
            return self._write(shot, digest)
        except (OSError, RecordingError) as problem:
            self.counts.failed += 1
            return self._tell(shot, "frame_lost", _words(problem))

    def _write(self, shot: Shot, digest: str) -> list[Record]:
        suffix = SUFFIXES["text" if isinstance(shot.picture, str) else self._format]
        name = f"{digest[:2]}/{digest}{'' if self._once else f'-{shot.tick}'}{suffix}"
        room = Room()
        size = self._files.size_of(name)
        if size is None:
            data = self._encode(shot)
            size = len(data)
            room = self._files.add(name, data)
        self._last = digest
        self.counts.kept += 1
        self.counts.shrunk += len(room.shrunk)
        self.counts.removed += len(room.removed)
        self.counts.bytes = self._files.used
        return [
            *(FrameShrunk(f"{PLACE}/{each}", smaller) for each, smaller in room.shrunk),
            *(FrameRemoved(f"{PLACE}/{each}", shot.tick) for each in room.removed),
            self._record(shot, name, size, digest),
            *self._warn_of(room, shot),
        ]

    def _warn_of(self, room: Room, shot: Shot) -> list[Record]:
        full = f"pictures fill their {self._quota:,} bytes; the oldest are"
        if room.removed:
            return self._tell(shot, "frames_removed", f"{full} removed for new ones")
        if room.shrunk:
            return self._tell(shot, "frames_shrunk", f"{full} made smaller")
        return self._warn(shot)

    def close(self) -> list[Record]:
        """Let go of the folder."""
        self._files.close()
        return []


def _words(problem: OSError | RecordingError) -> str:
    if isinstance(problem, OSError) and problem.errno == errno.ENOSPC:
        return "the disk is full: pictures are lost until there is space again; see `ptp du` and `ptp prune`"
    return f"a picture can't be written: {problem}"
