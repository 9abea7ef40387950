"""Which table a record goes to, and how: one statement takes a whole batch as JSON.

A batch is one bound value, so SQLite works through it without Python's lock, beside the run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from ptp.engine.records import DecisionEnded, DecisionMade, EpisodeEnded, Happened, Step
from ptp.recording.entries import ErrorSeen, MetricTaken

TIMESTAMP = "strftime('%Y-%m-%dT%H:%M:%fZ', {}, 'unixepoch')"


def _insert(record: type[msgspec.Struct], table: str, columns: Mapping[str, str]) -> str:
    """Return an INSERT; *columns* maps each column to an SQL expression in which a record's field is {field}."""
    places = {name: f"(value->>{index})" for index, name in enumerate(record.__struct_fields__)}
    names = ", ".join(columns)
    values = ", ".join(expression.format_map(places) for expression in columns.values())
    return f"INSERT INTO {table} ({names}) SELECT {values} FROM json_each(?)"


def statements(run_id: str) -> dict[type[msgspec.Struct], str]:
    """Return the statement for each kind of record that is kept in the database."""
    numbered = f"printf('{run_id[:24]}%012x', {{}})"
    run = f"'{run_id}'"
    same = {name: f"{{{name}}}" for name in Step.__struct_fields__}
    return {
        Step: _insert(Step, "steps", same),
        EpisodeEnded: _insert(
            EpisodeEnded,
            "episodes",
            {
                "episode": "{episode}",
                "last_tick": "{tick}",
                "steps": "{steps}",
                "reward": "{reward}",
                "elapsed": "{elapsed}",
                "terminated": "{terminated}",
            },
        ),
        DecisionMade: _insert(
            DecisionMade,
            "action_history",
            {
                "decision_id": numbered.format("{number}"),
                "run_id": run,
                "timestamp": TIMESTAMP.format("{at}"),
                "tick": "{tick}",
                "game_state": "{state}",
                "decision_type": "{type}",
                "decision_context": "{context}",
                "reasoning": "{reasoning}",
                "confidence_score": "{confidence}",
                "decision_latency_ms": "{latency_ms}",
                "tokens_used": "{tokens}",
                "api_cost": "{cost}",
                "model_used": "{model}",
                "execution_status": "{status}",
                "execution_error": "{error}",
                "context_version": "'2.1'",
                "execution_duration_ms": "{duration_ms}",
            },
        ),
        DecisionEnded: (
            "UPDATE action_history SET execution_status = value->>1, execution_error = value->>2, "
            f"execution_duration_ms = value->>3 FROM json_each(?) WHERE decision_id = {numbered.format('value->>0')}"
        ),
        Happened: _insert(
            Happened,
            "events",
            {
                "event_id": f"printf('{run_id[:24]}%012x/%02d', {{tick}}, {{index}})",
                "run_id": run,
                "timestamp": TIMESTAMP.format("{at}"),
                "tick": "{tick}",
                "kind": "(value->3->>'event')",
                "detail": "{event}",
            },
        ),
        ErrorSeen: _insert(
            ErrorSeen,
            "errors",
            {
                "error_id": numbered.format("{number}"),
                "run_id": run,
                "timestamp": TIMESTAMP.format("{at}"),
                "error_type": "{type}",
                "error_message": "{message}",
                "stack_trace": "{trace}",
                "context": "json_object('tick', {tick})",
                "recovered": "{recovered}",
                "recovery_action": "{recovery}",
            },
        ),
        MetricTaken: _insert(
            MetricTaken,
            "performance_metrics",
            {
                "metric_id": numbered.format("{number}"),
                "run_id": run,
                "timestamp": TIMESTAMP.format("{at}"),
                "tick": "{tick}",
                "metric_type": "{type}",
                "value": "{value}",
                "unit": "{unit}",
            },
        ),
    }


_encode = msgspec.json.Encoder().encode


def batch_text(records: Iterable[msgspec.Struct]) -> str:
    """Return records of one kind as the JSON array of arrays that a statement takes."""
    return _encode([msgspec.structs.astuple(record) for record in records]).decode()
