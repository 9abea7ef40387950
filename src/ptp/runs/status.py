"""The status of a run: the answer of /api/v1/status, read from the run's database."""

from __future__ import annotations

import time
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct

from ptp._util.clock import iso
from ptp._util.lazy import lazy
from ptp.config import RunConfig
from ptp.errors import PtpError
from ptp.recording import RunDirectory
from ptp.recording.continuing import play_on
from ptp.recording.database import Database
from ptp.records import DecisionMade, Metadata, Step
from ptp.runs.settings import find_config
from ptp.runs.summary import RunSummary
from ptp.runs.tables import read, stamp
from ptp.runs.ticks import VALID, episode_return, newest_tick, state_at
from ptp.worlds.knowledge import CurrentState, knowledge_of

if TYPE_CHECKING:
    from ptp.engine import budget
    from ptp.runner import protocol
    from ptp.runs import steering
else:  # what plays is loaded where a live run is asked
    budget, protocol = lazy("ptp.engine.budget"), lazy("ptp.runner.protocol")
    steering = lazy("ptp.runs.steering")

RECENT = 1_000  # decisions that the price of a call is taken from
DecisionStatus = Literal["pending", "processing", "completed", "failed"]
STATUSES: dict[str, DecisionStatus] = {
    "pending": "processing",
    "success": "completed",
    "partial": "completed",
    "failed": "failed",
}


class DecisionPipeline(Struct):
    """The newest decision."""

    last_decision_at: str | None
    """When it was made, in UTC."""
    last_decision_type: str | None
    """What the agent calls it."""
    last_decision_confidence: float | None
    """How sure the agent was, from 0 to 1."""
    last_decision_latency_ms: float | None
    """How long the agent thought."""
    tokens_this_decision: int | None
    cost_this_decision: float | None
    current_decision_status: DecisionStatus | None
    """Its status; null before the first one."""


class SystemHealth(Struct):
    """The health of the run's process."""

    tick_rate_actual: float | None
    """Ticks per second, as last measured."""
    tick_rate_target: float | None
    """Ticks per second to keep; 0 is as fast as possible."""
    memory_usage_mb: float | None
    """Megabytes that the run's process holds."""
    api_calls_remaining: int | None
    """Model calls that are left: as the provider said with its newest answer, or as many as the dollars of `--max-cost`
    or of the budget pay for at the mean price of the newest thousand decisions, whichever are fewer. Null where nothing
    is said or set, or while nothing was paid for."""
    error_count: int
    snapshot_count: int


class Progress(Struct):
    """How far the play has come, in any world."""

    tick: int
    """The newest tick."""
    episode: int | None
    """The episode it is in; null before the first tick."""
    episode_step: int | None
    episode_return: float | None
    """The sum of the episode's rewards; null late in an episode of very many steps."""
    total_reward: float | None
    """The sum of all rewards, as the run last reported it."""
    last_command: str | None
    """By its name, where it has one."""
    observation: Any
    """What the agent sees; null where the world tells a state instead."""


class Status(Struct):
    """A run at this moment."""

    run_id: str
    experiment_name: str
    """The plan it belongs to."""
    started_at: str
    """When it began, in UTC."""
    elapsed_seconds: float | None
    current_state: CurrentState
    decision_pipeline: DecisionPipeline
    system_health: SystemHealth


class RunDetail(Struct):
    """Everything about a run except its ticks."""

    run: RunSummary
    """The run in a line."""
    live: bool
    """Whether a process plays it now."""
    paused: bool | None
    """Whether it is paused; null when it is not live."""
    elapsed_seconds: float | None
    progress: Progress
    family: str
    """The kind of world: gameboy, toy_text, gymnasium."""
    render_mode: str | None
    """How the world draws itself: rgb_array, ansi, or null when it has no picture."""
    signals: list[str]
    """The signals that the world reports, such as caught, badges and level."""
    commands: list[str]
    """The commands that occur most among the newest, most often first; by name where they have names."""
    command_names: list[str]
    """The names of the commands 0, 1, 2, ..., where the world has them."""
    ticks_per_second: float | None
    """The world's own pace, at which a playback at speed 1 shows it; null when the run did not keep it."""
    rewinds: int
    """How often the run went back."""
    parent_tick: int | None
    """The tick at which it left its parent."""
    versions: dict[str, str]
    """The versions that a replay depends on."""
    screenshots: int
    """Pictures that were kept."""
    model: str | None
    """The language model that plays; null when none does."""
    resume_with: str
    """The command that plays on; for a completed run one that raises the limit it reached, or forks it."""


def read_status(directory: RunDirectory, metadata: Metadata) -> Status:
    """Return the status of a run."""
    with Database(directory.database) as database:
        state, knowledge = state_at(database), knowledge_of(metadata.facts.family)
        config = find_config(directory, database)
        return Status(
            run_id=metadata.run_id,
            experiment_name=metadata.experiment_name,
            started_at=metadata.started_at,
            elapsed_seconds=_last_elapsed(database, metadata),
            current_state=knowledge.describe(state),
            decision_pipeline=_pipeline(database),
            system_health=SystemHealth(
                tick_rate_actual=newest_metric(database, "tick_rate"),
                tick_rate_target=target_rate(config, knowledge.is_engaged(state)),
                memory_usage_mb=newest_metric(database, "memory"),
                api_calls_remaining=None if config is None else _calls_remaining(config, database, metadata),
                error_count=database.row("SELECT count(*) FROM errors")[0],
                snapshot_count=len(list((directory.path / "snapshots").glob("*.ptpsnap"))),
            ),
        )


