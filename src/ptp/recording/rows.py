"""How records become rows: the statements for each type, derived from the table that the type names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain, count
from time import gmtime, strftime
from typing import Any, TypeAlias

import apsw
import msgspec
from msgspec.structs import astuple

from ptp.records import (
    DecisionEnded,
    DecisionMade,
    FrameKept,
    FrameRemoved,
    FrameShrunk,
    Record,
    Step,
    Transition,
    columns_of,
)
from ptp.records.happened import RECORD_VERSION
from ptp.records.table import Kept

# Rows that one statement inserts: SQLite works through them without Python's lock, beside the run.
# A longer statement would not be kept prepared (apsw keeps those below 16 KB).
BLOCKS = (400, 20)
TIMESTAMP = "strftime('%Y-%m-%dT%H:%M:%fZ', {}, 'unixepoch')"
IN_ARCHIVE = "file_path > ?1 || '#' AND file_path < ?1 || '$'"  # the sign after # ends the paths that begin with it

ValuesOf: TypeAlias = Callable[[Any], tuple[Any, ...]]
_json = msgspec.json.Encoder().encode


class Statement(msgspec.Struct, frozen=True):
    """How records of one type are written: an SQL statement in which ?1, ?2, ... are the values of a record."""

    sql: str
    values: ValuesOf = astuple
    blocks: tuple[tuple[int, str], ...] = ()
    """The same for so many records at once, the largest first."""
    plain: bool = False
    """Whether the values are the columns of the row just as SQLite has them."""

    def execute(self, connection: apsw.Connection, records: Sequence[Any]) -> list[tuple[Any, ...]]:
        """Write records, and return their values."""
        rows = [*map(self.values, records)]
        done = 0
        for size, sql in self.blocks:
            while len(rows) - done >= size:
                connection.execute(sql, tuple(chain.from_iterable(rows[done : done + size])))
                done += size
        if done < len(rows):
            connection.executemany(self.sql, rows[done:])
        return rows


class JsonTexts:
    """Data as JSON; a state that stands in several records is written once."""

    KNOWN = 1000  # states that may be asked for again

    def __init__(self) -> None:
        self._known: dict[int, tuple[Any, str]] = {}  # with the state itself, so that no other gets its id

    def text(self, value: Any) -> str:
        """Return data as JSON."""
        known = self._known.get(id(value))
        if known is None:
            if len(self._known) >= self.KNOWN:
                self._known.clear()
            known = self._known[id(value)] = (value, _json(value).decode())
        return known[1]


def statements(run_id: str, connection: apsw.Connection) -> dict[type, tuple[Statement, ...]]:
    """Return the statements for each type of record, in the order in which they are to be written."""
    texts = JsonTexts()
    kept = [record for record in Record.__args__ if issubclass(record, Kept)]
    inserts: dict[type, tuple[Statement, ...]] = {
        record: (_insert(record, run_id, texts, connection),) for record in kept
    }
    inserts[Step] = (_plain(connection, "steps", STEP_COLUMNS, _step_values(texts.text)),)
    decision = _decision_values(texts.text, run_id)
    inserts[DecisionMade] = (_plain(connection, "action_history", DECISION_COLUMNS, decision),)
    inserts[Transition] = (_plain(connection, "transitions", TRANSITION_COLUMNS, _transition_values),)
    inserts[FrameKept] += (Statement("UPDATE steps SET frame_ref = ?2 WHERE tick = ?1", _tick_and_path),)
    return inserts | {
        DecisionEnded: (
            Statement(
                "UPDATE action_history SET execution_status = ?2, execution_error = ?3, execution_duration_ms = ?4 "
                f"WHERE decision_id = {numbered(run_id, '?1')}"
            ),
        ),
        FrameShrunk: (
            Statement(
                "UPDATE screenshots SET file_size_bytes = ?2, metadata = json_set(metadata, '$.content', ?3) "
                "WHERE file_path = ?1"
            ),
        ),
        FrameRemoved: (_forget_frames("steps", "frame_ref = NULL"), _forget_frames("screenshots", _GONE)),
    }


_GONE = "file_path = NULL, file_size_bytes = 0"


def _forget_frames(table: str, change: str) -> Statement:
    """Return the statement for removed pictures: one path before a tick, or, without a tick, all in an archive."""
    chosen = f"SELECT tick FROM screenshots WHERE iif(?2 IS NULL, {IN_ARCHIVE}, file_path = ?1 AND tick < ?2)"
    return Statement(f"UPDATE {table} SET {change} WHERE tick IN ({chosen})")


def _tick_and_path(frame: FrameKept) -> tuple[Any, ...]:
    return frame.tick, frame.path


def _insert(record: type[Kept], run_id: str, texts: JsonTexts, connection: apsw.Connection) -> Statement:
    """Return the INSERT for records of one type."""
    columns = [column for column in columns_of(record) if column.field != "frame_ref"]
    places = {column.field: f"column{at}" for at, column in enumerate(columns, 1)}
    filled = {column.name: places[column.field] for column in columns}
    for column in columns:
        if column.kind == "number":
            filled[column.name] = numbered(run_id, places[column.field])
        elif column.kind == "moment":
            filled[column.name] = TIMESTAMP.format(places[column.field])
    values_of = _values(record, texts, len(columns))
    if record.serial is not None:
        filled[record.serial] = numbered(run_id, f"column{len(columns) + 1}")
        values_of = _with_number(values_of, connection, record.table, record.serial)
    if record.has_run:
        filled["run_id"] = f"'{run_id}'"
    filled |= {name: sql.format(**places, run=run_id, prefix=run_id[:24]) for name, sql in record.fixed.items()}
    return _statement(record, filled, len(columns) + bool(record.serial), values_of)


def _statement(record: type[Kept], filled: dict[str, str], width: int, values_of: ValuesOf) -> Statement:
    verb = "INSERT OR REPLACE" if record.replaces else "INSERT"
    head = f"{verb} INTO {record.table} ({', '.join(filled)}) SELECT {', '.join(filled.values())} FROM (VALUES "
    row = f"({','.join('?' * width)})"
    blocks = tuple((size, f"{head}{','.join([row] * size)})") for size in BLOCKS)
    return Statement(f"{head}{row})", values_of, blocks)


def _values(record: type[Kept], texts: JsonTexts, width: int) -> ValuesOf:
    """Return what turns a record into values: data becomes JSON, everything else stays."""
    places = [at for at, column in enumerate(columns_of(record)) if column.kind == "json"]
    text = texts.text

    def values(it: Any) -> tuple[Any, ...]:
        row = list(astuple(it)[:width])
        for place in places:
            if row[place] is not None:
                row[place] = text(row[place])
        return tuple(row)

    return values if places else astuple


# -- steps, decisions and transitions, of which there are most: their rows are made here, just as SQLite has them --


STEP_COLUMNS = (
    "tick, episode, step, command, reward, terminated, truncated, elapsed, state_hash, state, frame_ref, info, actor"
)
TRANSITION_COLUMNS = ", ".join(column.name for column in columns_of(Transition))
DECISION_COLUMNS = (
    "decision_id, run_id, timestamp, tick, game_state, decision_type, decision_context, reasoning, confidence_score, "
    "decision_latency_ms, tokens_used, api_cost, model_used, execution_status, execution_error, context_version, "
    "execution_duration_ms"
)


def _plain(connection: apsw.Connection, table: str, columns: str, values_of: ValuesOf) -> Statement:
    """Return the INSERT for rows that are complete; a migrated table may have its columns in another order."""
    there: list[Any] = connection.execute(
        "SELECT group_concat(name, ', ') FROM pragma_table_info(?)", (table,)
    ).fetchall()
    head, row = f"INSERT INTO {table} ({columns}) VALUES ", f"({','.join('?' * len(columns.split()))})"
    blocks = tuple((size, head + ",".join([row] * size)) for size in BLOCKS)
    return Statement(head + row, values_of, blocks, plain=there == [(columns,)])


def _held(value: float | None) -> float | None:
    return 0.0 if value == 0 else value  # SQLite can't hold a zero that is negative


def _step_values(text: Callable[[Any], str]) -> ValuesOf:
    def values(it: Step) -> tuple[Any, ...]:
        state, info, reward = it.state, it.info, it.reward
        if reward != reward:  # SQLite can't hold what is not a number
            reward = None
        return (it.tick, it.episode, it.step, it.command, _held(reward), it.terminated, it.truncated, it.elapsed or 0.0,
                it.state_hash, None if state is None else text(state), it.frame_ref,
                None if info is None else _json(info).decode(), it.actor)  # fmt: skip

    return values


def _transition_values(it: Transition) -> tuple[Any, ...]:
    state, then = it.state, it.next_state
    return (it.tick, it.episode, str(state) if type(state) is int else _json(state).decode(), it.action,
            _held(it.reward), str(then) if type(then) is int else _json(then).decode(), it.terminated,
            _held(it.td_error), _held(it.q_delta), it.visits)  # fmt: skip


def _decision_values(text: Callable[[Any], str], run_id: str) -> ValuesOf:
    prefix, second, begins = run_id[:24], 0, ""  # the second in which the last one was made, in milliseconds and text

    def values(it: DecisionMade) -> tuple[Any, ...]:
        nonlocal second, begins
        state, context, at = it.state, it.context, round(it.at * 1000)
        if not second <= at < second + 1000:
            second = at // 1000 * 1000
            begins = strftime("%Y-%m-%dT%H:%M:%S.", gmtime(at // 1000))
        return (f"{prefix}{it.number:012x}", run_id, f"{begins}{at - second:03d}Z", it.tick,
                None if state is None else text(state), it.type, None if context is None else _json(context).decode(),
                it.reasoning, _held(it.confidence), _held(it.latency_ms), it.tokens, _held(it.cost), it.model,
                it.status, it.error, RECORD_VERSION, _held(it.duration_ms))  # fmt: skip

    return values


def _with_number(values_of: ValuesOf, connection: apsw.Connection, table: str, column: str) -> ValuesOf:
    """Add a number that goes on from the last one in the table; it is looked up when the first record comes."""
    numbers = None

    def values(it: Any) -> tuple[Any, ...]:
        nonlocal numbers
        if numbers is None:
            numbers = count(last_number(connection, table, column) + 1)
        return (*values_of(it), next(numbers))

    return values


def numbered(run_id: str, number: str) -> str:
    """Return the SQL of an id that tells run and number, and sorts by it."""
    return f"printf('{run_id[:24]}%012x', {number})"


def last_number(connection: apsw.Connection, table: str, column: str) -> int:
    """Return the highest number that an id in a table was made of, 0 when there is none; what was given up counts."""
    given_up = f"SELECT max(row ->> '{column}') FROM abandoned_rows WHERE name = '{table}'"
    rows: list[Any] = connection.execute(f"SELECT max({column}) FROM {table} UNION ALL {given_up}").fetchall()
    return max(0 if newest is None else int(newest[24:36], 16) for (newest,) in rows)
