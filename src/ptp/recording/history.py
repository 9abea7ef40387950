"""Changing what a run's history is: going back within it, and copying it into another run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw
import msgspec

from ptp._util.clock import iso
from ptp._util.ids import numbered_id
from ptp.errors import SnapshotError
from ptp.recording.branches import Branches, Piece
from ptp.records import Rewound
from ptp.worlds.knowledge import Knowledge

_BY_TICK = ("events", "screenshots", "performance_metrics", "transitions", "learning")
_SHARED = {"steps": "tick <= $last", "episodes": "last_tick <= $last", "episode_starts": "tick <= $last",
           "action_history": "tick < $last", "model_calls": "tick < $last",
           "model_texts": "TRUE", "ai_model_configurations": "TRUE"}  # fmt: skip
"""What a copy takes of the tables that are not simply cut off at a tick."""


def branches_of(rows: Callable[[str], Iterable[tuple[Any, ...]]]) -> Branches:
    """Return the tapes that a run has had; *rows* runs a query."""
    return Branches(rows("SELECT rewind, to_tick, branch FROM rewinds ORDER BY rewind"))


def rewind(connection: apsw.Connection, run_id: str, back: Rewound, knowledge: Knowledge) -> None:
    """Give up the ticks after one, or return to one that was given up, with all that led to it.

    What is given up is kept aside; decisions stay where they are, for they were made and paid for.
    """
    branches = branches_of(lambda sql: connection.execute(sql).fetchall())
    branch = branches.now if back.branch is None else back.branch
    pieces, shared = list(branches.pieces(branch, back.to_tick)), branches.shared(branch, back.to_tick)
    connection.execute(
        "INSERT INTO rewinds VALUES (?, ?, ?, ?, ?, ?, ?)",
        (back.number, iso(back.at), back.from_tick, back.to_tick, back.reason, back.dropped, back.branch),
    )
    _give_up(connection, run_id, back.number, shared, knowledge)
    for piece in pieces:
        _bring_back(connection, piece)
    ((last,),) = connection.execute("SELECT coalesce(max(tick), 0) FROM steps").fetchall()
    if pieces and last != back.to_tick:
        raise SnapshotError(f"the ticks up to {back.to_tick} are no longer kept; choose another snapshot")
    _forget_lost_pictures(connection, shared)
    events = "SELECT 1 FROM abandoned_rows WHERE rewind = ? AND name = 'events' LIMIT 1"
    if pieces or connection.execute(events, (back.number,)).fetchall():  # the tables of the game follow from events
        _settle(connection, run_id, back.to_tick, knowledge)


def _give_up(connection: apsw.Connection, run_id: str, number: int, tick: int, knowledge: Knowledge) -> None:
    connection.execute("INSERT INTO abandoned_steps SELECT ?, * FROM steps WHERE tick > ?", (number, tick))
    connection.execute("DELETE FROM steps WHERE tick > ?", (tick,))
    undone = "WHERE tick >= ? AND execution_status IS NOT 'rolled_back'"
    kept = "json_object('decision_id', decision_id, 'execution_status', execution_status)"
    connection.execute(
        f"INSERT INTO abandoned_rows SELECT ?, tick + 1, 'action_history', {kept} FROM action_history {undone}",
        (number, tick),
    )
    connection.execute(f"UPDATE action_history SET execution_status = 'rolled_back' {undone}", (tick,))
    by_tick = dict.fromkeys((*_BY_TICK, *knowledge.tables_by_tick), "tick")
    for table, column in ({"episodes": "last_tick"} | by_tick).items():
        _set_aside(connection, number, table, column, tick)
    _set_aside(connection, number, "episode_starts", "tick", max(0, tick - 1), later=1)  # one begins with the next tick
    for table, column in knowledge.tables_by_id.items():
        _set_aside(connection, number, table, column, numbered_id(run_id, tick) + "~")


def _set_aside(
    connection: apsw.Connection, number: int, table: str, column: str, last: int | str, later: int = 0
) -> None:
    """Move the rows of a table after a tick, or an id that tells it, to those that were given up."""
    names = _columns(connection, "main", table)
    found: list[Any] = connection.execute(f"SELECT * FROM {table} WHERE {column} > ?", (last,)).fetchall()
    kept = []
    for values in found:
        row = dict(zip(names, values, strict=True))
        tick = row[column] + later if isinstance(last, int) else int(row[column][24:36], 16)
        kept.append((number, tick, table, msgspec.json.encode(row).decode()))
    connection.executemany("INSERT INTO abandoned_rows VALUES (?, ?, ?, ?)", kept)
    connection.execute(f"DELETE FROM {table} WHERE {column} > ?", (last,))


def _bring_back(connection: apsw.Connection, piece: Piece) -> None:
    chosen = "WHERE rewind = ? AND tick > ? AND tick <= ?"
    columns = ", ".join(_columns(connection, "main", "steps"))
    connection.execute(f"INSERT INTO steps ({columns}) SELECT {columns} FROM abandoned_steps {chosen}", piece)
    connection.execute(f"DELETE FROM abandoned_steps {chosen}", piece)
    found: list[Any] = connection.execute(f"SELECT name, row FROM abandoned_rows {chosen}", piece).fetchall()
    for table, text in found:
        row = msgspec.json.decode(text)
        if table == "action_history":
            update = "UPDATE action_history SET execution_status = $execution_status WHERE decision_id = $decision_id"
            connection.execute(update, row)
        else:
            places = ", ".join(f"${name}" for name in row)
            connection.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({places})", row)
    connection.execute(f"DELETE FROM abandoned_rows {chosen}", piece)


def _forget_lost_pictures(connection: apsw.Connection, after: int) -> None:
    """Let rows that were brought back refer to no picture that has made room for others since."""
    folder = Path(connection.db_filename("main")).parent
    query = "SELECT DISTINCT frame_ref FROM steps WHERE tick > ? AND frame_ref IS NOT NULL"
    references: list[Any] = connection.execute(query, (after,)).fetchall()
    for (reference,) in references:
        if not (folder / reference.partition("#")[0]).exists():
            connection.execute("UPDATE steps SET frame_ref = NULL WHERE tick > ? AND frame_ref = ?", (after, reference))
            gone = "UPDATE screenshots SET file_path = NULL, file_size_bytes = 0 WHERE tick > ? AND file_path = ?"
            connection.execute(gone, (after, reference))


def _settle(connection: apsw.Connection, run_id: str, tick: int, knowledge: Knowledge) -> None:
    """Let the tables of the game be as they were at a tick."""
    for row in knowledge.rewound(run_id, tick):
        connection.execute(row.sql, row.values)


@contextmanager
def attached(connection: apsw.Connection, parent: Path) -> Iterator[None]:
    """Let statements read another run's database, as `parent`."""
    connection.execute("ATTACH ? AS parent", (f"file:{parent}?mode=ro",))
    try:
        yield
    finally:
        connection.execute("DETACH parent")