def read_detail(directory: RunDirectory, metadata: Metadata, line: RunSummary) -> RunDetail:
    """Return everything about a run except its ticks."""
    paused = None
    if metadata.status == "running":
        with suppress(PtpError):  # it ended between two looks
            paused = steering.steer(directory, protocol.Status()).paused
    with Database(directory.database) as database:
        config = find_config(directory, database)
        recent = "SELECT command FROM steps ORDER BY tick DESC LIMIT 500"
        commands = database.rows(f"SELECT command FROM ({recent}) GROUP BY command ORDER BY count(*) DESC LIMIT 20")
        return RunDetail(
            run=line,
            live=metadata.status == "running",
            paused=paused,
            elapsed_seconds=_last_elapsed(database, metadata),
            progress=read_progress(database, metadata),
            family=metadata.facts.family,
            render_mode=metadata.facts.render_mode,
            signals=list(metadata.facts.signals),
            commands=[metadata.facts.name_command(row[0]) for row in commands],
            command_names=list(metadata.facts.commands),
            ticks_per_second=metadata.facts.ticks_per_second,
            rewinds=metadata.rewinds,
            parent_tick=metadata.parent.tick if metadata.parent else None,
            versions={"ptp": metadata.ptp_version, "schema": metadata.schema_version, **metadata.facts.origin},
            screenshots=database.row("SELECT count(*) FROM screenshots")[0],
            model=None if config is None else config.agent.model,
            resume_with=f"ptp resume {directory.run_id}" if config is None else play_on(metadata, config),
        )


def read_progress(database: Database, metadata: Metadata) -> Progress:
    """Return how far the play has come."""
    tick = newest_tick(database)
    step = next(read(database, Step, "WHERE tick = ?", tick), None)
    return Progress(
        tick=tick,
        episode=None if step is None else step.episode,
        episode_step=None if step is None else step.step,
        episode_return=episode_return(database, tick),
        total_reward=metadata.total_reward,
        last_command=None if step is None else metadata.facts.name_command(step.command),
        observation=state_at(database).get("observation"),
    )


def _last_elapsed(database: Database, metadata: Metadata) -> float | None:
    for (elapsed,) in database.rows("SELECT elapsed FROM steps ORDER BY tick DESC LIMIT 1"):
        return round(float(elapsed), 3)
    return metadata.elapsed_seconds


def _pipeline(database: Database) -> DecisionPipeline:
    for made in read(database, DecisionMade, f"WHERE {VALID} ORDER BY decision_id DESC LIMIT 1"):
        return DecisionPipeline(
            stamp(made.at), made.type, made.confidence, made.latency_ms, made.tokens, made.cost,
            STATUSES.get(made.status or ""),
        )  # fmt: skip
    return DecisionPipeline(None, None, None, None, None, None, None)


def newest_metric(database: Database, kind: str) -> float | None:
    """Return the newest measurement of a kind."""
    query = "SELECT value FROM performance_metrics WHERE metric_type = ? ORDER BY tick DESC LIMIT 1"
    return next((row[0] for row in database.rows(query, kind)), None)


def target_rate(config: RunConfig | None, engaged: bool) -> float | None:
    """Return the ticks per second that the run's settings ask for."""
    if config is None:
        return None
    rates = config.tick_rate
    return float(rates.battle if engaged and rates.normal and rates.battle else rates.normal)


def _calls_remaining(config: RunConfig, database: Database, metadata: Metadata) -> int | None:
    """Return how many calls the tightest limit still pays for; null without a limit or before the first payment."""
    query = f"""SELECT avg(api_cost) FROM (SELECT api_cost FROM action_history ORDER BY decision_id DESC LIMIT {RECENT})
                WHERE api_cost > 0"""
    price: float | None = database.row(query)[0]
    rate, end = config.tick_rate, metadata.completed_at
    began = ""  # the present period of the budget; for a run that has ended, the one it ended in
    if rate.budget not in (None, "run"):
        seconds = budget.PERIODS[rate.budget]
        now = time.time() if end is None else datetime.fromisoformat(end).timestamp()
        began = iso(now // seconds * seconds)
    left = []
    for limit, since in ((config.limits.max_cost, ""), (rate.budget_limit, began)):
        if limit is not None:
            spent = "SELECT coalesce(sum(api_cost), 0) FROM action_history WHERE timestamp >= ?"
            left.append(limit - float(database.row(spent, since)[0]))
    said = "SELECT calls_remaining FROM model_calls WHERE calls_remaining IS NOT NULL ORDER BY call_id DESC LIMIT 1"
    calls = [int(remaining) for (remaining,) in database.rows(said)]
    if left and price is not None:
        calls.append(max(0, int(min(left) / price)))
    return min(calls) if calls else None
