"""How much each run takes, and which may go: the dry run shows this plan, and the real one carries it out."""

from __future__ import annotations

import os
import re
import time
from collections import Counter
from datetime import datetime
from pathlib import Path

import msgspec

from ptp.config.tree import Storage
from ptp.errors import PtpError, UsageError
from ptp.frames.disk import free_bytes, tree_bytes
from ptp.frames.profiles import StorageProfile, all_profiles
from ptp.recording import RunDirectory
from ptp.recording.directory import run_paths
from ptp.records import Metadata
from ptp.snapshots import SnapshotStore

PARTS = ("frames", "snapshots", "video", "episodes")
DAY = 86400.0  # seconds
STARTING = 3600.0  # seconds in which a folder without a header may be a run that is just starting


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


class Limits(msgspec.Struct, frozen=True):
    """What may stay; None is no limit."""

    max_record_bytes: int | None = None
    max_sessions: int | None = None
    older_than: float | None = None
    """Seconds since the run began."""
    keep_tags: tuple[str, ...] = ()
    profiles: dict[str, StorageProfile] = {}
    """How many runs, and for how long pictures, each storage profile keeps."""


class Doomed(msgspec.Struct):
    """A run that goes, and why."""

    run_id: str
    path: str
    bytes: int
    why: str


class Kept(msgspec.Struct):
    """A run that a limit would remove but that is never touched, and why."""

    run_id: str
    bytes: int
    why: str


class Emptied(msgspec.Struct):
    """A run without its pictures."""

    run_id: str
    pictures: int
    bytes: int
    path: str = ""


class Plan(msgspec.Struct):
    """What pruning would do."""

    remove: list[Doomed]
    protected: list[Kept]
    total: int
    """Bytes of every run now."""
    freed: int
    empty: list[Emptied] = []
    """Runs whose pictures go, because they are older than their storage profile keeps them."""


def parse_bytes(text: str) -> int:
    """Return the bytes of a size such as 2GB, 500M or 1000000."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmgt]?)b?", text.strip().lower())
    if match is None:
        raise UsageError(f"{text!r} is no size; write it as a number of bytes, or with K, M, G or T, such as 2G")
    return int(float(match[1]) * 1000 ** " kmgt".index(match[2] or " "))


def plan_pruning(data_dir: Path, limits: Limits, now: float | None = None) -> Plan:
    """Return which runs go, oldest first: too old, too many, or too large together."""
    now = time.time() if now is None else now
    sizes = {path: tree_bytes(path) for path in run_paths(data_dir)}
    plan = Plan([], [], sum(sizes.values()), 0)
    kinds = {path: _kind(RunDirectory(path)) for path in sizes} if limits.profiles else {}
    newer = Counter(kinds.values())
    for older, (path, size) in enumerate(sizes.items()):
        newer[kinds.get(path)] -= 1
        profile = limits.profiles.get(kinds.get(path) or "")
        most = None if profile is None else profile.max_sessions
        directory = RunDirectory(path)
        age = run_age(directory, now)
        if limits.older_than is not None and age > limits.older_than:
            why = "too old"
        elif limits.max_sessions is not None and len(sizes) - older > limits.max_sessions:
            why = "too many runs"
        elif most is not None and newer[kinds[path]] >= most:
            why = f"more than {most} runs of {kinds[path]}"
        elif limits.max_record_bytes is not None and plan.total - plan.freed > limits.max_record_bytes:
            why = "too many bytes"
        else:
            continue
        protection = _protection(directory, limits, age)
        if protection is not None:
            plan.protected.append(Kept(directory.run_id, size, protection))
        else:
            plan.remove.append(Doomed(directory.run_id, str(path), size, why))
            plan.freed += size
    gone = {doomed.path for doomed in plan.remove}
    for kind, profile in limits.profiles.items():
        if profile.max_picture_days is not None:
            stay = [RunDirectory(path) for path in sizes if kinds[path] == kind and str(path) not in gone]
            plan.empty += plan_cleanup(stay, profile.max_picture_days * DAY, now)
    plan.freed += sum(run.bytes for run in plan.empty)
    return plan


def _kind(directory: RunDirectory) -> str | None:
    try:
        return directory.read_metadata().facts.storage_profile
    except PtpError:
        return None


def plan_cleanup(directories: list[RunDirectory], older_than: float | None, now: float) -> list[Emptied]:
    """Return what each run's pictures take; runs that are played, too young, or without pictures are left out."""
    found = []
    for directory in directories:
        folder = directory.path / "frames"
        if directory.is_alive() or not folder.is_dir():
            continue
        if older_than is not None and run_age(directory, now) <= older_than:
            continue
        files = [path for path in folder.rglob("*") if path.is_file() and not path.name.startswith(".")]
        found.append(Emptied(directory.run_id, len(files), tree_bytes(folder), str(directory.path)))
    return found


def limits_of(storage: Storage) -> Limits:
    """Return what may stay by the settings and the storage profiles."""
    profiles = all_profiles(None if storage.profiles is None else Path(storage.profiles))
    return Limits(storage.max_record_bytes, storage.max_sessions, profiles=profiles)


def run_age(directory: RunDirectory, now: float) -> float:
    """Return the seconds since a run began; of one without a header, since its folder last changed."""
    try:
        began = datetime.fromisoformat(directory.read_metadata().started_at).timestamp()
    except PtpError:
        began = directory.path.stat().st_mtime
    return now - began


def _protection(directory: RunDirectory, limits: Limits, age: float) -> str | None:
    if directory.is_alive():
        return "a process plays it"
    try:
        metadata = directory.read_metadata()
    except PtpError:
        return "it may be starting" if age < STARTING else None
    return treasure(directory, metadata, limits)


def treasure(directory: RunDirectory, metadata: Metadata, limits: Limits) -> str | None:
    """Return why a run that nobody plays must stay, if it must: a tag, or a snapshot that was named or can't be read.

    The name of its experiment is a tag, too.
    """
    for tag in limits.keep_tags:
        if tag in (metadata.experiment_name, *metadata.tags):
            return f"it has the tag {tag!r}"
    folder = directory.path / "snapshots"
    if not folder.is_dir():
        return None
    headers, damaged = SnapshotStore(folder).readable()
    for header in headers:
        if header.is_kept:
            kind = "kept" if header.name is None else "named"
            return f"it has the {kind} snapshot {header.name or header.snapshot_id!r}"
    return f"it has a damaged snapshot: {damaged[0]}" if damaged else None
