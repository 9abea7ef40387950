"""What the API answers about snapshots, those that others may fetch too, and about what changes a run."""

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
    """The command that goes on with it, when it is not live."""


class Forked(Struct):
    """A new run that was begun from another."""

    run_id: str
    parent: str
    """The run it came from."""
    tick: int
    """The last tick that both share."""


class Steered(Struct):
    """What a live run answered."""

    run_id: str
    tick: int
    paused: bool | None
    """Whether it is held now."""
    snapshot: SnapshotLine | None = None
    """The snapshot that was taken or restored."""


class SharedSnapshot(Struct, frozen=True):
    """A snapshot that others may fetch."""

    run_id: str
    """The run it is of."""
    snapshot_id: str
    name: str | None
    """Its name, if a person gave one."""
    message: str | None
    """What it is for, in a person's words."""
    tick: int
    created_at: str
    """When it was taken, UTC."""
    world: str
    """The world it needs."""
    world_version: str
    """The version of that world."""
    rom_sha1: str | None
    """The cartridge it needs; null for a world without one."""
    agent: str
    location: str
    """Where in the world it is, in the world's words."""
    download: str
    """The path, on this server, that `ptp snapshot import` fetches it from."""


class SharedList(Struct, frozen=True):
    """Snapshots that others may fetch, newest run first."""

    snapshots: list[SharedSnapshot]
    more: bool
    """Whether there are others beyond the limit."""
