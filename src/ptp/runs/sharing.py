"""Handing a snapshot on: one file that holds all that led to it."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any, get_args

import msgspec

from ptp._util.files import write_atomic
from ptp.config import RunConfig
from ptp.config.tree import values_of
from ptp.errors import RunUnreadable, SnapshotError
from ptp.recording import RunDirectory
from ptp.replay import Tape
from ptp.runs.offline import store_of
from ptp.runs.settings import read_config
from ptp.snapshots import SharedTape, SnapshotHeader
from ptp.snapshots.snapshot import pack
from ptp.snapshots.tape import StartFile

START_FILES: tuple[StartFile, ...] = get_args(StartFile)
PLAY = ("world.profile", "world.frames_per_tick", "system.random_seed")


def export_snapshot(directory: RunDirectory, wanted: str, target: Path) -> SnapshotHeader:
    """Write a snapshot and its tape to a file that another machine can go on from."""
    if target.exists():
        raise SnapshotError(f"{target} is there already; choose another file")
    header, data = export_bytes(directory, wanted)
    try:
        write_atomic(target, data)
    except OSError as problem:
        raise SnapshotError(f"{target} can't be written: {problem.strerror}; choose another file") from None
    return header


def export_bytes(directory: RunDirectory, wanted: str) -> tuple[SnapshotHeader, bytes]:
    """Return a snapshot with its tape as the bytes of a file."""
    store = store_of(directory)
    header = store.find(wanted)
    snapshot = store.load(header)
    with closing(Tape(directory)) as tape:
        shared = _shared_tape(directory, tape, header.tick) if tape.is_current(header) else None
    if shared is None and not snapshot.world:
        raise SnapshotError(f"snapshot {wanted!r} belongs to ticks that were rolled back, and so has no tape")
    return header, pack(msgspec.structs.replace(snapshot, tape=shared), compress=True)


def _shared_tape(directory: RunDirectory, tape: Tape, tick: int) -> SharedTape:
    metadata = tape.metadata
    steps = tape.played(tick)
    if len(steps) != tick:
        raise SnapshotError(f"the tape of {metadata.run_id} has {len(steps)} ticks of {tick}; try again")
    return SharedTape(
        random_seed=metadata.random_seed,
        agent_seed=metadata.agent_seed,
        origin=metadata.facts.origin,
        settings=_settings_of(read_config(directory)),
        files=_start_files(tape),
        steps=steps,
        decisions=tape.decided(tick),
        starts=tape.begun(tick),
    )


def _start_files(tape: Tape) -> dict[StartFile, bytes]:
    kept = tape.world.options
    try:
        return {name: Path(kept[name]).read_bytes() for name in START_FILES if name in kept}
    except OSError as problem:
        raise RunUnreadable(f"{problem.filename} can't be read: {problem.strerror}; restore it from a copy") from None


def _settings_of(config: RunConfig) -> dict[str, Any]:
    values = values_of(config).items()
    return {item.path: value for item, value in values if is_shared(item.path) and value != item.default}


def is_shared(path: str) -> bool:
    """Whether a setting says how the game is played, and not where or for how long."""
    return path.startswith(("tick_rate.", "command.")) or path in PLAY
