"""Snapshots in lists, and what steering a run answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from ptp.snapshots import SnapshotHeader


class SnapshotLine(Struct):
    """A snapshot in a list."""

    snapshot_id: str
    name: str | None
    """The name that a person gave it."""
    tick: int
    episode: int
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
    shared = {name: getattr(header, name) for name in SnapshotLine.__struct_fields__[:-2]}
    return SnapshotLine(**shared, bytes=header.payload_bytes, on_disk=bool(header.payload_hash))


class SnapshotList(Struct):
    """The snapshots of a run, newest first."""

    snapshots: list[SnapshotLine]
    total_count: int


class Restored(Struct):
    """A run that went back."""

    run_id: str
    tick: int
    """The tick it is at now."""
    live: bool
    """Whether it plays on by itself."""
    next: str | None
    """The command that resumes it, when it is not live."""


class Steered(Struct):
    """What a live run answered."""

    run_id: str
    tick: int
    paused: bool | None
    """Whether it is held now."""
    snapshot: SnapshotLine | None = None
    """The snapshot that was taken or restored."""
