"""Changing what a run's history is: going back within it, and copying it into another run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import apsw

from ptp._util.clock import iso
from ptp._util.ids import numbered_id
from ptp.recording.game import party_sql

_BY_TICK = ("events", "navigation_events", "screenshots", "performance_metrics")
_BY_ID = {
    "battles": "battle_id",
    "battle_turns": "turn_id",
    "inventory_transactions": "transaction_id",
    "objectives": "objective_id",
}
"""Tables without a tick; their ids begin with a number made of it."""


def rewind(connection: apsw.Connection, run_id: str, to_tick: int, at: float, reason: str, dropped: int) -> int:
    """Give up the ticks after *to_tick* and return how often the run has gone back.

    The steps are kept aside, and decisions stay where they are, for they were made and paid for.
    """
    rewinds = int(_value(connection, "SELECT count(*) FROM rewinds")) + 1
    tells_party = _value(connection, "SELECT count(*) FROM events WHERE kind = 'PartySeen'")  # old schemas do not
    from_tick = _value(connection, "SELECT coalesce(max(tick), 0) FROM steps")
    connection.execute(
        "INSERT INTO rewinds VALUES (?, ?, ?, ?, ?, ?)", (rewinds, iso(at), from_tick, to_tick, reason, dropped)
    )
    connection.execute("INSERT INTO abandoned_steps SELECT ?, * FROM steps WHERE tick > ?", (rewinds, to_tick))
    connection.execute("DELETE FROM steps WHERE tick > ?", (to_tick,))
    connection.execute("DELETE FROM episodes WHERE last_tick > ?", (to_tick,))
    connection.execute("UPDATE action_history SET execution_status = 'rolled_back' WHERE tick >= ?", (to_tick,))
    for table in _BY_TICK:
        connection.execute(f"DELETE FROM {table} WHERE tick > ?", (to_tick,))
    for table, column in _BY_ID.items():
        connection.execute(f"DELETE FROM {table} WHERE {column} > ?", (numbered_id(run_id, to_tick) + "~",))
    _reopen_battle(connection, run_id, to_tick)
    if tells_party:
        _redo_party(connection, run_id)
    return rewinds


def _reopen_battle(connection: apsw.Connection, run_id: str, tick: int) -> None:
    """Let the battle that was fought at *tick*, if one was, be as it was then; the events up to the tick tell how."""
    began, ended = (
        _value(connection, f"SELECT coalesce(max(tick), 0) FROM events WHERE kind = '{kind}'")
        for kind in ("BattleStarted", "BattleEnded")
    )
    if began <= ended:
        return
    battle = numbered_id(run_id, began)
    turns = _value(
        connection,
        "SELECT coalesce(max(detail ->> '$.number'), 0) FROM events "
        f"WHERE kind = 'BattleTurn' AND tick BETWEEN {began} AND {tick}",
    )
    connection.execute("DELETE FROM battle_turns WHERE battle_id = ? AND turn_number > ?", (battle, turns))
    connection.execute(
        "UPDATE battles SET ended_at = NULL, outcome = NULL, turns_taken = NULL, player_pokemon = NULL, "
        "used_items = NULL, money_earned = NULL WHERE battle_id = ?",
        (battle,),
    )


def _redo_party(connection: apsw.Connection, run_id: str) -> None:
    """Let the party be what the events that are left tell of it."""
    connection.execute("DELETE FROM pokemon_party")
    seen = "(SELECT detail, timestamp FROM events WHERE kind = 'PartySeen' ORDER BY tick, event_id)"
    connection.execute(party_sql(run_id, seen))


def copy_history(connection: apsw.Connection, parent: Path, parent_id: str, run_id: str, last_tick: int) -> None:
    """Copy another run's history up to a tick into this run's new database."""
    connection.execute("ATTACH ? AS parent", (f"file:{parent}?mode=ro",))
    try:
        with connection:
            for table in ("steps", "action_history", "episodes", *_BY_TICK, *_BY_ID):
                columns = [row[1] for row in connection.execute(f"PRAGMA main.table_info({table})")]
                chosen = ", ".join(_copied(columns))
                connection.execute(
                    f"INSERT INTO main.{table} SELECT {chosen} FROM parent.{table} {_until(table)}",
                    {"new": run_id, "old": parent_id[:24], "prefix": run_id[:24], "last": last_tick,
                     "last_id": numbered_id(parent_id, last_tick) + "~"},
                )  # fmt: skip
            _reopen_battle(connection, run_id, last_tick)
            _redo_party(connection, run_id)
    finally:
        connection.execute("DETACH parent")


def _copied(columns: list[str]) -> list[str]:
    """Return the columns as they are copied: ids that begin with the old run's become the new run's."""
    return [
        "$new" if name == "run_id" else f"replace({name}, $old, $prefix)" if name.endswith("_id") else name
        for name in columns
    ]


def _until(table: str) -> str:
    if table in _BY_ID:
        return f"WHERE {_BY_ID[table]} <= $last_id"
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


def open_battle(connection: apsw.Connection) -> str | None:
    """Return the battle that goes on, if one does."""
    rows: list[Any] = connection.execute("SELECT max(battle_id) FROM battles WHERE ended_at IS NULL").fetchall()
    battle: str | None = rows[0][0]
    return battle
