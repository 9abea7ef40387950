"""Reading an old database with the queries of the newest schema: temporary views stand in for what it lacks."""

from __future__ import annotations

from collections.abc import Iterator

import apsw

from ptp.versioning.schema import SCHEMA_VERSION, find_path, rename_of, statements, step_sql
from ptp.versioning.shape import Column, read_shape, shape_of


def add_views(connection: apsw.Connection, version: str) -> None:
    """Make an open database of an old *version* answer like one of the newest; the file itself stays as it is."""
    tables = read_shape(connection).tables
    older = old_names(version)
    for name, columns in shape_of(SCHEMA_VERSION).tables.items():
        source = older.get(name, name)
        there = tables.get(source, {})
        if source != name or not columns.keys() <= there.keys():
            connection.execute(_view(name, columns, source, there))


def old_names(version: str) -> dict[str, str]:
    """Return what the tables that were renamed since *version* were called in it, by their newest name."""
    names: dict[str, str] = {}
    for old, new in _renames(version):
        names[new] = names.pop(old, old)
    return names


def _renames(version: str) -> Iterator[tuple[str, str]]:
    for step in find_path(version, SCHEMA_VERSION):
        for statement in statements(step_sql(step)):
            renamed = rename_of(statement)
            if renamed is not None:
                yield renamed


def _view(name: str, columns: dict[str, Column], source: str, there: dict[str, Column]) -> str:
    chosen = ", ".join(column if column in there else f"NULL AS {column}" for column in columns)
    rows = f"FROM main.{source}" if there else "WHERE FALSE"
    return f"CREATE TEMP VIEW {name} AS SELECT {chosen} {rows}"
