"""Which table a record goes to, and how."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any, TypeAlias

import apsw
import msgspec
from msgspec.structs import astuple

from ptp.engine.records import DecisionEnded, DecisionMade, EpisodeEnded, Happened, Step
from ptp.recording.entries import ErrorSeen, MetricTaken

# Rows that one statement inserts: SQLite works through them without Python's lock, beside the run.
# A longer statement would not be kept prepared (apsw keeps those below 16 KB).
BLOCKS = (400, 20)
TIMESTAMP = "strftime('%Y-%m-%dT%H:%M:%fZ', {}, 'unixepoch')"

ValuesOf: TypeAlias = Callable[[Any], tuple[Any, ...]]
_json = msgspec.json.Encoder().encode

# Which column takes what: {field} is a field of the record, {id} its number, {moment} its time, {run} the run.
TABLES: dict[type[msgspec.Struct], tuple[str, dict[str, str]]] = {
    Step: ("steps", {name: f"{{{name}}}" for name in Step.__struct_fields__}),
    EpisodeEnded: (
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
    DecisionMade: (
        "action_history",
        {
            "decision_id": "{id}",
            "run_id": "{run}",
            "timestamp": "{moment}",
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
    ErrorSeen: (
        "errors",
        {
            "error_id": "{id}",
            "run_id": "{run}",
            "timestamp": "{moment}",
            "error_type": "{type}",
            "error_message": "{message}",
            "stack_trace": "{trace}",
            "context": "json_object('tick', {tick})",
            "recovered": "{recovered}",
            "recovery_action": "{recovery}",
        },
    ),
    MetricTaken: (
        "performance_metrics",
        {
            "metric_id": "{id}",
            "run_id": "{run}",
            "timestamp": "{moment}",
            "tick": "{tick}",
            "metric_type": "{type}",
            "value": "{value}",
            "unit": "{unit}",
        },
    ),
}


class Statement(msgspec.Struct, frozen=True):
    """How records of one kind are written: an SQL statement in which ?1, ?2, ... are the values of a record."""

    sql: str
    values: ValuesOf = astuple
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


class StateTexts:
    """States as JSON; a decision is made in the state after a step, and that is written once."""

    KNOWN = 1000  # states that may be asked for again

    def __init__(self) -> None:
        self._known: dict[int, tuple[Any, str]] = {}  # with the state itself, so that no other gets its id

    def text(self, state: Any) -> str:
        """Return a state as JSON."""
        known = self._known.get(id(state))
        if known is None:
            if len(self._known) >= self.KNOWN:
                self._known.clear()
            known = self._known[id(state)] = (state, _json(state).decode())
        return known[1]

    def step(self, step: Step) -> tuple[Any, ...]:
        """Return the values of a step."""
        state = step.state
        return (*astuple(step)[:-1], None if state is None else self.text(state))

    def decision(self, decision: DecisionMade) -> tuple[Any, ...]:
        """Return the values of a decision."""
        number, at, tick, state, *rest = astuple(decision)
        return (number, at, tick, self.text(state), *rest)


def _insert(record: type[msgspec.Struct], run_id: str, values_of: ValuesOf) -> Statement:
    """Return the INSERT for records of one kind."""
    table, columns = TABLES[record]
    fields = record.__struct_fields__
    places = {name: f"column{at}" for at, name in enumerate(fields, 1)}
    places["run"] = f"'{run_id}'"
    places["id"] = numbered(run_id, places.get("number", ""))
    places["moment"] = TIMESTAMP.format(places.get("at", ""))
    values = ", ".join(columns.values()).format_map(places)
    row = f"({','.join('?' * len(fields))})"

    def sql(rows: int) -> str:
        return f"INSERT INTO {table} ({', '.join(columns)}) SELECT {values} FROM (VALUES {','.join([row] * rows)})"

    return Statement(sql(1), values_of, tuple((size, sql(size)) for size in BLOCKS))


def numbered(run_id: str, number: str) -> str:
    """Return the SQL of an id that tells run and number, and sorts by it."""
    return f"printf('{run_id[:24]}%012x', {number})"


def _event_values(happened: Happened) -> tuple[Any, ...]:
    event = happened.event
    kind = event.__struct_config__.tag
    return happened.at, happened.tick, happened.index, kind, _json(event).decode()


def statements(run_id: str) -> dict[type[msgspec.Struct], Statement]:
    """Return the statement for each kind of record that is kept in the database."""
    states = StateTexts()
    values: dict[type[msgspec.Struct], ValuesOf] = {Step: states.step, DecisionMade: states.decision}
    inserts = {record: _insert(record, run_id, values.get(record, astuple)) for record in TABLES}
    return inserts | {
        DecisionEnded: Statement(
            "UPDATE action_history SET execution_status = ?2, execution_error = ?3, execution_duration_ms = ?4 "
            f"WHERE decision_id = {numbered(run_id, '?1')}"
        ),
        Happened: Statement(
            "INSERT INTO events (event_id, run_id, timestamp, tick, kind, detail) VALUES "
            f"(printf('{run_id[:24]}%012x/%02d', ?2, ?3), '{run_id}', {TIMESTAMP.format('?1')}, ?2, ?4, ?5)",
            _event_values,
        ),
    }
