"""Snapshots on disk, one file each, found by id, name or tick; and the newest in memory, to go back in an instant."""

from __future__ import annotations

import fcntl
import os
import threading
from collections import OrderedDict, deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import msgspec

from ptp._util.files import check_regular, write_atomic
from ptp._util.names import ALLOWED, can_be_typed
from ptp.errors import SnapshotError, UnknownName
from ptp.snapshots.compression import Level
from ptp.snapshots.snapshot import (
    EVENT,
    KEEP,
    MOST_FILE,
    PARTS,
    PREFIX,
    Snapshot,
    SnapshotHeader,
    pack,
    read_header,
    unpack,
    with_header,
)

CACHE_BYTES = 64 << 20


class SnapshotStore:
    """The snapshots in a folder, a run's own or any other; loaded ones are kept for a while.

    Threads and processes may share a folder: a file is whole or absent, and one at a time changes names and tags.
    """

    def __init__(self, folder: Path, cache_bytes: int = CACHE_BYTES) -> None:
        self._folder = folder
        self._cache: OrderedDict[str, tuple[Snapshot, tuple[int, ...]]] = OrderedDict()
        self._cache_bytes = cache_bytes
        self._guard = threading.Lock()  # of the cache
        self.cached_bytes = 0
        self._bytes: int | None = None  # what the files take, once it was counted

    def save(self, snapshot: Snapshot, compress: bool | Level = False) -> SnapshotHeader:
        """Write a snapshot; a failed write leaves everything as it was."""
        header = snapshot.header
        data = pack(snapshot, compress)
        if header.name is None:
            self._write(header.snapshot_id, data)
        else:
            check_name(header.name)
            with self._alone():
                if any(other.name == header.name for other in self.headers()):
                    raise SnapshotError(f"a snapshot named {header.name!r} is there already; choose another name")
                self._write(header.snapshot_id, data)
        if self._bytes is not None:
            self._bytes += len(data)
        return read_header(data, header.snapshot_id)[0]

    def _write(self, snapshot_id: str, data: bytes) -> None:
        try:
            self._folder.mkdir(exist_ok=True)
            write_atomic(self.path(snapshot_id), data)
        except OSError as problem:
            raise SnapshotError(f"the snapshot can't be written: {problem.strerror}; older ones are intact") from None

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Keep others, here or in another process, from changing names and tags meanwhile."""
        with ExitStack() as stack:
            try:
                self._folder.mkdir(exist_ok=True)
                folder = os.open(self._folder, os.O_RDONLY)
                stack.callback(os.close, folder)
                fcntl.flock(folder, fcntl.LOCK_EX)
            except OSError as problem:
                raise SnapshotError(f"{self._folder} can't be locked: {problem.strerror}; choose another") from None
            yield

    def path(self, snapshot_id: str) -> Path:
        """Return the file of a snapshot."""
        return self._folder / f"{snapshot_id}.ptpsnap"

    def _check(self, path: Path) -> None:
        """Refuse what leads out of the folder, and what no snapshot can be."""
        try:
            check_regular(path, MOST_FILE)
        except OSError as problem:
            raise SnapshotError(f"{path.name} can't be read: {problem.strerror}; use an older snapshot") from None
        if self._folder.is_symlink():
            raise SnapshotError(f"{self._folder} is a link, and its snapshots are not the run's own; copy them here")

    def headers(self) -> list[SnapshotHeader]:
        """Return the headers of every readable snapshot, newest tick first."""
        return sorted(self.readable()[0], key=lambda header: (header.tick, header.snapshot_id), reverse=True)

    def readable(self) -> tuple[list[SnapshotHeader], list[str]]:
        """Return every header that can be read, and what is wrong with the other files."""
        headers, problems = [], []
        for path in sorted(self._folder.glob("*.ptpsnap")):
            try:
                self._check(path)
                with open(path, "rb") as file:
                    prefix = file.read(PREFIX.size)
                    if len(prefix) < PREFIX.size:
                        raise SnapshotError(f"{path.name} is not a ptp snapshot; it is cut off")
                    length = min(PREFIX.unpack(prefix)[1], path.stat().st_size)
                    headers.append(read_header(prefix + file.read(length), path.name)[0])
            except FileNotFoundError:
                continue  # somebody else has removed it meanwhile
            except SnapshotError as problem:
                if self._stamp(path.stem):
                    problems.append(str(problem))
        return headers, problems

    def sizes(self) -> list[int]:
        """Return the sizes of the files."""
        stamps = [self._stamp(path.stem) for path in self._folder.glob("*.ptpsnap")]
        return [stamp[-1] for stamp in stamps if stamp]

    def find(self, wanted: str) -> SnapshotHeader:
        """Return the header of the newest snapshot of that name, id, beginning of an id, or `latest`."""
        headers = self.headers()
        if not headers:
            raise SnapshotError("the run has no snapshots; a live run makes one with `ptp snapshot create`")
        if wanted == "latest":
            return headers[0]
        for header in headers:
            if header.answers_to(wanted):
                return header
        begins = [header for header in headers if header.snapshot_id.startswith(wanted.lower())]
        if len(begins) == 1:
            return begins[0]
        known = [header.name or header.snapshot_id for header in headers]
        raise UnknownName("snapshot", wanted, known, "see `ptp snapshot list`")

    def load(self, header: SnapshotHeader) -> Snapshot:
        """Return a snapshot, from memory if it was loaded lately."""
        return self.cached(header.snapshot_id) or self.fetch(header.snapshot_id)

    def cached(self, snapshot_id: str) -> Snapshot | None:
        """Return a snapshot that was loaded lately and whose file is still the same."""
        with self._guard:
            found = self._cache.get(snapshot_id)
            if found is None:
                return None
            if found[1] != self._stamp(snapshot_id):
                self._forget(snapshot_id)
                return None
            self._cache.move_to_end(snapshot_id)
            return found[0]

    def fetch(self, snapshot_id: str) -> Snapshot:
        """Return a snapshot from its file, and keep it for a while."""
        stamp, data = self._stamp(snapshot_id), self._data(snapshot_id)
        snapshot = unpack(data, self.path(snapshot_id).name)
        with self._guard:
            self._forget(snapshot_id)
            self._cache[snapshot_id] = snapshot, stamp
            self.cached_bytes += _size(snapshot)
            while self.cached_bytes > self._cache_bytes:
                self._forget(next(iter(self._cache)))
        return snapshot

    def read(self, header: SnapshotHeader) -> Snapshot:
        """Return a snapshot as it lies on disk."""
        return unpack(self._data(header.snapshot_id), self.path(header.snapshot_id).name)

    def _stamp(self, snapshot_id: str) -> tuple[int, ...]:
        """Return what changes when a file is replaced; nothing when it is gone."""
        try:
            found = os.lstat(self.path(snapshot_id))
        except OSError:
            return ()
        return found.st_ino, found.st_mtime_ns, found.st_size

    def _forget(self, snapshot_id: str) -> None:
        found = self._cache.pop(snapshot_id, None)
        self.cached_bytes -= 0 if found is None else _size(found[0])

    def _data(self, snapshot_id: str) -> bytes:
        path = self.path(snapshot_id)
        self._check(path)
        try:
            return path.read_bytes()
        except OSError as problem:
            raise SnapshotError(f"{path.name} can't be read: {problem.strerror}; use an older snapshot") from None

    def tag(self, snapshot_id: str, add: Sequence[str] = (), remove: Sequence[str] = ()) -> SnapshotHeader:
        """Add tags and remove others; the file is replaced in one step."""
        check_tags(*add, *remove)
        with self._alone():
            data, name = self._data(snapshot_id), self.path(snapshot_id).name
            now = unpack(data, name).header
            tags = (*now.tags, *(tag for tag in dict.fromkeys(add) if tag not in now.tags))
            now = msgspec.structs.replace(now, tags=tuple(tag for tag in tags if tag not in remove))
            self._write(snapshot_id, with_header(now, memoryview(data)[read_header(data, name)[1] :]))
        return now

    def delete(self, snapshot_id: str) -> int:
        """Remove a snapshot and return its size; 0 when somebody else has removed it already."""
        path = self.path(snapshot_id)
        with self._alone():
            try:
                size = path.stat().st_size
                path.unlink()
            except FileNotFoundError:
                size = 0
            except OSError as problem:
                raise SnapshotError(f"{path.name} can't be deleted: {problem.strerror}") from None
        if self._bytes is not None:
            self._bytes -= size
        with self._guard:
            self._forget(snapshot_id)
        return size

    def forget_after(self, tick: int) -> None:
        """Remove what was taken after a tick that the run went back to, but for what has a name or the tag `keep`."""
        for header in self.headers():
            if header.tick > tick and header.name is None and KEEP not in header.tags:
                self.delete(header.snapshot_id)

    def shrink(self, most_bytes: float) -> list[SnapshotHeader]:
        """Remove the oldest snapshots that no person named until the folder fits; the newest one always stays."""
        if self._bytes is None:
            self._bytes = sum(self.sizes())
        if self._bytes <= most_bytes:
            return []
        removed = []
        for header in reversed(self.headers()[1:]):
            if self._bytes <= most_bytes:
                break
            if not header.is_kept:
                self.delete(header.snapshot_id)
                removed.append(header)
        return removed


def _size(snapshot: Snapshot) -> int:
    return sum(getattr(snapshot.header, part) for part in PARTS)


def check_name(text: str, kind: str = "name") -> None:
    """Refuse what can't be typed again, or could lead out of a folder."""
    if not can_be_typed(text):
        raise SnapshotError(f"{text!r} can't {kind} a snapshot; use {ALLOWED}")


