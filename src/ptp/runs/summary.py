"""One run in a line."""

from __future__ import annotations

import msgspec

from ptp.recording.tally import Tally
from ptp.records import Metadata, Status


class RunSummary(msgspec.Struct):
    """One run in a list."""

    run_id: str
    """The run's id, a UUIDv7."""
    status: Status
    """Its status now; a run that says running but has no process is crashed."""
    world: str
    agent: str
    experiment_name: str
    """The plan it belongs to."""
    random_seed: int
    started_at: str
    """When it began, in UTC."""
    completed_at: str | None
    """When it ended, in UTC."""
    ticks: int | None
    """Ticks played so far; null where an old run kept no tape."""
    episodes: int | None
    """Whole episodes so far; null where an old run kept no tape."""
    total_reward: float | None
    """The sum of all rewards, those of an episode that has not ended too; null where an old run kept no tape."""
    total_cost: float | None
    """Dollars spent on decisions."""
    stopped_by: str | None
    """What ended it: the name of a limit, `agent`, `Ctrl-C`, and so on."""
    error: str | None
    """What went wrong, if something did."""
    parent: str | None
    """The run that it was forked from."""
    tags: list[str]
    """What people tagged it with, sorted."""
    name: str | None
    """What people call it."""
    notes: str | None
    """What people noted about it."""
    elapsed_seconds: float | None
    """Seconds of play so far; null where nothing was played, or an old run kept no tape."""
    signals: dict[str, float]
    """What the world counts, such as badges, at the end of the run; empty until then, and where it counts nothing."""


def describe(metadata: Metadata, figures: Tally) -> RunSummary:
    """Return the run in a line from its header and what it comes to."""
    return RunSummary(
        run_id=metadata.run_id,
        status=metadata.status,
        world=metadata.world.name,
        agent=metadata.agent,
        experiment_name=metadata.experiment_name,
        random_seed=metadata.random_seed,
        started_at=metadata.started_at,
        completed_at=metadata.completed_at,
        ticks=figures.ticks,
        episodes=figures.episodes,
        total_reward=figures.reward,
        total_cost=figures.cost,
        stopped_by=metadata.stop.name if metadata.stop else None,
        error=metadata.error,
        parent=metadata.parent.run_id if metadata.parent else None,
        tags=metadata.tags,
        name=metadata.name,
        notes=metadata.notes,
        elapsed_seconds=figures.elapsed,
        signals={} if metadata.ticks is None else metadata.signals,
    )
