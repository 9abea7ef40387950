"""Central databases with something in them."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any
from uuid import UUID

from ptp.aggregation.central import PostgreSQL
from ptp.versioning.dialect import read_shape

if TYPE_CHECKING:
    import psycopg

    from ptp.versioning.dialect import Column

Contents = dict[str, list[dict[str, Any]]]


def fill(connection: psycopg.Connection, dice: random.Random) -> None:
    """Put random rows into every table."""
    for table, columns in read_shape(PostgreSQL(connection, None)).tables.items():
        for number in range(dice.randrange(4) if table[0] != "_" else 0):
            values = [draw(dice, column, number) for column in columns.values()]
            connection.execute(f"INSERT INTO {table} VALUES ({', '.join(['%s'] * len(values))})", values)


def draw(dice: random.Random, column: Column, number: int) -> Any:
    if column.type == "UUID":
        return UUID(int=dice.getrandbits(120) << 8 | number)  # random bits alone may come twice
    if not column.required and dice.random() < 0.3:
        return None
    if column.type == "TEXT":
        return f"{dice.choice(['', 'é', 'it is ', 'x' * 300])}{number if column.key else ''}"
    if column.type.startswith("TIMESTAMP"):
        return f"20{dice.randrange(10, 99)}-01-15T09:00:00.{dice.randrange(1000):03d}Z"
    choices = {"BOOLEAN": dice.random() < 0.5, "JSONB": json.dumps({"a": [dice.random(), None]})}
    return choices.get(column.type, dice.randrange(3))


def contents(connection: psycopg.Connection) -> Contents:
    """Return every row of every table of ours."""
    return {
        table: sorted(
            (dict(zip(columns, row, strict=True)) for row in connection.execute(f"SELECT * FROM {table}")), key=repr
        )
        for table, columns in read_shape(PostgreSQL(connection, None)).tables.items()
        if table[0] != "_"
    }


def shared(one: Contents, other: Contents) -> Contents:
    """Return the part of *one* for which *other* has tables and columns; both have rows, or the other is empty."""
    return {
        table: sorted(
            ({name: row[name] for name in sorted(set(row) & _names(other[table], row))} for row in rows), key=repr
        )
        for table, rows in one.items()
        if table in other
    }


def _names(rows: list[dict[str, Any]], otherwise: dict[str, Any]) -> set[str]:
    return set(rows[0]) if rows else set(otherwise)
