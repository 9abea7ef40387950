"""Steering a run and its snapshots: a live one is asked through its control socket, another is changed on disk."""

from __future__ import annotations

import warnings
from contextlib import closing

from msgspec import Struct

from ptp._util.clock import Clock
from ptp.recording import RunDirectory
from ptp.recording.history import rewind
from ptp.recording.maintenance import changing
from ptp.recording.packed import is_packed
from ptp.records import Rewound
from ptp.replay import Tape
from ptp.replay.proof import Prover, save_proven
from ptp.replay.travel import check_own, travel
from ptp.retention.rollup import unpack_run
from ptp.runner.control import ask
from ptp.runner.protocol import Request
from ptp.runner.run import engine_of, recorded_answers
from ptp.runner.steering import check_behind
from ptp.runs.settings import read_config
from ptp.snapshots import SnapshotHeader, SnapshotStore, take
from ptp.snapshots.keys import KEYS, KeyFile
from ptp.worlds.knowledge import knowledge_of


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
    """What a live run replied."""

    run_id: str
    tick: int
    paused: bool | None
    """Whether it is paused now."""
    snapshot: SnapshotLine | None = None
    """The snapshot that was taken or restored."""


def steer(directory: RunDirectory, request: Request) -> Steered:
    """Ask a live run to do something, and return where it stands then."""
    answer = ask(directory, request)
    assert answer.now is not None
    snapshot = None if answer.snapshot is None else line_of(answer.snapshot)
    return Steered(directory.run_id, answer.now.tick, answer.now.paused, snapshot)


def store_of(directory: RunDirectory) -> SnapshotStore:
    """Return the snapshots on disk of a run."""
    return SnapshotStore(directory.path / "snapshots")


def create_snapshot(directory: RunDirectory, name: str | None, message: str | None) -> SnapshotHeader:
    """Take a snapshot at a run's last tick."""
    config = read_config(directory)
    with directory.owned():
        metadata = directory.read_metadata()
        answers = recorded_answers(directory, config)
        engine = engine_of(directory, metadata, config, Clock(), answers=answers)
        with closing(engine.world), closing(Tape(directory)) as tape:
            travel(engine, tape, directory.path / "snapshots", tape.length)
            snapshot = take(engine, metadata.run_id, metadata.agent, "requested", metadata.rewinds,
                            name=name, message=message)  # fmt: skip
            store, compress = store_of(directory), config.snapshot.compress
            if not config.snapshot.validate:
                return store.save(snapshot, compress)
            with closing(Prover(engine.world.spec, engine.world.facts.render_mode, trusted=True)) as prover:
                return save_proven(
                    store, snapshot, compress, lambda *it: prover.prove(it[0], tape, it[1]), warnings.warn
                )


def restore_snapshot(directory: RunDirectory, wanted: str) -> SnapshotHeader:
    """Let the tape be what led to a snapshot, so that `ptp resume` continues from it; the rest is discarded."""
    store = store_of(directory)
    with directory.owned():
        header = store.find(wanted)
        store.load(header)  # a damaged one is refused before anything is discarded
        with closing(Tape(directory)) as tape:
            check_own(header, tape, tape.metadata.facts)
            shared = tape.shared(header)
        _rewind(directory, header.tick, f"restored {wanted}", header.rewinds)
        _forget_after(directory, shared)
    return header


def restore_tick(directory: RunDirectory, tick: int) -> None:
    """Discard what came after a tick, so that `ptp resume` continues from it."""
    with directory.owned():
        with closing(Tape(directory)) as tape:
            check_behind(tick, tape.length)
        _rewind(directory, tick, f"restored tick {tick}")
        _forget_after(directory, tick)


def _forget_after(directory: RunDirectory, tick: int) -> None:
    """Remove the snapshots and key states of ticks that were given up, but for what a person named."""
    store_of(directory).forget_after(tick)
    KeyFile(directory.path / "snapshots" / KEYS).forget_after(tick)


def _rewind(directory: RunDirectory, tick: int, reason: str, branch: int | None = None) -> None:
    if is_packed(directory.database):
        unpack_run(directory)
    metadata = directory.read_metadata()
    metadata.rewinds += 1
    back = Rewound(metadata.rewinds, Clock().time(), metadata.ticks or tick, tick, reason, 0, branch)
    metadata.status, metadata.ticks, metadata.stop, metadata.tape_digest = "manual_stop", None, None, None
    with changing(directory, "rolled back", metadata) as connection:
        rewind(connection, metadata.run_id, back, knowledge_of(metadata.facts.family))
