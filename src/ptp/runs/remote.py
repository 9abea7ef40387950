"""Asking a live run: the one place of this room that speaks to a control socket."""

from __future__ import annotations

import base64
from typing import Any

import msgspec

from ptp.recording.directory import RunDirectory
from ptp.runner.control import ask
from ptp.runner.live import Frame
from ptp.runs.answers.steering import Restored, Steered, line_of
from ptp.snapshots import SnapshotHeader


def steer(directory: RunDirectory, verb: str, **arguments: Any) -> Steered:
    """Ask a live run to do something, and return where it stands then."""
    answer = ask(directory, verb, **arguments)
    header = answer.get("snapshot")
    snapshot = None if header is None else line_of(msgspec.convert(header, SnapshotHeader))
    tick = answer.get("tick", snapshot.tick if snapshot else 0)
    return Steered(directory.run_id, tick, answer.get("paused"), snapshot)


def is_paused(directory: RunDirectory) -> bool:
    """Whether a live run is paused."""
    return bool(ask(directory, "status")["paused"])


def snapshots(directory: RunDirectory) -> list[SnapshotHeader]:
    """Return the snapshots of a live run, in memory and on disk."""
    return msgspec.convert(ask(directory, "snapshots")["snapshots"], list[SnapshotHeader])


def take_snapshot(directory: RunDirectory, name: str | None, message: str | None) -> SnapshotHeader:
    """Have a live run take a snapshot."""
    return msgspec.convert(ask(directory, "snapshot", name=name, message=message)["snapshot"], SnapshotHeader)


def restore(directory: RunDirectory, wanted: str) -> Restored:
    """Take a live run back to a snapshot, which may be in its memory only."""
    known = (h.snapshot_id for h in snapshots(directory) if wanted in (h.snapshot_id, h.name, "latest"))
    answer = ask(directory, "restore", snapshot=next(known, wanted))
    return Restored(directory.run_id, int(answer["tick"]), True, None)


def held_picture(directory: RunDirectory, tick: int, patience: float) -> tuple[int, str, bytes]:
    """Return the picture of a tick, or of one before it, that a live run has in memory: its tick, format and file."""
    frame = msgspec.convert(ask(directory, "picture", patience, tick=tick), Frame)
    data = frame.data.encode() if frame.format == "text" else base64.b64decode(frame.data)
    return frame.tick, frame.format, data
