"""Asking a live run through its control socket, and what steering it answers."""

from __future__ import annotations

from msgspec import Struct

from ptp.recording.directory import RunDirectory
from ptp.runner.control import ask
from ptp.runner.protocol import Request
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


def steer(directory: RunDirectory, request: Request) -> Steered:
    """Ask a live run to do something, and return where it stands then."""
    answer = ask(directory, request)
    assert answer.now is not None
    snapshot = None if answer.snapshot is None else line_of(answer.snapshot)
    return Steered(directory.run_id, answer.now.tick, answer.now.paused, snapshot)
