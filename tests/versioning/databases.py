"""Databases of every version, and what is in them."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw

from ptp.versioning.dialect import Column, Shape, read_shape
from ptp.versioning.schema import NO_VERSION, RUN_SCHEMAS, SCHEMA_VERSION
from ptp.versioning.sqlite import SQLite, old_names, shape_of
from ptp.versioning.stamp import read_version

FIXTURES = Path(__file__).parent.parent / "fixtures" / "versions"
VERSIONS = list(RUN_SCHEMAS.versions)
OLD = [version for version in VERSIONS if version != SCHEMA_VERSION]

RECORDED = "01a1e3a0-601c-70ac-a85f-02bf0c3f277a"

Contents = dict[str, list[dict[str, Any]]]


@contextmanager
def opened(path: Path) -> Iterator[apsw.Connection]:
    connection = apsw.Connection(str(path))
    try:
        yield connection
    finally:
        connection.close()


def create(path: Path, version: str, *, journal: str = "delete", fill: random.Random | None = None) -> Path:
    """Make a database, by the SQL of its version, with rows that *fill* draws."""
    with opened(path) as connection:
        connection.pragma("journal_mode", journal)
        connection.execute(RUN_SCHEMAS.sql(version))
        if fill is not None:
            for table, columns in shape_of(version).tables.items():
                for row in range(fill.randrange(4) if table != "_schema_version" else 0):
                    values = [draw(fill, column, row) for column in columns.values()]
                    connection.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(values))})", values)
    return path


def draw(fill: random.Random, column: Column, row: int) -> Any:
    if column.key:
        return row if column.type == "INTEGER" else f"{row}-{fill.random()}"
    if not column.required and fill.random() < 0.3:
        return None
    if column.type in ("TEXT", "TIMESTAMP"):
        return fill.choice(["", "0", "1.50", "é\n'\"", "x" * fill.randrange(3000), '{"a": 1}', str(fill.random())])
    return fill.choice([0, 1, -1, 2**53, 0.25, 1e300, fill.random()])


def contents(path: Path) -> Contents:
    """Return every row of a database, tables called as in the newest schema."""
    found: Contents = {}
    with opened(path) as connection:
        newest = {old: new for new, old in old_names(version_of(path)).items()}
        for table, columns in read_shape(SQLite(connection, path)).tables.items():
            if table != "_schema_version":
                rows = connection.execute(f"SELECT {', '.join(columns)} FROM {table} ORDER BY {', '.join(columns)}")
                found[newest.get(table, table)] = [dict(zip(columns, row, strict=True)) for row in rows]
    return found


def held_by(version: str) -> dict[str, set[str]]:
    """Return the columns of each table of a version, tables called as in the newest schema."""
    newest = {old: new for new, old in old_names(version).items()}
    return {newest.get(table, table): set(columns) for table, columns in shape_of(version).tables.items()}


def shared(rows: Contents, one: str, other: str) -> Contents:
    """Return the part of the rows that both versions can hold."""
    first, second = held_by(one), held_by(other)
    return {
        table: [{name: row[name] for name in sorted(first[table] & second[table])} for row in rows[table]]
        for table in sorted(first.keys() & second.keys())
        if table != "_schema_version"
    }


def shape_in(path: Path) -> Shape:
    with opened(path) as connection:
        return read_shape(SQLite(connection, path))


def version_of(path: Path) -> str:
    with opened(path) as connection:
        return read_version(SQLite(connection, path)) or NO_VERSION


def copy_run(version: str, data_dir: Path) -> Path:
    """Put the committed run of an old version into a data directory."""
    folder = data_dir / "records" / f"018d0c2e-0000-7000-8000-0000000000{version.replace('.', '')}"
    return Path(shutil.copytree(FIXTURES / "runs" / version, folder))


def copy_recorded(data_dir: Path) -> Path:
    """Put a run into a data directory that was played and recorded when schema 2.1 was the newest."""
    return Path(shutil.copytree(FIXTURES / "recorded" / "2.1", data_dir / "records" / RECORDED))
