"""Which table a record goes to, and how."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import Any

import apsw
import msgspec
from msgspec.structs import astuple

from ptp.engine.records import DecisionEnded, DecisionMade, EpisodeEnded, Happened, Step
from ptp.recording.entries import ErrorSeen, MetricTaken

# Rows that one statement inserts: SQLite works through them without Python's lock, beside the run.
# A longer statement would not be kept prepared (apsw keeps those below 16 KB).
BLOCKS = (400, 20)
TIMESTAMP = "strftime('%Y-%m-%dT%H:%M:%fZ', {}, 'unixepoch')"


class Statement(msgspec.Struct, frozen=True):
    """How records of one kind are written: an SQL statement in which ?1, ?2, ... are the values of a record."""

    sql: str
    values: Callable[[Any], tuple[Any, ...]] = astuple
    blocks: tuple[tuple[int, str], ...] = ()
    """The same for so many records at once, the largest first."""

    def execute(self, connection: apsw.Connection, rows: Sequence[tuple[Any, ...]]) -> None:
        """Write rows of values."""
        done = 0
        for size, sql in self.blocks:
            while len(rows) - done >= size:
                connection.execute(sql, tuple(chain.from_iterable(rows[done : done + size])))
                done += size
        if done < len(rows):
            connection.executemany(self.sql, rows[done:])


def _insert(record: type[msgspec.Struct], table: str, columns: Mapping[str, str]) -> Statement:
    """Return an INSERT; *columns* maps each column to an SQL expression in which a record's field is {field}."""
    fields = record.__struct_fields__
    values = ", ".join(columns.values()).format_map({name: f"column{at}" for at, name in enumerate(fields, 1)})
    row = f"({','.join('?' * len(fields))})"

    def sql(rows: int) -> str:
        return f"INSERT INTO {table} ({', '.join(columns)}) SELECT {values} FROM (VALUES {','.join([row] * rows)})"

    return Statement(sql(1), blocks=tuple((size, sql(size)) for size in BLOCKS))


def _event_values(happened: Happened) -> tuple[Any, ...]:
    event = happened.event
    kind = event.__struct_config__.tag
    return happened.at, happened.tick, happened.index, kind, msgspec.json.encode(event).decode()


def statements(run_id: str) -> dict[type[msgspec.Struct], Statement]:
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
        DecisionEnded: Statement(
            "UPDATE action_history SET execution_status = ?2, execution_error = ?3, execution_duration_ms = ?4 "
            f"WHERE decision_id = {numbered.format('?1')}"
        ),
        Happened: Statement(
            "INSERT INTO events (event_id, run_id, timestamp, tick, kind, detail) VALUES "
            f"(printf('{run_id[:24]}%012x/%02d', ?2, ?3), {run}, {TIMESTAMP.format('?1')}, ?2, ?4, ?5)",
            _event_values,
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
