"""The parts that serve one run, wired once: its camera, its measurements, and when snapshots are taken."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import msgspec

from ptp.config import RunConfig
from ptp.engine import Engine
from ptp.errors import SnapshotError
from ptp.frames import Camera, StorageProfile, find_profile, video_of_run
from ptp.frames.video import check_video
from ptp.recording import Recorder
from ptp.recording.learning import LearningStatistics
from ptp.recording.log import RunLog
from ptp.records import DecisionMade, Record, ResourceUse, RunResult, SnapshotTaken
from ptp.replay import Tape
from ptp.replay.proof import Prover, save_proven
from ptp.runner.control import ControlServer
from ptp.runner.live import LiveFeed
from ptp.runner.rewinding import KeyKeeper
from ptp.sinks import Fanout, RunContext, Sink
from ptp.snapshots import Ring, Snapshot, SnapshotHeader, SnapshotStore, take
from ptp.snapshots.snapshot import EVENT
from ptp.snapshots.triggers import Triggers
from ptp.worlds import World

INTERVAL = 1000  # ticks between snapshots in memory when none go to disk
GIGABYTE = 1e9
EVERY = 1.0  # seconds between two measurements
EVERY_USE = 10.0  # seconds between two looks at what the run takes of the machine


def choose_profile(config: RunConfig, world: World) -> StorageProfile:
    """Return how the pictures are kept; what can't be done is refused here, before anything is written."""
    storage = config.storage
    if config.video.record:
        check_video(world)
    file = None if storage.profiles is None else Path(storage.profiles)
    profile = find_profile(storage.profile or world.facts.storage_profile, file)
    wanted = config.screenshot.format
    return profile if wanted is None else msgspec.structs.replace(profile, format=wanted)


def open_camera(run: RunContext) -> Camera:
    """Return the camera of a run."""
    world = run.play.world
    video = video_of_run(run.path, world, run.tick + 1) if run.config.video.record else None
    return Camera(run, choose_profile(run.config, world), video)


class Health(Sink):
    """Measures tick rate, latency, memory and cost, what the run takes of the machine, and what the world says."""

    inline = True

    def __init__(self, disk_used: Callable[[], int]) -> None:
        self._disk_used = disk_used

    def began(self, run: RunContext) -> None:
        """Know the run."""
        self._run = run
        self._at = self._used_at = run.clock.monotonic()
        self._ticks = run.tick
        self._latencies: list[float] = []
        self._cpu = time.process_time()

    def took(self, records: Sequence[Record]) -> None:
        """Measure, if the last measurement is a second old."""
        self._latencies += [record.latency_ms for record in records if type(record) is DecisionMade]
        now = self._run.clock.monotonic()
        if now - self._at >= EVERY:
            self._measure(now)
        if now - self._used_at >= EVERY_USE:
            self._measure_use(now)

    def _measure(self, now: float) -> None:
        run, ticks = self._run, self._run.tick
        run.measure("tick_rate", round((ticks - self._ticks) / (now - self._at), 3), "ticks/s")
        run.measure("cost", run.play.progress.cost, "$")
        if self._latencies:
            run.measure("latency", round(sum(self._latencies) / len(self._latencies), 3), "ms")
            self._latencies.clear()
        for name, value in run.play.world.measurements().items():
            run.measure(name, value, "")
        memory = resident_megabytes()
        if memory is not None:
            run.measure("memory", round(memory, 3), "MB")
        self._at, self._ticks = now, ticks

    def _measure_use(self, now: float) -> None:
        memory, cpu = resident_megabytes(), time.process_time()
        share = 100 * (cpu - self._cpu) / max(now - self._used_at, 1e-3)
        use = ResourceUse(
            self._run.clock.time(), round(share, 2), None if memory is None else round(memory), self._disk_used()
        )
        self._run.tell(use)
        self._used_at, self._cpu = now, cpu

    def ended(self, result: RunResult | None) -> None:
        """Measure once more, so that a short run has figures, too."""
        now = self._run.clock.monotonic()
        if now > self._at:
            self._measure(now)
        self._measure_use(now)


