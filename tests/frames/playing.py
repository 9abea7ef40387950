"""A run with pictures: engine, recorder and keeper, wired as a runner would."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import apsw
import numpy as np

from ptp._util.clock import Clock, iso
from ptp._util.ids import uuid7
from ptp.agents import make_agent
from ptp.config import RunConfig, replace
from ptp.config.tree import Limits, Screenshot, Storage, TickRate
from ptp.engine import Engine
from ptp.frames import Camera, Counts, StorageProfile, VideoWriter, find_profile
from ptp.frames.kept import read_kept
from ptp.frames.pictures import FrameRing, Picture, Pixels, decode
from ptp.recording import Recorder, RunDirectory
from ptp.records import Metadata, Notice, Record
from ptp.sinks import Fanout, RunContext, Sink
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


def read_frame(run: Path, reference: str) -> Picture:
    """Return the picture that `steps.frame_ref` or `screenshots.file_path` names."""
    kept = read_kept(run, reference)
    return decode(kept.data, kept.format)


def archived_frames(path: Path, first: int = 1, last: int = 1 << 62) -> list[tuple[int, Picture]]:
    """Return the pictures of an archive from tick *first* to *last*."""
    query = "SELECT tick FROM frames WHERE tick BETWEEN ? AND ? ORDER BY tick"
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    ticks = [tick for (tick,) in connection.execute(query, (first, last))]
    connection.close()
    return [(tick, read_frame(path.parent, f"{path.name}#{tick}")) for tick in ticks]


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
    config = replace(
        RunConfig(),
        limits=limits,
        tick_rate=pace,
        screenshot=screenshot or Screenshot(),
        storage=Storage(frame_sink=sink),
    )
    directory = RunDirectory.create(folder, uuid7())
    agent = make_agent("random", made, config.agent, 1)
    engine = Engine(made, agent, config, Clock(), 1)
    run = RunContext(directory.path, _metadata(directory, made), config, engine.play, engine)
    if not isinstance(profile, StorageProfile):
        profile = find_profile(profile or made.facts.storage_profile)
    recorder = Recorder(directory, run)
    camera = Camera(run, profile, None if video is None else VideoWriter(video, 50))
    notices = Notices()
    fanout = Fanout(run, [recorder, camera, notices])
    fanout.began()
    fanout.take(engine.start(), 0.0)
    while engine.stop is None:
        fanout.take(engine.tick(), engine.progress.elapsed)
    run.metadata.status, run.metadata.ticks = "completed", engine.progress.ticks
    fanout.ended(None)  # type: ignore[arg-type] # nobody here asks how it ended
    directory.release()
    made.close()
    return Played(directory.path, notices.heard, camera.counts, camera.ring)


class Notices(Sink):
    """Remembers what a person should know."""

    inline = True

    def __init__(self) -> None:
        self.heard: list[Notice] = []

    def took(self, records: Sequence[Record]) -> None:
        self.heard += [record for record in records if isinstance(record, Notice)]


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
