"""Reading records back: every query is derived from the one declaration of a record's table.

Where an older run lacks a value, the field is None: nothing is made up. The title of an old event is made from what
it tells.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any, Literal, TypeVar

import msgspec

from ptp._util.clock import iso
from ptp.recording.database import Database
from ptp.records import Column, Event, table_of
from ptp.records.table import Kept
from ptp.worlds.knowledge import old_title

R = TypeVar("R", bound=Kept)
State = dict[str, Any]
Moments = Literal["seconds", "milliseconds", "text"]

MOMENTS: dict[Moments, str] = {
    "seconds": "unixepoch({}, 'subsec')",
    "milliseconds": "CAST(round(1000 * unixepoch({}, 'subsec')) AS INTEGER)",
    "text": "strftime('%Y-%m-%dT%H:%M:%fZ', {})",
}
_NUMBERED = re.compile(r"[0-9a-f-]{24}([0-9a-f]{12})")
ERROR_TICK = "coalesce(tick, CASE WHEN json_valid(context) THEN context ->> 'tick' END)"
OLDER = {
    ("events", "place"): "coalesce(place, CAST(substr(event_id, -2) AS INTEGER))",
    ("events", "title"): "coalesce(title, title_of(kind, detail))",
    ("errors", "tick"): ERROR_TICK,
}
"""What stands in for columns that older schemas lack."""


def read(database: Database, record: type[R], rest: str = "", *values: Any) -> Iterator[R]:
    """Return the records of a type; *rest* is what follows FROM, by default the order in which they happened."""
    return map(_maker(record), fetch(database, record, f"{select(record)} {rest or order_of(record)}", *values))


def read_named(database: Database, record: type[R], rest: str = "", *values: Any) -> Iterator[tuple[str, R]]:
    """Return the same, each with the id that its row has."""
    make = _maker(record)
    query = select(record, "seconds", id_of(record) or table_of(record).columns[0].name)
    for name, *row in fetch(database, record, f"{query} {rest or order_of(record)}", *values):
        yield name, make(row)


def fetch(database: Database, record: type[Kept], sql: str, *values: Any) -> Iterator[tuple[Any, ...]]:
    """Return the rows of a query that `select` began."""
    if record is Event:
        database.define("title_of", lambda kind, detail: old_title(kind or "event", as_state(decode_text(detail))))
    return database.rows(sql, *values)


@cache
def select(record: type[Kept], moments: Moments = "seconds", *first: str) -> str:
    """Return the SELECT that gives a record's fields, after the columns *first*."""
    table = table_of(record)
    columns = [_expression(table.name, column, moments) for column in table.columns]
    return f"SELECT {', '.join([*first, *columns])} FROM {table.name}"


def _expression(table: str, column: Column, moments: Moments) -> str:
    if column.kind == "moment":
        return MOMENTS[moments].format(column.name)
    return OLDER.get((table, column.name), column.name)


def id_of(record: type[Kept]) -> str | None:
    """Return the column that names a record and that no field fills."""
    return record.serial or next((name for name in record.fixed if name.endswith("_id")), None)


def order_of(record: type[Kept]) -> str:
    """Return the order in which records of a type happened."""
    if record is Event:
        return "ORDER BY tick, event_id"
    return f"ORDER BY {record.serial or table_of(record).columns[0].name}"


@cache
def _maker(record: type[R]) -> Callable[[Sequence[Any]], R]:
    """Return what makes records of rows."""
    kinds = [column.kind for column in table_of(record).columns]
    changes = [(place, CHANGES[kind]) for place, kind in enumerate(kinds) if kind in CHANGES]

    def make(row: Sequence[Any]) -> R:
        values = list(row)
        for place, change in changes:
            values[place] = change(values[place])
        return record(*values)

    return make


def number_of(name: str | None) -> int | None:
    """Return the number that an id was made of: its last twelve digits; the ids of older runs have none."""
    found = _NUMBERED.fullmatch(name or "")
    return None if found is None else int(found[1], 16)


# -- values, in the form they have today -------------------------------------------------------------------------


def decode_text(text: str | None) -> Any:
    """Return stored JSON as what it says; what an older run kept as plain words stays so."""
    if text is None:
        return None
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return text


def as_state(value: Any) -> State:
    """Return a state as an object; one of another form is kept under `observation`."""
    if value is None or value == "":
        return {}
    return value if isinstance(value, dict) else {"observation": value}


def stamp(at: float | None) -> str | None:
    """Return a moment as text; null where an older run kept none."""
    return None if at is None else iso(at)


def as_json(value: Any) -> str:
    """Return data as JSON text."""
    return msgspec.json.encode(value).decode()


def _flag(value: int | None) -> bool | None:
    return None if value is None else bool(value)


CHANGES: dict[str, Callable[[Any], Any]] = {"number": number_of, "boolean": _flag, "json": decode_text}
