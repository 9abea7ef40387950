"""When snapshots are taken: at intervals, at events, and on demand."""

from __future__ import annotations

from collections.abc import Sequence

from ptp.engine import Engine
from ptp.errors import SnapshotError
from ptp.recording import Recorder
from ptp.records import Event, Record, SnapshotTaken
from ptp.sinks import RunContext, Sink
from ptp.snapshots import Ring, Snapshot, SnapshotHeader, SnapshotStore, take
from ptp.worlds.knowledge import knowledge_of

INTERVAL = 1000  # ticks between snapshots in memory when none go to disk
GIGABYTE = 1e9


class SnapshotKeeper(Sink):
    """Takes snapshots into memory and onto disk."""

    inline = True
    each_tick = True

    def __init__(self, run: RunContext, engine: Engine, recorder: Recorder) -> None:
        self._run = run
        self._engine = engine
        self._recorder = recorder
        self._config = config = run.config.snapshot
        self._knowledge = knowledge_of(engine.world.facts.family)
        self.ring = Ring(config.memory)
        self.store = SnapshotStore(recorder.directory.path / "snapshots")
        self._progress = engine.progress
        self._watches = bool(config.on_event)
        self._interval = config.disk or (INTERVAL if config.memory else 0)
        self._due = float("inf")
        self._set_due(engine.progress.ticks)

    def _set_due(self, tick: int) -> None:
        if self._interval:
            self._due = tick + self._interval

    def took(self, records: Sequence[Record]) -> None:
        """Look at what a tick told, and take the snapshots that are due."""
        for record in records if self._watches else ():
            if type(record) is Event:
                found = self._knowledge.snapshot_event(record.kind, record.detail)
                if found is not None and found.event in self._config.on_event:
                    self._keep(f"event {found.event}", name=f"{found.name}-{record.tick}", tags=("event", found.event))
        if self._progress.ticks >= self._due:
            self._set_due(self._progress.ticks)
            self._keep("interval", to_disk=bool(self._config.disk))

    def _keep(self, reason: str, to_disk: bool = True, **details: object) -> None:
        """Take a snapshot now; it is written beside the run, after the steps that led to it are committed."""
        snapshot = self._take(reason, to_disk, **details)
        if to_disk:
            self._recorder.later(lambda: self._write_or_warn(snapshot))

    def _write_or_warn(self, snapshot: Snapshot) -> None:
        """Write a snapshot; when that can't be done the run goes on, and a warning says so."""
        try:
            self._write(snapshot)
        except SnapshotError as problem:
            self._run.notice("warning", "snapshot_failed", str(problem))

    def create(self, reason: str, **details: object) -> SnapshotHeader:
        """Take a snapshot, and return when it is on disk."""
        snapshot = self._take(reason, on_disk=True, **details)
        self._recorder.flush()
        return self._write(snapshot)

    def _take(self, reason: str, on_disk: bool, **details: object) -> Snapshot:
        metadata = self._run.metadata
        snapshot = take(self._engine, metadata.run_id, metadata.agent, reason, metadata.rewinds, **details)
        self.ring.add(snapshot)
        header = snapshot.header
        self._run.tell(
            SnapshotTaken(header.snapshot_id, self._run.clock.time(), header.tick, reason, header.name, on_disk,
                          header.save_ms)
        )  # fmt: skip
        return snapshot

    def _write(self, snapshot: Snapshot) -> SnapshotHeader:
        header = self.store.save(snapshot, self._config.compress, self._config.validate)
        removed = self.store.shrink(self._config.max_disk * GIGABYTE)
        if removed:
            message = f"removed {len(removed)} old snapshots to stay below {self._config.max_disk:g} GB"
            self._run.notice("warning", "snapshots_removed", message)
        return header

    def finish(self) -> None:
        """Take the last snapshot of a run that ends well, unless the last tick has one already."""
        self._recorder.flush()
        newest = self.store.headers()[:1]
        if self._config.name is not None or not newest or newest[0].tick != self._progress.ticks:
            self._keep("end of run", name=self._config.name)

    def rewound(self, tick: int) -> None:
        """Forget the snapshots of a future that was given up, but for those that a person has named."""
        self.ring.forget_after(tick)
        self.store.forget_after(tick)
        self._set_due(tick)

    def find(self, wanted: str) -> Snapshot:
        """Return a snapshot by name or id, from memory or disk."""
        for snapshot in self.ring.newest_first():
            if wanted in (snapshot.header.name, snapshot.header.snapshot_id):
                return snapshot
        return self.store.load(self.store.find(wanted))

    def headers(self) -> list[SnapshotHeader]:
        """Return the headers of every snapshot, in memory and on disk."""
        on_disk = {header.snapshot_id: header for header in self.store.headers()}
        in_memory = {item.header.snapshot_id: item.header for item in self.ring.newest_first()}
        both = in_memory | on_disk
        return sorted(both.values(), key=lambda header: (header.tick, header.snapshot_id), reverse=True)
