"""Which store a profile asks for."""

from __future__ import annotations

from pathlib import Path

from ptp.config.tree import Screenshot
from ptp.errors import RecordingError
from ptp.frames.archive import ArchiveStore
from ptp.frames.files import FileStore
from ptp.frames.profiles import StorageProfile
from ptp.frames.shots import Store
from ptp.frames.sink import ForwardingStore

GIGABYTE = 1_000_000_000


def make_store(run: Path, config: Screenshot, profile: StorageProfile, sink_url: str | None = None) -> Store:
    """Return where the pictures of a run go."""
    if profile.tier == "none":
        return Store()
    try:
        store = _make_local(run, config, profile)
    except OSError as problem:
        raise RecordingError(f"can't keep pictures in {run}: {problem.strerror or problem}") from None
    if sink_url is None:
        return store
    return ForwardingStore(store, sink_url, run.name, profile.format, config.quality)


def quota_of(config: Screenshot, profile: StorageProfile) -> int:
    """Return the bytes that the pictures of a run may take."""
    quota = int(config.max_storage * GIGABYTE)
    return min(quota, profile.preview_bytes) if profile.tier == "stream" else quota


def _make_local(run: Path, config: Screenshot, profile: StorageProfile) -> Store:
    quota = quota_of(config, profile)
    if profile.tier == "archive":
        return ArchiveStore(run, quota, profile, config.quality)
    once = profile.snapshot_deduplication
    return FileStore(run, quota, profile.format, config.quality, compress=config.compress, once=once)
