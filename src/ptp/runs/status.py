"""How a run stands: the answer of /api/v1/status, read from the run's database."""

from __future__ import annotations

from ptp.config import RunConfig
from ptp.recording import RunDirectory
from ptp.recording.database import Database
from ptp.records import DecisionMade, Metadata
from ptp.runs.answers.status import DecisionPipeline, DecisionStatus, Status, SystemHealth
from ptp.runs.data import stamp
from ptp.runs.settings import find_config
from ptp.runs.spending import calls_remaining
from ptp.runs.states import state_at
from ptp.runs.tables import read
from ptp.worlds.knowledge import knowledge_of

STATUSES: dict[str, DecisionStatus] = {
    "pending": "processing",
    "success": "completed",
    "partial": "completed",
    "failed": "failed",
}


def read_status(directory: RunDirectory, metadata: Metadata) -> Status:
    """Return how a run stands."""
    with Database(directory.database) as database:
        state, knowledge = state_at(database), knowledge_of(metadata.facts.family)
        return Status(
            run_id=metadata.run_id,
            experiment_name=metadata.experiment_name,
            started_at=metadata.started_at,
            elapsed_seconds=last_elapsed(database, metadata),
            current_state=knowledge.describe(state),
            decision_pipeline=_pipeline(database),
            system_health=_health(directory, database, metadata, knowledge.is_engaged(state)),
        )


def last_elapsed(database: Database, metadata: Metadata) -> float | None:
    """Return the seconds of play so far."""
    for (elapsed,) in database.rows("SELECT elapsed FROM steps ORDER BY tick DESC LIMIT 1"):
        return round(float(elapsed), 3)
    return metadata.elapsed_seconds


def _pipeline(database: Database) -> DecisionPipeline:
    rest = "WHERE execution_status IS NOT 'rolled_back' ORDER BY decision_id DESC LIMIT 1"
    for made in read(database, DecisionMade, rest):
        return DecisionPipeline(
            stamp(made.at), made.type, made.confidence, made.latency_ms, made.tokens, made.cost,
            STATUSES.get(made.status),
        )  # fmt: skip
    return DecisionPipeline(None, None, None, None, None, None, None)


def _health(directory: RunDirectory, database: Database, metadata: Metadata, engaged: bool) -> SystemHealth:
    config = find_config(directory, database)
    return SystemHealth(
        tick_rate_actual=newest_metric(database, "tick_rate"),
        tick_rate_target=target_rate(config, engaged),
        memory_usage_mb=newest_metric(database, "memory"),
        api_calls_remaining=calls_remaining(config, database, metadata),
        error_count=database.row("SELECT count(*) FROM errors")[0],
        snapshot_count=len(list((directory.path / "snapshots").glob("*.ptpsnap"))),
    )


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
