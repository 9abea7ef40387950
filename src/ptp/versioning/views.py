"""Reading an old database with the queries of the newest schema: temporary views stand in for what it lacks."""

from __future__ import annotations

import apsw

from ptp.versioning.dialect import read_shape
from ptp.versioning.schema import RUN_SCHEMAS, SCHEMA_VERSION, rename_of, statements
from ptp.versioning.shape import Column
from ptp.versioning.sqlite import SQLite, shape_of


def add_views(connection: apsw.Connection, version: str) -> None:
    """Make an open database of an old *version* answer like one of the newest; the file itself stays as it is."""
    tables = read_shape(SQLite(connection, "an old run")).tables
    older = old_names(version)
    for name, columns in shape_of(SCHEMA_VERSION).tables.items():
        source = older.get(name, name)
        there = tables.get(source, {})
        if source != name or not columns.keys() <= there.keys():
            connection.execute(_view(name, columns, source, there))


def old_names(version: str) -> dict[str, str]:
    """Return what the tables that were renamed since *version* were called in it, by their newest name."""
    names: dict[str, str] = {}
    for step in RUN_SCHEMAS.path(version, SCHEMA_VERSION):
        for old, new in filter(None, map(rename_of, statements(RUN_SCHEMAS.step_sql(step)))):
            names[new] = names.pop(old, old)
    return names


def _view(name: str, columns: dict[str, Column], source: str, there: dict[str, Column]) -> str:
    chosen = ", ".join(column if column in there else f"NULL AS {column}" for column in columns)
    rows = f"FROM main.{source}" if there else "WHERE FALSE"
    return f"CREATE TEMP VIEW {name} AS SELECT {chosen} {rows}"