def resident_megabytes() -> float | None:
    """Return the memory that this process holds, where the system reports it."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except (OSError, IndexError, ValueError):
        return None
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


class SnapshotKeeper(Sink):
    """Takes snapshots into memory and onto disk."""

    inline = True
    each_tick = True

    def __init__(self, run: RunContext, engine: Engine, recorder: Recorder) -> None:
        self._run = run
        self._engine = engine
        self._recorder = recorder
        self._config = config = run.config.snapshot
        self._triggers = Triggers(config.on_event, engine.world)
        world = engine.world
        self._prover = Prover(world.spec, world.facts.render_mode, trusted=True) if config.validate else None
        self.ring = Ring(config.memory)
        self.store = SnapshotStore(recorder.directory.path / "snapshots")
        self._progress = engine.progress
        self._watches = bool(self._triggers)
        self._triggers.settle(engine.progress)
        self._interval = config.disk or (INTERVAL if config.memory else 0)
        self._due = float("inf")
        self._set_due(engine.progress.ticks)

    def _set_due(self, tick: int) -> None:
        if self._interval:
            self._due = tick + self._interval

    def took(self, records: Sequence[Record]) -> None:
        """Look at what a tick brought, and take the snapshots that are due."""
        wanted, self._engine.checkpoints = self._engine.checkpoints, ()
        for name in wanted:
            self._keep(f"checkpoint {name}", name=f"{name}-{self._progress.ticks}", tags=(EVENT, "checkpoint"))
        for word, name in self._triggers.found(records, self._progress) if self._watches else ():
            self._keep(f"event {word}", name=f"{name}-{self._progress.ticks}", tags=(EVENT, word))
        if self._progress.ticks >= self._due:
            self._set_due(self._progress.ticks)
            self._keep("interval", to_disk=bool(self._config.disk))

    def _keep(self, reason: str, to_disk: bool = True, **details: object) -> None:
        """Take a snapshot now; it is written beside the run, after the steps that led to it are committed."""
        snapshot = self._take(reason, to_disk, **details)

        def write_or_warn() -> None:
            try:
                self._write(snapshot)
            except SnapshotError as problem:  # the run continues
                self._warn(problem)

        if to_disk:
            self._recorder.later(write_or_warn)

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
        snapshot.header.seal = self._recorder.head
        if self._prover is None:
            header = self.store.save(snapshot, self._config.compress)
        else:
            header = save_proven(self.store, snapshot, self._config.compress, self._prove, self._warn)
        removed = self.store.shrink(self._config.max_disk * GIGABYTE)
        if removed:
            message = f"removed {len(removed)} old snapshots to stay below {self._config.max_disk:g} GB"
            self._run.notice("warning", "snapshots_removed", message)
        return header

    def _prove(self, snapshot: Snapshot, name: str) -> None:
        prover = self._prover
        assert prover is not None
        known = prover.problem
        with closing(Tape(self._recorder.directory)) as tape:
            prover.prove(snapshot, tape, name)
        if prover.problem != known:
            self._warn(f"snapshots are read back, but not restored: {prover.problem}")

    def _warn(self, problem: object) -> None:
        self._run.notice("warning", "snapshot_failed", str(problem))

    def close(self) -> None:
        """Free the world in which snapshots were proven, once all are written."""
        if self._prover is not None:
            self._prover.close()

    def finish(self) -> None:
        """Take the last snapshot of a run that ends well, unless the last tick has one already."""
        self._recorder.flush()
        newest = self.store.headers()[:1]
        if self._config.name is not None or not newest or newest[0].tick != self._progress.ticks:
            self._keep("end of run", name=self._config.name)
            self._recorder.flush()  # so that what goes wrong with it is still heard

    def rewound(self, tick: int) -> None:
        """Forget the snapshots of a future that was discarded, but for those that a person has named."""
        self.ring.forget_after(tick)
        self.store.forget_after(tick)
        self._set_due(tick)
        self._triggers.settle(self._progress)

    def find(self, wanted: str) -> Snapshot:
        """Return a snapshot by name or id, from memory or disk."""
        for snapshot in self.ring.newest_first():
            if snapshot.header.answers_to(wanted):
                return snapshot
        return self.store.load(self.store.find(wanted))

    def headers(self) -> list[SnapshotHeader]:
        """Return the headers of every snapshot, in memory and on disk."""
        on_disk = {header.snapshot_id: header for header in self.store.headers()}
        in_memory = {item.header.snapshot_id: item.header for item in self.ring.newest_first()}
        both = in_memory | on_disk
        return sorted(both.values(), key=lambda header: (header.tick, header.snapshot_id), reverse=True)


class Services:
    """Recorder, camera, snapshots, live feed and control of one run; all but the last are sinks."""

    def __init__(self, run: RunContext, engine: Engine, recorder: Recorder, sinks: Sequence[Sink]) -> None:
        self.run = run
        self.engine = engine
        self.recorder = recorder
        camera = open_camera(run)
        self.keeper = SnapshotKeeper(run, engine, recorder)
        self.keys = KeyKeeper(run, engine, recorder)
        self.live = LiveFeed(run, camera.ring)
        health = Health(camera.disk_used)
        self.fanout = Fanout(run, [recorder, RunLog(), camera, self.keeper, self.keys, self.live, health,
                                   LearningStatistics(), *sinks])  # fmt: skip
        self.control = ControlServer(run.path, run.clock, self.live)
