"""What the API answers about snapshots, and what changes a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from ptp.snapshots import SnapshotHeader


class SnapshotLine(Struct):
    """A snapshot in a list."""

    snapshot_id: str
    """Its id."""
    name: str | None
    """The name that a person gave it."""
    tick: int
    """The tick it was taken at."""
    episode: int
    """The episode it was taken in."""
    created_at: str
    """When, in UTC."""
    reason: str
    """What it was taken for."""
    message: str | None
    """What a person noted."""
    location: str
    """The kind of situation, in the world's words."""
    bytes: int
    """Its size on disk; 0 when it is in memory only."""
    on_disk: bool
    """Whether it outlives the run's process."""


def line_of(header: SnapshotHeader) -> SnapshotLine:
    """Return a snapshot as it stands in a list."""
    return SnapshotLine(
        snapshot_id=header.snapshot_id,
        name=header.name,
        tick=header.tick,
        episode=header.episode,
        created_at=header.created_at,
        reason=header.reason,
        message=header.message,
        location=header.location,
        bytes=header.payload_bytes,
        on_disk=bool(header.payload_hash),
    )


class SnapshotList(Struct):
    """The snapshots of a run, newest first."""

    snapshots: list[SnapshotLine]
    """The snapshots."""
    total_count: int
    """How many there are."""


class Restored(Struct):
    """A run that went back."""

    run_id: str
    """The run."""
    tick: int
    """The tick it is at now."""
    live: bool
    """Whether it plays on by itself."""
    next: str | None
    """The command that goes on with it, when it is not live."""


class Forked(Struct):
    """A new run that was begun from another."""

    run_id: str
    """The new run."""
    parent: str
    """The run it came from."""
    tick: int
    """The last tick that both share."""


class Steered(Struct):
    """What a live run answered."""

    run_id: str
    """The run."""
    tick: int
    """The tick it is at."""
    paused: bool | None
    """Whether it is held now."""
    snapshot: SnapshotLine | None = None
    """The snapshot that was taken or restored."""
