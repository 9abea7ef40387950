"""One run in a line: from its header when it has ended, from its database while it lives or after a crash."""

from __future__ import annotations

import msgspec

from ptp.recording.database import Database
from ptp.recording.directory import Metadata, RunDirectory, Status
from ptp.recording.tags import read_tags
from ptp.versioning import SCHEMA_VERSION


class RunSummary(msgspec.Struct):
    """What a list of runs shows."""

    run_id: str
    status: Status
    world: str
    agent: str
    experiment_name: str
    random_seed: int
    started_at: str
    completed_at: str | None
    ticks: int | None
    episodes: int | None
    total_reward: float | None
    total_cost: float | None
    stopped_by: str | None
    tags: list[str]


def summarise(directory: RunDirectory) -> RunSummary:
    """Return the run in a line."""
    metadata = directory.read_metadata()
    if metadata.ticks is None:
        _count(directory, metadata)
    return RunSummary(
        run_id=metadata.run_id,
        status=metadata.status,
        world=metadata.world.name,
        agent=metadata.agent,
        experiment_name=metadata.experiment_name,
        random_seed=metadata.random_seed,
        started_at=metadata.started_at,
        completed_at=metadata.completed_at,
        ticks=metadata.ticks,
        episodes=metadata.episodes,
        total_reward=metadata.total_reward,
        total_cost=metadata.total_cost,
        stopped_by=metadata.stop.name if metadata.stop else None,
        tags=read_tags(directory),
    )


def _count(directory: RunDirectory, metadata: Metadata) -> None:
    with Database(directory.database) as database:
        query = """SELECT (SELECT max(tick) FROM steps), (SELECT count(*) FROM episodes),
                          (SELECT sum(reward) FROM steps), (SELECT sum(api_cost) FROM action_history)"""
        ticks, metadata.episodes, metadata.total_reward, metadata.total_cost = database.row(query)
        keeps_tape = database.version == SCHEMA_VERSION
    metadata.ticks = ticks or (0 if keeps_tape else None)
