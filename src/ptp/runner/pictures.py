"""The pictures of a run: what its settings ask for."""

from __future__ import annotations

from pathlib import Path

import msgspec

from ptp.config import RunConfig
from ptp.frames import Camera, StorageProfile, find_profile, video_of_run
from ptp.frames import adopt as adoption
from ptp.frames.video import check_video
from ptp.recording import RunDirectory
from ptp.sinks import RunContext
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


def adopt_pictures(run: RunContext, parent: RunDirectory, tick: int) -> None:
    """Bring the pictures of the history that a forked run shares into its own folder."""
    quota = choose_profile(run.config, run.play.world).quota(run.config.screenshot)
    run.tell(*adoption.adopt_pictures(run.path, parent, tick, quota))


def open_camera(run: RunContext) -> Camera:
    """Return the camera of a run."""
    world = run.play.world
    video = video_of_run(run.path, world, run.tick + 1) if run.config.video.record else None
    return Camera(run, choose_profile(run.config, world), video)
