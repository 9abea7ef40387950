"""How a run stands: the answer of /api/v1/status, read from the run's database."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from ptp.config.files import read_tree
from ptp.recording import RunDirectory
from ptp.recording.database import Database
from ptp.records import Metadata
from ptp.runs.answers import DecisionPipeline, DecisionStatus, Status, SystemHealth
from ptp.runs.spending import calls_remaining
from ptp.worlds.knowledge import knowledge_of

STATUSES: dict[str, DecisionStatus] = {
    "pending": "processing",
    "success": "completed",
    "partial": "completed",
    "failed": "failed",
}

State = dict[str, Any]


def read_status(directory: RunDirectory, metadata: Metadata) -> Status:
    """Return how a run stands."""
    with Database(directory.database) as database:
        state, knowledge = last_state(database), knowledge_of(metadata.facts.family)
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


def last_state(database: Database, tick: int | None = None) -> State:
    """Return the state after a tick, or after the newest one; it is kept only where it changed."""
    last = 1 << 62 if tick is None else tick
    query = "SELECT state FROM steps WHERE state IS NOT NULL AND tick <= ? ORDER BY tick DESC LIMIT 1"
    for (text,) in database.rows(query, last):
        return decode_state(text)
    query = "SELECT game_state FROM action_history WHERE tick <= ? ORDER BY tick DESC LIMIT 1"
    for (text,) in database.rows(query, last):
        return decode_state(text)
    return {}


def decode_state(text: str | None) -> State:
    """Return a stored state; one that is no object is kept under `observation`."""
    if not text:
        return {}
    state = decode_text(text)
    return state if isinstance(state, dict) else {"observation": state}


def decode_text(text: str) -> Any:
    """Return stored JSON as what it says; what an older run kept as plain words stays so."""
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        return text


def _pipeline(database: Database) -> DecisionPipeline:
    query = """SELECT timestamp, decision_type, confidence_score, decision_latency_ms, tokens_used, api_cost,
                      execution_status
               FROM action_history WHERE execution_status IS NOT 'rolled_back' ORDER BY decision_id DESC LIMIT 1"""
    for at, kind, confidence, latency, tokens, cost, status in database.rows(query):
        return DecisionPipeline(at, kind, confidence, latency, tokens, cost, STATUSES.get(status))
    return DecisionPipeline(None, None, None, None, None, None, None)


def _health(directory: RunDirectory, database: Database, metadata: Metadata, in_battle: bool) -> SystemHealth:
    return SystemHealth(
        tick_rate_actual=newest_metric(database, "tick_rate"),
        tick_rate_target=target_rate(directory.path, in_battle),
        memory_usage_mb=newest_metric(database, "memory"),
        api_calls_remaining=calls_remaining(directory.path, database, metadata),
        error_count=database.row("SELECT count(*) FROM errors")[0],
        snapshot_count=len(list((directory.path / "snapshots").glob("*.ptpsnap"))),
    )


def newest_metric(database: Database, kind: str) -> float | None:
    """Return the newest measurement of a kind."""
    query = "SELECT value FROM performance_metrics WHERE metric_type = ? ORDER BY tick DESC LIMIT 1"
    return next((row[0] for row in database.rows(query, kind)), None)


def target_rate(path: Path, in_battle: bool) -> float | None:
    """Return the ticks per second that the run's settings ask for."""
    config = path / "config.yaml"
    if not config.exists():
        return None
    rates = read_tree(config).get("tick_rate") or {}
    base, battle = rates.get("normal"), rates.get("battle")
    rate = battle if in_battle and base and battle else base
    return None if rate is None else float(rate)