def check_tags(*tags: str) -> None:
    """Refuse tags that can't be typed again, and the one that ptp gives."""
    for tag in tags:
        check_name(tag, "tag")
        if tag == EVENT:
            raise SnapshotError(f"the tag {EVENT!r} says what took a snapshot; choose another tag")


class Ring:
    """Holds so many snapshots; a new one pushes the oldest out."""

    def __init__(self, size: int) -> None:
        self._snapshots: deque[Snapshot] = deque(maxlen=size)

    def __len__(self) -> int:
        return len(self._snapshots)

    def add(self, snapshot: Snapshot) -> None:
        """Keep a snapshot."""
        self._snapshots.append(snapshot)

    def back(self, count: int) -> Snapshot:
        """Return the *count*-th newest snapshot; those newer than it are forgotten, for they are of another future."""
        if not 1 <= count <= len(self._snapshots):
            raise SnapshotError(f"can't go back {count} snapshots; {len(self._snapshots)} are in memory")
        for _ in range(count - 1):
            self._snapshots.pop()
        return self._snapshots[-1]

    def forget_after(self, tick: int) -> None:
        """Forget the snapshots of a future that was discarded."""
        while self._snapshots and self._snapshots[-1].header.tick > tick:
            self._snapshots.pop()

    def newest_first(self) -> list[Snapshot]:
        """Return every snapshot, newest first."""
        return list(reversed(self._snapshots))
