"""Where a task begins: a snapshot that was given, or a checkpoint that is looked up."""

from __future__ import annotations

from typing import Protocol

from ptp.emulators.results import Task
from ptp.errors import SnapshotError, UsageError


class Kept(Protocol):
    """A checkpoint that was loaded."""

    @property
    def world(self) -> bytes:
        """The state of the world."""
        ...


class Checkpoints(Protocol):
    """Where checkpoints are kept, such as a `CheckpointManager`."""

    def load(self, checkpoint_id: str) -> Kept:
        """Return a checkpoint."""
        ...


def load_start(task: Task, checkpoints: Checkpoints | None) -> bytes | None:
    """Return the snapshot that a task begins in; None for one that begins an episode."""
    if task.checkpoint_id is None:
        return task.snapshot
    if task.snapshot is not None:
        raise UsageError("a task begins at a checkpoint or in a snapshot; leave one out")
    if checkpoints is None:
        raise UsageError(f"the pool knows no checkpoint {task.checkpoint_id}; make it with checkpoints=...")
    state = checkpoints.load(task.checkpoint_id).world
    if not state:
        raise SnapshotError(
            f"checkpoint {task.checkpoint_id} has no state of its world, only a tape; begin with a seed instead"
        )
    return bytes(state)
