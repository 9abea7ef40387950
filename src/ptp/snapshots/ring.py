"""The newest snapshots in memory, for going back in an instant."""

from __future__ import annotations

from collections import deque

from ptp.errors import SnapshotError
from ptp.snapshots.snapshot import Snapshot


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
        """Forget the snapshots of a future that was given up."""
        while self._snapshots and self._snapshots[-1].header.tick > tick:
            self._snapshots.pop()

    def newest_first(self) -> list[Snapshot]:
        """Return every snapshot, newest first."""
        return list(reversed(self._snapshots))
