"""The parts that serve one run, wired once."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import msgspec

from ptp.config import RunConfig
from ptp.engine import Engine
from ptp.frames import Camera, StorageProfile, find_profile, video_of_run
from ptp.frames.video import check_video
from ptp.recording import Recorder
from ptp.recording.log import RunLog
from ptp.records import Record
from ptp.runner.control import ControlServer
from ptp.runner.keeper import SnapshotKeeper
from ptp.runner.live import LiveFeed
from ptp.sinks import Fanout, RunContext, Sink
from ptp.worlds import World

EVERY = 1.0  # seconds between two measurements


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
    """Measures tick rate, memory and cost, and what the world says of itself."""

    inline = True

    def began(self, run: RunContext) -> None:
        """Know the run."""
        self._run = run
        self._at = run.clock.monotonic()
        self._ticks = run.tick

    def took(self, records: Sequence[Record]) -> None:
        """Measure, if the last measurement is a second old."""
        run, now = self._run, self._run.clock.monotonic()
        passed = now - self._at
        if passed < EVERY:
            return
        ticks = run.tick
        run.measure("tick_rate", round((ticks - self._ticks) / passed, 3), "ticks/s")
        run.measure("cost", run.play.progress.cost, "$")
        for name, value in run.play.world.measurements().items():
            run.measure(name, value, "")
        memory = resident_megabytes()
        if memory is not None:
            run.measure("memory", round(memory, 3), "MB")
        self._at, self._ticks = now, ticks


def resident_megabytes() -> float | None:
    """Return the memory that this process holds, where the system tells it."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except (OSError, IndexError, ValueError):
        return None
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


class Services:
    """Recorder, camera, snapshots, live feed and control of one run; all but the last are sinks."""

    def __init__(self, run: RunContext, engine: Engine, recorder: Recorder, sinks: Sequence[Sink]) -> None:
        self.run = run
        self.engine = engine
        self.recorder = recorder
        camera = open_camera(run)
        self.keeper = SnapshotKeeper(run, engine, recorder)
        self.live = LiveFeed(run, camera.ring)
        self.fanout = Fanout(run, [recorder, RunLog(), camera, self.keeper, self.live, Health(), *sinks])
        self.control = ControlServer(run.path, run.clock, self.live)
