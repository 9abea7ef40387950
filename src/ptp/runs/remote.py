"""Asking a live run: the one place of this room that speaks to a control socket."""

from __future__ import annotations

import base64

from ptp.recording.directory import RunDirectory
from ptp.runner.control import ask
from ptp.runner.protocol import ListSnapshots, Picture, Request, Restore, Status, TakeSnapshot
from ptp.runs.answers.steering import Restored, Steered, line_of
from ptp.snapshots import SnapshotHeader


def steer(directory: RunDirectory, request: Request) -> Steered:
    """Ask a live run to do something, and return where it stands then."""
    answer = ask(directory, request)
    assert answer.now is not None
    snapshot = None if answer.snapshot is None else line_of(answer.snapshot)
    return Steered(directory.run_id, answer.now.tick, answer.now.paused, snapshot)


def is_paused(directory: RunDirectory) -> bool:
    """Whether a live run is paused."""
    return bool(steer(directory, Status()).paused)


def snapshots(directory: RunDirectory) -> list[SnapshotHeader]:
    """Return the snapshots of a live run, in memory and on disk."""
    return ask(directory, ListSnapshots()).snapshots or []


def take_snapshot(directory: RunDirectory, name: str | None, message: str | None) -> SnapshotHeader:
    """Have a live run take a snapshot."""
    taken = ask(directory, TakeSnapshot(name, message)).snapshot
    assert taken is not None
    return taken


def restore(directory: RunDirectory, wanted: str) -> Restored:
    """Take a live run back to a snapshot, which may be in its memory only."""
    known = (h.snapshot_id for h in snapshots(directory) if wanted in (h.snapshot_id, h.name, "latest"))
    return Restored(directory.run_id, steer(directory, Restore(next(known, wanted))).tick, True, None)


def held_picture(directory: RunDirectory, tick: int, patience: float) -> tuple[int, str, bytes]:
    """Return the picture of a tick, or of one before it, that a live run has in memory: its tick, format and file."""
    frame = ask(directory, Picture(tick), patience).frame
    assert frame is not None
    data = frame.data.encode() if frame.format == "text" else base64.b64decode(frame.data)
    return frame.tick, frame.format, data
