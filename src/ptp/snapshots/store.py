"""Snapshots on disk, one file each, found by id, name or tick; and the newest in memory, to go back in an instant."""

from __future__ import annotations

from collections import OrderedDict, deque
from pathlib import Path

from ptp._util.files import check_regular, write_atomic
from ptp._util.names import ALLOWED, can_be_typed
from ptp.errors import SnapshotError, UnknownName
from ptp.snapshots.snapshot import MOST_FILE, PREFIX, Snapshot, SnapshotHeader, pack, read_header, unpack

CACHE_BYTES = 64 << 20


class SnapshotStore:
    """The snapshots of one run, in its `snapshots/` folder; loaded ones are kept for a while."""

    def __init__(self, folder: Path, cache_bytes: int = CACHE_BYTES) -> None:
        self._folder = folder
        self._cache: OrderedDict[str, tuple[Snapshot, int]] = OrderedDict()
        self._cache_bytes = cache_bytes
        self._bytes: int | None = None  # what the files take, once it was counted

    def save(self, snapshot: Snapshot, compress: bool = False) -> SnapshotHeader:
        """Write a snapshot; a failed write leaves everything as it was."""
        header = snapshot.header
        if header.name is not None:
            if not can_be_typed(header.name):
                raise SnapshotError(f"{header.name!r} can't name a snapshot; use {ALLOWED}")
            if any(other.name == header.name for other in self.headers()):
                raise SnapshotError(f"a snapshot named {header.name!r} is there already; choose another name")
        data = pack(snapshot, compress)
        path = self.path(header.snapshot_id)
        try:
            self._folder.mkdir(exist_ok=True)
            write_atomic(path, data)
        except OSError as problem:
            raise SnapshotError(f"the snapshot can't be written: {problem.strerror}; older ones are intact") from None
        if self._bytes is not None:
            self._bytes += len(data)
        return read_header(data, path.name)[0]

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
            except SnapshotError as problem:
                problems.append(str(problem))
        return headers, problems

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
        key = header.snapshot_id
        if key in self._cache:
            self._cache.move_to_end(key)
            return self._cache[key][0]
        snapshot = self.read(header)
        self._cache[key] = (snapshot, len(snapshot.world))
        while sum(size for _, size in self._cache.values()) > self._cache_bytes:
            self._cache.popitem(last=False)
        return snapshot

    def read(self, header: SnapshotHeader) -> Snapshot:
        """Return a snapshot as it lies on disk."""
        path = self.path(header.snapshot_id)
        self._check(path)
        try:
            data = path.read_bytes()
        except OSError as problem:
            raise SnapshotError(f"{path.name} can't be read: {problem.strerror}; use an older snapshot") from None
        return unpack(data, path.name)

    def delete(self, header: SnapshotHeader) -> int:
        """Remove a snapshot and return its size."""
        path = self.path(header.snapshot_id)
        size = path.stat().st_size
        path.unlink()
        if self._bytes is not None:
            self._bytes -= size
        self._cache.pop(header.snapshot_id, None)
        return size

    def forget_after(self, tick: int) -> None:
        """Remove what was taken after a tick that the run went back to, but for what a person named."""
        for header in self.headers():
            if header.tick > tick and header.name is None:
                self.delete(header)

    def shrink(self, most_bytes: float) -> list[SnapshotHeader]:
        """Remove the oldest snapshots that no person named until the folder fits; the newest one always stays."""
        if self._bytes is None:
            self._bytes = sum(path.stat().st_size for path in self._folder.glob("*.ptpsnap"))
        if self._bytes <= most_bytes:
            return []
        removed = []
        for header in reversed(self.headers()[1:]):
            if self._bytes <= most_bytes:
                break
            if header.name is None or header.tags:
                self.delete(header)
                removed.append(header)
        return removed


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
