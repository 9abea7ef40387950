"""The shape of a database: its tables, columns and indexes, as SQLite tells them."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import apsw

from ptp.versioning.schema import schema_sql

OUR_OWN = {"_migrations"}
"""Tables that belong to no version."""


class Column(NamedTuple):
    """One column, as its table declares it."""

    type: str
    required: bool
    default: str | None
    key: int

    def __str__(self) -> str:
        words = [self.type or "ANY", "NOT NULL" if self.required else "", "PRIMARY KEY" if self.key else ""]
        return " ".join(word for word in words if word)


class Index(NamedTuple):
    """One index that somebody asked for."""

    table: str
    columns: tuple[str, ...]
    unique: bool


class Shape(NamedTuple):
    """Everything that can drift."""

    tables: dict[str, dict[str, Column]]
    indexes: dict[str, Index]
    sql: dict[str, str]
    """How each table and index was created."""


def read_shape(connection: apsw.Connection) -> Shape:
    """Return the shape of an open database; names are in lower case, since SQLite takes them so."""
    tables: dict[str, dict[str, Column]] = {}
    indexes: dict[str, Index] = {}
    sql: dict[str, str] = {}
    query = "SELECT type, name, tbl_name, sql FROM main.sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid"
    for kind, name, table, text in list(connection.execute(query)):
        lowered = name.lower()
        if name.startswith("sqlite_") or table.lower() in OUR_OWN:
            continue
        if kind == "table":
            tables[lowered] = _columns(connection, name)
        elif kind == "index":
            indexes[lowered] = _index(connection, name, table)
        sql[lowered] = text
    return Shape(tables, indexes, sql)


def _columns(connection: apsw.Connection, table: str) -> dict[str, Column]:
    query = 'SELECT lower(name), upper(type), "notnull", dflt_value, pk FROM pragma_table_xinfo(?)'
    rows = connection.execute(query, (table,))
    return {name: Column(kind, bool(required), default, key) for name, kind, required, default, key in rows}


def _index(connection: apsw.Connection, name: str, table: str) -> Index:
    columns = connection.execute("SELECT name FROM pragma_index_info(?) ORDER BY seqno", (name,))
    unique = connection.execute('SELECT "unique" FROM pragma_index_list(?) WHERE name = ?', (table, name))
    return Index(table.lower(), tuple((column or "").lower() for (column,) in columns), bool(unique.get))


@cache
def shape_of(version: str) -> Shape:
    """Return the shape that a version has."""
    connection = apsw.Connection(":memory:")
    try:
        connection.execute(schema_sql(version))
        return read_shape(connection)
    finally:
        connection.close()
