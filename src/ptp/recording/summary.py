"""One run in a line: from its header when it has ended, from its database while it lives or after a crash."""

from __future__ import annotations

import msgspec

from ptp.recording.database import Database
from ptp.recording.directory import RunDirectory
from ptp.recording.tags import read_tags
from ptp.records import Metadata, Status
from ptp.versioning import SCHEMA_VERSION


class RunSummary(msgspec.Struct):
    """One run in a list."""

    run_id: str
    """The run's id, a UUIDv7."""
    status: Status
    """How it stands now; a run that says running but has no process is crashed."""
    world: str
    """The world that is played."""
    agent: str
    """Who plays it."""
    experiment_name: str
    """The plan it belongs to."""
    random_seed: int
    """Its seed."""
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
    """The words that a person gave it, sorted."""


class Tally(msgspec.Struct, frozen=True):
    """What a run comes to."""

    ticks: int | None = 0
    episodes: int | None = 0
    reward: float | None = 0.0
    cost: float | None = 0.0
    decision: str = ""
    """The newest decision whose cost is in it."""


NOTHING = Tally()
_COUNT = """SELECT (SELECT max(tick) FROM steps), (SELECT count(*) FROM episodes),
                   (SELECT sum(reward) FROM steps WHERE tick > ?1),
                   (SELECT max(decision_id) FROM action_history),
                   (SELECT sum(api_cost) FROM action_history WHERE decision_id > ?2)"""


def summarise(directory: RunDirectory) -> RunSummary:
    """Return the run in a line."""
    metadata = directory.read_metadata()
    return describe(directory, metadata, tally(directory, metadata))


def tally(directory: RunDirectory, metadata: Metadata, before: Tally = NOTHING) -> Tally:
    """Return what a run comes to.

    Of a run that lives, only what came after the tally *before* is counted; it must not have gone back since.
    """
    if metadata.ticks is not None:
        return Tally(metadata.ticks, metadata.episodes, metadata.total_reward, metadata.total_cost)
    with Database(directory.database) as database:
        ticks, episodes, reward, decision, cost = database.row(_COUNT, before.ticks, before.decision)
        if database.version != SCHEMA_VERSION:
            return Tally(None, None, None, cost)
    total, spent = (before.reward or 0.0) + (reward or 0.0), (before.cost or 0.0) + (cost or 0.0)
    return Tally(ticks or 0, episodes, total, spent, decision or "")


def describe(directory: RunDirectory, metadata: Metadata, figures: Tally) -> RunSummary:
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
        tags=read_tags(directory),
    )
