"""Changing what a run's history is: going back within it, and copying it into another run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import apsw

from ptp._util.clock import iso
from ptp._util.ids import numbered_id
from ptp.worlds.knowledge import Knowledge

_BY_TICK = ("events", "screenshots", "performance_metrics")


def rewind(
    connection: apsw.Connection, run_id: str, to_tick: int, at: float, reason: str, dropped: int, knowledge: Knowledge
) -> int:
    """Give up the ticks after *to_tick* and return how often the run has gone back.

    The steps are kept aside, and decisions stay where they are, for they were made and paid for.
    """
    rewinds = int(_value(connection, "SELECT count(*) FROM rewinds")) + 1
    from_tick = _value(connection, "SELECT coalesce(max(tick), 0) FROM steps")
    connection.execute(
        "INSERT INTO rewinds VALUES (?, ?, ?, ?, ?, ?)", (rewinds, iso(at), from_tick, to_tick, reason, dropped)
    )
    connection.execute("INSERT INTO abandoned_steps SELECT ?, * FROM steps WHERE tick > ?", (rewinds, to_tick))
    connection.execute("DELETE FROM steps WHERE tick > ?", (to_tick,))
    connection.execute("DELETE FROM episodes WHERE last_tick > ?", (to_tick,))
    connection.execute("UPDATE action_history SET execution_status = 'rolled_back' WHERE tick >= ?", (to_tick,))
    for table in (*_BY_TICK, *knowledge.tables_by_tick):
        connection.execute(f"DELETE FROM {table} WHERE tick > ?", (to_tick,))
    for table, column in knowledge.tables_by_id.items():
        connection.execute(f"DELETE FROM {table} WHERE {column} > ?", (numbered_id(run_id, to_tick) + "~",))
    for row in knowledge.rewound(run_id, to_tick):
        connection.execute(row.sql, row.values)
    return rewinds


def copy_history(
    connection: apsw.Connection, parent: Path, parent_id: str, run_id: str, last_tick: int, knowledge: Knowledge
) -> None:
    """Copy another run's history up to a tick into this run's new database."""
    connection.execute("ATTACH ? AS parent", (f"file:{parent}?mode=ro",))
    try:
        with connection:
            by_id = knowledge.tables_by_id
            for table in ("steps", "action_history", "episodes", *_BY_TICK, *knowledge.tables_by_tick, *by_id):
                columns = [row[1] for row in connection.execute(f"PRAGMA main.table_info({table})")]
                chosen = ", ".join(_copied(columns))
                connection.execute(
                    f"INSERT INTO main.{table} SELECT {chosen} FROM parent.{table} {_until(table, by_id)}",
                    {"new": run_id, "old": parent_id[:24], "prefix": run_id[:24], "last": last_tick,
                     "last_id": numbered_id(parent_id, last_tick) + "~"},
                )  # fmt: skip
            for row in knowledge.rewound(run_id, last_tick):
                connection.execute(row.sql, row.values)
    finally:
        connection.execute("DETACH parent")


def _copied(columns: list[str]) -> list[str]:
    """Return the columns as they are copied: ids that begin with the old run's become the new run's."""
    return [
        "$new" if name == "run_id" else f"replace({name}, $old, $prefix)" if name.endswith("_id") else name
        for name in columns
    ]


def _until(table: str, by_id: Mapping[str, str]) -> str:
    if table in by_id:
        return f"WHERE {by_id[table]} <= $last_id"
    return {"action_history": "WHERE tick < $last", "episodes": "WHERE last_tick <= $last"}.get(
        table, "WHERE tick <= $last"
    )


def _value(connection: apsw.Connection, sql: str) -> int:
    rows: list[Any] = connection.execute(sql).fetchall()
    return int(rows[0][0])


def last_number(connection: apsw.Connection, table: str, column: str) -> int:
    """Return the highest number that an id in a table was made of, 0 when there is none."""
    rows: list[Any] = connection.execute(f"SELECT max({column}) FROM {table}").fetchall()
    newest = rows[0][0]
    return 0 if newest is None else int(newest[24:36], 16)
