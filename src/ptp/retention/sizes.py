"""How much each run takes, by what it is."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from ptp.errors import PtpError
from ptp.frames.disk import free_bytes, tree_bytes
from ptp.recording import RunDirectory
from ptp.recording.directory import run_paths

PARTS = ("frames", "snapshots", "video", "episodes")


class RunSize(msgspec.Struct):
    """The bytes of a run."""

    run_id: str
    status: str
    world: str | None
    database: int = 0
    frames: int = 0
    snapshots: int = 0
    video: int = 0
    episodes: int = 0
    other: int = 0
    total: int = 0


class DataSize(msgspec.Struct):
    """The bytes of every run, of what else ptp keeps, and what the disk has left."""

    runs: list[RunSize]
    other: int
    total: int
    free: int


def measure_run(directory: RunDirectory) -> RunSize:
    """Return what a run takes."""
    try:
        metadata = directory.read_metadata()
        size = RunSize(directory.run_id, metadata.status, metadata.world.name)
    except PtpError:
        size = RunSize(directory.run_id, "unreadable", None)
    with os.scandir(directory.path) as entries:
        for entry in entries:
            kept = entry.name if entry.name in PARTS else "other"
            part = "database" if entry.name.startswith("game_data.db") else kept
            is_dir = entry.is_dir(follow_symlinks=False)
            taken = tree_bytes(Path(entry.path)) if is_dir else entry.stat(follow_symlinks=False).st_size
            setattr(size, part, getattr(size, part) + taken)
            size.total += taken
    return size


def measure_runs(data_dir: Path) -> DataSize:
    """Return what everything takes, oldest run first."""
    runs = []
    for path in run_paths(data_dir):
        try:
            runs.append(measure_run(RunDirectory(path)))
        except FileNotFoundError:
            continue  # removed while we looked
    kept = sum(run.total for run in runs)
    everything = tree_bytes(data_dir)
    return DataSize(runs, max(0, everything - kept), max(everything, kept), free_bytes(data_dir))
