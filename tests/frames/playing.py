"""A run with pictures: engine, recorder and keeper, wired as a runner would."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import apsw
import numpy as np

from ptp._util.clock import SystemClock, iso
from ptp._util.ids import uuid7
from ptp.agents import make_agent
from ptp.config import RunConfig
from ptp.config.tree import Limits, Screenshot, TickRate
from ptp.engine import Engine, Notice
from ptp.frames import Counts, FrameKeeper, StorageProfile, VideoWriter, find_profile, frame_statements
from ptp.frames.pictures import Pixels
from ptp.frames.ring import FrameRing
from ptp.recording import Recorder, RunDirectory
from ptp.records import Metadata
from ptp.testing import FakeWorld
from ptp.versioning import SCHEMA_VERSION
from ptp.worlds import World, find_world, make_world


class PixelWorld(FakeWorld):
    """A world whose picture a test sets; it counts how often it is drawn."""

    def __init__(self, pixels: Pixels | str | None = None) -> None:
        super().__init__()
        self.picture: Pixels | str | None = still() if pixels is None else pixels
        self.drawn = 0

    def frame(self) -> Any:
        self.drawn += 1
        return self.picture


class Snowing(PixelWorld):
    """Another picture every time: the first drawn is noise(1)."""

    def frame(self) -> Any:
        super().frame()
        return noise(self.drawn)


def still(width: int = 160, height: int = 144) -> Pixels:
    return np.full((height, width, 3), 200, np.uint8)


def noise(seed: int, width: int = 64, height: int = 64) -> Pixels:
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), np.uint8)


class Played:
    """A finished run: its folder, what was told, and the figures of its pictures."""

    def __init__(self, path: Path, notices: list[Notice], counts: Counts, ring: FrameRing) -> None:
        self.path = path
        self.notices = notices
        self.counts = counts
        self.ring = ring

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        connection = apsw.Connection(str(self.path / "game_data.db"), flags=apsw.SQLITE_OPEN_READONLY)
        found = list(connection.execute(sql))
        connection.close()
        return found


def play(
    folder: Path,
    world: World | str,
    ticks: int,
    screenshot: Screenshot | None = None,
    profile: StorageProfile | str | None = None,
    *,
    video: Path | None = None,
    sink: str | None = None,
) -> Played:
    """Play a run as a runner would, with pictures."""
    made = make_world(find_world(world)) if isinstance(world, str) else world
    limits, pace = Limits(max_ticks=ticks), TickRate(normal=0)
    config = replace(RunConfig(), limits=limits, tick_rate=pace, screenshot=screenshot or Screenshot())
    directory = RunDirectory.create(folder, uuid7())
    recorder = Recorder(directory, _metadata(directory, made), config)
    recorder.accept(frame_statements(directory.run_id))
    engine = Engine(made, make_agent("random", made, config.agent, 1), config, SystemClock(), 1)
    if not isinstance(profile, StorageProfile):
        profile = find_profile(profile or made.facts.storage_profile)
    film = None if video is None else VideoWriter(video, 50)
    keeper = FrameKeeper(made, directory.path, config.screenshot, profile, engine.clock, video=film, sink_url=sink)
    notices: list[Notice] = []

    def tell(records: Any) -> None:
        recorder.add(records)
        notices.extend(record for record in records if type(record) is Notice)

    while engine.stop is None:
        records = engine.tick()
        tell(records)
        tell(keeper.look(records, engine.progress.signals.engaged))
    _, told = keeper.measure(engine.progress.ticks)
    tell(told)
    tell(keeper.close())
    recorder.metadata.status, recorder.metadata.ticks = "completed", engine.progress.ticks
    recorder.finish()
    directory.release()
    made.close()
    return Played(directory.path, notices, keeper.counts, keeper.ring)


def _metadata(directory: RunDirectory, world: World) -> Metadata:
    return Metadata(
        run_id=directory.run_id,
        status="running",
        ptp_version="0",
        schema_version=SCHEMA_VERSION,
        experiment_name="default",
        world=world.spec,
        facts=world.facts,
        agent="random",
        random_seed=1,
        started_at=iso(time.time()),
    )
