"""Pictures as files, each named by the hash of its pixels, in a folder that never takes more than its quota."""

from __future__ import annotations

import errno
import fcntl
import os
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from ptp.errors import RecordingError
from ptp.frames.disk import NEARLY
from ptp.frames.pictures import FORMATS, SUFFIXES, Format, content_digest, encode, fingerprint, shrink
from ptp.frames.shots import PLACE, LocalStore, Shot
from ptp.records import FrameRemoved, FrameShrunk, Record

BATCH = 4096  # pictures that are looked at in one search for the oldest


class Room(msgspec.Struct):
    """What was done to make room for a picture."""

    shrunk: list[tuple[str, bytes]] = []
    removed: list[str] = []


class _Old(msgspec.Struct, frozen=True, gc=False):
    age: int
    name: str
    size: int


class FrameFolder:
    """Pictures by the hash of their pixels, within a quota that holds however many processes write.

    The bytes in use are kept in the lock file itself, and changed only by who holds the lock.
    """

    def __init__(self, path: Path, quota: int, compress: bool) -> None:
        self.path = path
        self._root = str(path)  # joined with a name for every picture, which is quick only with text
        self.quota = quota
        self.used = 0
        self._compress = compress
        self._old: deque[_Old] = deque()
        self._shrunk_to = 0  # pictures up to this age are as small as they get
        path.mkdir(parents=True, exist_ok=True)
        self._lock = os.open(path / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        with self._locked():
            self.used = sum(old.size for old in self._scan())

    @contextmanager
    def _locked(self) -> Iterator[None]:
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        try:
            self.used = int.from_bytes(os.pread(self._lock, 8, 0), "little")
            yield
        finally:
            os.pwrite(self._lock, self.used.to_bytes(8, "little"), 0)
            fcntl.flock(self._lock, fcntl.LOCK_UN)

    def find(self, name: str) -> bytes | None:
        """Return the bytes of a picture that is kept already, and mark it as new; None when there is none."""
        path = f"{self._root}/{name}"
        try:
            os.utime(path)
            with open(path, "rb") as file:
                return file.read()
        except FileNotFoundError:
            return None

    def add(self, name: str, data: bytes) -> Room:
        """Keep a picture, and shrink the oldest, then remove them, until it fits."""
        room = Room()
        if len(data) > self.quota:
            raise RecordingError(
                f"a picture of {len(data):,} bytes does not fit into {self.quota:,}; raise --screenshot-max-storage"
            )
        with self._locked():
            while self._compress and self.used + len(data) > NEARLY * self.quota and self._shrink_oldest(room):
                pass
            while self.used + len(data) > self.quota:
                if not self._shrink_oldest(room) and not self._remove_oldest(room):
                    break  # what is counted has gone: somebody else removed it
            self._write(name, data)
            self.used += len(data)
        return room

    def _write(self, name: str, data: bytes) -> None:
        temporary = f"{self._root}/.new"  # one name is enough, since only who holds the lock writes
        path = f"{self._root}/{name}"
        try:
            with open(temporary, "wb") as file:
                file.write(data)
            try:
                os.replace(temporary, path)
            except FileNotFoundError:
                os.makedirs(os.path.dirname(path), exist_ok=True)
                os.replace(temporary, path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise

    def _shrink_oldest(self, room: Room) -> bool:
        for index in range(len(self._search())):
            old = self._old[index]
            if old.age <= self._shrunk_to:
                continue
            self._shrunk_to = old.age
            path = self.path / old.name
            try:
                data = path.read_bytes()
            except FileNotFoundError:
                continue
            smaller = shrink(data, FORMATS[path.suffix])
            if len(smaller) < len(data):
                self._write(old.name, smaller)
                os.utime(path, ns=(old.age, old.age))
                self._old[index] = msgspec.structs.replace(old, size=len(smaller))
                self.used -= len(data) - len(smaller)
                room.shrunk.append((old.name, smaller))
                return True
        return False

    def _remove_oldest(self, room: Room) -> bool:
        while self._search():
            old = self._old.popleft()
            path = self.path / old.name
            try:
                facts = os.stat(path)  # another process may have made it smaller
                if facts.st_mtime_ns != old.age:
                    continue  # shown again since; it is no longer among the oldest
                path.unlink()
            except FileNotFoundError:
                continue
            self.used = max(0, self.used - facts.st_size)
            room.removed.append(old.name)
            return True
        return False

    def _search(self) -> deque[_Old]:
        if not self._old:
            found = sorted(self._scan(), key=lambda old: (old.age, old.name))
            self.used = sum(old.size for old in found)
            self._old.extend(found[:BATCH])
        return self._old

    def _scan(self) -> Iterator[_Old]:
        for shelf in os.scandir(self.path):
            if not shelf.is_dir():
                continue
            for entry in os.scandir(shelf):
                if not entry.name.startswith("."):
                    facts = entry.stat()
                    yield _Old(facts.st_mtime_ns, f"{shelf.name}/{entry.name}", facts.st_size)

    def close(self) -> None:
        """Let go of the folder."""
        os.close(self._lock)


class FileStore(LocalStore):
    """Keeps each picture once; a full disk costs pictures, never the run."""

    def __init__(
        self, run: Path, quota: int, format: Format, quality: int, *, compress: bool = False, once: bool = True
    ) -> None:
        super().__init__(run, quota, format, quality, once)
        self._files = FrameFolder(self._folder, quota, compress)

    def keep(self, shot: Shot) -> list[Record]:
        """Keep a picture; one that equals another refers to its file."""
        digest = fingerprint(shot.picture)
        suffix = SUFFIXES["text" if isinstance(shot.picture, str) else self._format]
        name = f"{digest[:2]}/{digest}{'' if self._once else f'-{shot.tick}'}{suffix}"
        room = Room()
        try:
            data = self._files.find(name)
            if data is None:
                data = encode(shot.picture, self._format, self._quality)
                room = self._files.add(name, data)
            else:
                self.counts.repeated += 1
        except (OSError, RecordingError) as problem:
            self.counts.failed += 1
            message = f"a picture can't be written: {problem}"
            if isinstance(problem, OSError) and problem.errno == errno.ENOSPC:
                message = "the disk is full: pictures are lost until there is space again; see `ptp du` and `ptp prune`"
            return self._tell(shot, "frame_lost", message)
        self.counts.kept += 1
        self.counts.shrunk += len(room.shrunk)
        self.counts.removed += len(room.removed)
        self.counts.bytes = self._files.used
        full = f"pictures fill their {self._quota:,} bytes; the oldest are"
        if room.removed:
            warning = self._tell(shot, "frames_removed", f"{full} removed for new ones")
        elif room.shrunk:
            warning = self._tell(shot, "frames_shrunk", f"{full} made smaller")
        else:
            warning = self._warn_when_nearly_full(shot)
        return [
            *(FrameShrunk(f"{PLACE}/{each}", len(it), content_digest(it)) for each, it in room.shrunk),
            *(FrameRemoved(f"{PLACE}/{each}", shot.tick) for each in room.removed),
            self._record(shot, name, len(data), digest, content_digest(data)),
            *warning,
        ]

    def close(self) -> list[Record]:
        """Let go of the folder."""
        self._files.close()
        return []
