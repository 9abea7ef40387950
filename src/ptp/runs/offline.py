"""Snapshots of a run that is not running: taking one at its last tick, and going back to one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager

import apsw

from ptp._util.clock import Clock
from ptp.errors import RecordingError, SnapshotError
from ptp.recording import RunDirectory
from ptp.recording.database import open_for_writing
from ptp.recording.history import rewind
from ptp.records import Rewound
from ptp.replay import Tape
from ptp.replay.travel import check_own, travel
from ptp.runner.run import engine_of
from ptp.runs.settings import read_config
from ptp.snapshots import SnapshotHeader, SnapshotStore, take
from ptp.worlds.knowledge import knowledge_of


def store_of(directory: RunDirectory) -> SnapshotStore:
    """Return the snapshots on disk of a run."""
    return SnapshotStore(directory.path / "snapshots")


@contextmanager
def owned(directory: RunDirectory) -> Iterator[None]:
    """Own a run directory for a moment."""
    directory.acquire()
    try:
        yield
    finally:
        directory.release()


def create_snapshot(directory: RunDirectory, name: str | None, message: str | None) -> SnapshotHeader:
    """Take a snapshot at a run's last tick."""
    config = read_config(directory)
    with owned(directory):
        metadata = directory.read_metadata()
        engine = engine_of(directory, metadata, config, Clock())
        with closing(engine.world), closing(Tape(directory)) as tape:
            travel(engine, tape, store_of(directory), tape.length)
            snapshot = take(engine, metadata.run_id, metadata.agent, "asked for", metadata.rewinds,
                            name=name, message=message)  # fmt: skip
        return store_of(directory).save(snapshot, config.snapshot.compress, config.snapshot.validate)


def restore_snapshot(directory: RunDirectory, wanted: str) -> SnapshotHeader:
    """Give up what came after a snapshot, so that `ptp resume` goes on from it."""
    store = store_of(directory)
    with owned(directory):
        header = store.find(wanted)
        store.load(header)  # a damaged one is refused before anything is given up
        _check_restorable(directory, header, wanted)
        _rewind(directory, header, f"restored {wanted}")
        store.forget_after(header.tick)
    return header


def _check_restorable(directory: RunDirectory, header: SnapshotHeader, wanted: str) -> None:
    with closing(Tape(directory)) as tape:
        check_own(header, tape, tape.metadata.facts)
        if not tape.is_current(header):
            raise SnapshotError(f"snapshot {wanted!r} belongs to ticks that were rolled back; choose another")


def _rewind(directory: RunDirectory, header: SnapshotHeader, reason: str) -> None:
    metadata = directory.read_metadata()
    try:
        connection = open_for_writing(directory.database)
        with connection:
            metadata.rewinds += 1
            from_tick = metadata.ticks or header.tick
            back = Rewound(metadata.rewinds, Clock().time(), from_tick, header.tick, reason, 0)
            rewind(connection, metadata.run_id, back, knowledge_of(metadata.facts.family))
        connection.close()
    except apsw.Error as problem:
        raise RecordingError(f"the run can't be rolled back: {problem}") from None
    metadata.status, metadata.ticks, metadata.stop = "manual_stop", None, None
    directory.write_metadata(metadata)
