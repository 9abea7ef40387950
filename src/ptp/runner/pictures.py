"""The pictures of a run: what its settings ask for."""

from __future__ import annotations

from pathlib import Path

import msgspec

from ptp.config import RunConfig
from ptp.engine import Engine
from ptp.frames import FrameKeeper, StorageProfile, find_profile, frame_statements, video_of_run
from ptp.frames.video import check_video
from ptp.recording import Recorder, RunDirectory
from ptp.worlds import World


def choose_profile(config: RunConfig, world: World) -> StorageProfile:
    """Return how the pictures are kept; what can't be done is refused here, before anything is written."""
    storage = config.storage
    if config.video.record:
        check_video(world)
    file = None if storage.profiles is None else Path(storage.profiles)
    profile = find_profile(storage.profile or world.facts.storage_profile, file)
    wanted = config.screenshot.format
    return profile if wanted is None else msgspec.structs.replace(profile, format=wanted)


def adopt_pictures(config: RunConfig, engine: Engine, recorder: Recorder, parent: RunDirectory, tick: int) -> None:
    """Bring the pictures of the history that a forked run shares into its own folder."""
    from ptp.frames.adopt import adopt_pictures
    from ptp.frames.stores import quota_of

    quota = quota_of(config.screenshot, choose_profile(config, engine.world))
    recorder.accept(frame_statements(recorder.metadata.run_id))
    recorder.add(adopt_pictures(recorder.directory.path, parent, tick, quota))


def open_keeper(config: RunConfig, engine: Engine, recorder: Recorder) -> FrameKeeper:
    """Return the camera of a run, with its records known to the recorder."""
    world, run = engine.world, recorder.directory.path
    profile = choose_profile(config, world)
    recorder.accept(frame_statements(recorder.metadata.run_id))
    video = video_of_run(run, world, engine.progress.ticks + 1) if config.video.record else None
    keeper = FrameKeeper(
        world, run, config.screenshot, profile, engine.clock, video=video, sink_url=config.storage.frame_sink
    )
    engine.before_reset = keeper.before_reset
    return keeper
