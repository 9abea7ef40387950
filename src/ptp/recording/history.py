"""Changing what a run's history is: going back within it, and copying it into another run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw

from ptp._util.clock import iso
from ptp._util.ids import numbered_id
from ptp.records import Rewound
from ptp.worlds.knowledge import Knowledge

_BY_TICK = ("events", "screenshots", "performance_metrics")
_SHARED = {"steps": "tick <= $last", "episodes": "last_tick <= $last", "episode_starts": "tick <= $last",
           "action_history": "tick < $last", "model_calls": "tick < $last"}  # fmt: skip
"""What a copy takes of the tables that are not simply cut off at a tick."""


def rewind(connection: apsw.Connection, run_id: str, back: Rewound, knowledge: Knowledge) -> None:
    """Give up the ticks after one.

    The steps are kept aside, and decisions stay where they are, for they were made and paid for.
    """
    to_tick = back.to_tick
    connection.execute(
        "INSERT INTO rewinds VALUES (?, ?, ?, ?, ?, ?)",
        (back.number, iso(back.at), back.from_tick, to_tick, back.reason, back.dropped),
    )
    connection.execute("INSERT INTO abandoned_steps SELECT ?, * FROM steps WHERE tick > ?", (back.number, to_tick))
    connection.execute("DELETE FROM steps WHERE tick > ?", (to_tick,))
    connection.execute("DELETE FROM episodes WHERE last_tick > ?", (to_tick,))
    connection.execute("UPDATE action_history SET execution_status = 'rolled_back' WHERE tick >= ?", (to_tick,))
    for table in (*_BY_TICK, "episode_starts", *knowledge.tables_by_tick):
        connection.execute(f"DELETE FROM {table} WHERE tick > ?", (to_tick,))
    for table, column in knowledge.tables_by_id.items():
        connection.execute(f"DELETE FROM {table} WHERE {column} > ?", (numbered_id(run_id, to_tick) + "~",))
    _settle(connection, run_id, to_tick, knowledge)


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
