"""Snapshots: everything needed to resume from a tick, in memory and on disk."""

from ptp.snapshots.checkpoints import CheckpointManager
from ptp.snapshots.snapshot import Snapshot, SnapshotHeader, take
from ptp.snapshots.store import Ring, SnapshotStore
from ptp.snapshots.tape import SharedTape

__all__ = ["CheckpointManager", "Ring", "SharedTape", "Snapshot", "SnapshotHeader", "SnapshotStore", "take"]