def copy_history(
    connection: apsw.Connection, parent_id: str, run_id: str, last_tick: int, knowledge: Knowledge
) -> None:
    """Copy the history of the run that is attached up to a tick into this run's new database."""
    by_tick = dict.fromkeys((*_BY_TICK, *knowledge.tables_by_tick), "tick <= $last")
    by_id = {table: f"{column} <= $last_id" for table, column in knowledge.tables_by_id.items()}
    values = {"new": run_id, "old": parent_id[:24], "prefix": run_id[:24], "last": last_tick,
              "last_id": numbered_id(parent_id, last_tick) + "~"}  # fmt: skip
    for table, chosen in {**_SHARED, **by_tick, **by_id}.items():
        there = _columns(connection, "parent", table)
        columns = [name for name in _columns(connection, "main", table) if name in there]
        if columns:
            copied = ", ".join(map(_copied, columns))
            into = f"INSERT INTO main.{table} ({', '.join(columns)})"
            connection.execute(f"{into} SELECT {copied} FROM parent.{table} WHERE {chosen}", values)
    _settle(connection, run_id, last_tick, knowledge)


def _columns(connection: apsw.Connection, schema: str, table: str) -> list[str]:
    rows: list[Any] = connection.execute(f"PRAGMA {schema}.table_info({table})").fetchall()
    return [row[1] for row in rows]


def _copied(column: str) -> str:
    """Return a column as it is copied: ids that begin with the old run's become the new run's."""
    if column == "run_id":
        return "$new"
    return f"replace({column}, $old, $prefix)" if column.endswith("_id") else column
