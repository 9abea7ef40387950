"""When snapshots are taken, and how a run goes back to one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ptp.config.tree import Snapshot as SnapshotConfig
from ptp.engine import Engine, Happened, Record
from ptp.errors import SnapshotError
from ptp.recording import Recorder
from ptp.recording.log import LOGGER
from ptp.replay import Tape
from ptp.replay.travel import restore
from ptp.snapshots import Ring, Snapshot, SnapshotHeader, SnapshotStore, take

INTERVAL = 1000  # ticks between snapshots in memory when none go to disk
GIGABYTE = 1e9
EVENTS = {"Caught": "catch", "BattleStarted": "battle", "BadgeEarned": "badge", "Fainted": "death"}


class SnapshotKeeper:
    """Takes snapshots at intervals, at events and on demand, into memory and onto disk."""

    def __init__(self, engine: Engine, recorder: Recorder, config: SnapshotConfig) -> None:
        self._engine = engine
        self._recorder = recorder
        self._config = config
        self.ring = Ring(config.memory)
        self.store = SnapshotStore(recorder.directory.path / "snapshots")
        self.taken = 0
        self._before_rewind: Callable[[], None] = lambda: None
        self._after_rewind: Callable[[int], None] = lambda tick: None
        self._interval = config.disk or (INTERVAL if config.memory else 0)
        self._due = engine.progress.ticks + self._interval

    def on_rewind(self, before: Callable[[], None], after: Callable[[int], None]) -> None:
        """Have others told before the run goes back, and to which tick it went."""
        self._before_rewind, self._after_rewind = before, after

    def after(self, records: Sequence[Record]) -> None:
        """Look at what a tick told, and take the snapshots that are due."""
        if self._config.on_event:
            for record in records:
                if type(record) is Happened:
                    self._at_event(record)
        ticks = self._engine.progress.ticks
        if self._interval and ticks >= self._due:
            self._due = ticks + self._interval
            self._keep("interval", to_disk=bool(self._config.disk))

    def _at_event(self, happened: Happened) -> None:
        event = EVENTS.get(type(happened.event).__name__)
        if event not in self._config.on_event or getattr(happened.event, "side", "own") == "enemy":
            return
        detail = getattr(happened.event, "species", None) or getattr(happened.event, "count", None)
        name = "-".join(str(part) for part in (event, detail, happened.tick) if part is not None)
        self._keep(f"event {event}", name=name, tags=("event", event))

    def _keep(self, reason: str, to_disk: bool = True, **details: object) -> None:
        """Take a snapshot now; it is written beside the run, after the steps that led to it are committed."""
        snapshot = self._take(reason, **details)
        if to_disk:
            self._recorder.later(lambda: self._write_or_warn(snapshot))

    def _write_or_warn(self, snapshot: Snapshot) -> None:
        """Write a snapshot; when that can't be done the run goes on, and a warning says so."""
        try:
            self._write(snapshot)
        except SnapshotError as problem:
            LOGGER.warning("%s", problem, extra={"event": "snapshot_failed", "tick": snapshot.header.tick})

    def create(self, reason: str, **details: object) -> SnapshotHeader:
        """Take a snapshot, and return when it is on disk."""
        snapshot = self._take(reason, **details)
        self._recorder.flush()
        return self._write(snapshot)

    def _take(self, reason: str, **details: object) -> Snapshot:
        metadata = self._recorder.metadata
        snapshot = take(self._engine, metadata.run_id, metadata.agent, reason, metadata.rewinds, **details)
        self.ring.add(snapshot)
        self.taken += 1
        return snapshot

    def _write(self, snapshot: Snapshot) -> SnapshotHeader:
        header = self.store.save(snapshot, self._config.compress, self._config.validate)
        self._shrink()
        return header

    def _shrink(self) -> None:
        removed = self.store.shrink(self._config.max_disk * GIGABYTE)
        if removed:
            message = f"removed {len(removed)} old snapshots to stay below {self._config.max_disk:g} GB"
            LOGGER.warning(message, extra={"event": "snapshots_removed", "tick": self._engine.progress.ticks})

    def finish(self) -> None:
        """Take the last snapshot of a run that ends well, unless the last tick has one already."""
        self._recorder.flush()
        newest = self.store.headers()[:1]
        if self._config.name is not None or not newest or newest[0].tick != self._engine.progress.ticks:
            self._keep("end of run", name=self._config.name)

    def rollback(self, count: int, reason: str) -> SnapshotHeader:
        """Go back *count* snapshots in memory."""
        return self.go_back(self.ring.back(count), reason)

    def go_back(self, snapshot: Snapshot, reason: str) -> SnapshotHeader:
        """Go back to a snapshot of this run; what came after it is given up."""
        self._before_rewind()
        self._recorder.flush()
        tape = Tape(self._recorder.directory)
        try:
            if not tape.is_current(snapshot.header):
                raise SnapshotError(
                    f"snapshot {snapshot.header.snapshot_id} belongs to ticks that were rolled back; choose another"
                )
            dropped = len(self._engine.buffer)
            restore(self._engine, snapshot, tape)
        finally:
            tape.close()
        tick = snapshot.header.tick
        self._recorder.rewind(tick, self._engine.clock.time(), reason, dropped)
        self.ring.forget_after(tick)
        self._after_rewind(tick)
        self.store.forget_after(tick)
        self._due = tick + self._interval
        return snapshot.header

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
