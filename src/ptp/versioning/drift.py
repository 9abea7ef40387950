"""What differs between what is there and what should be, each with a fix."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator
from typing import NamedTuple

import msgspec

from ptp.versioning.schema import OPTIONAL_TABLES
from ptp.versioning.shape import Column, Shape, shape_of


class Finding(msgspec.Struct, frozen=True):
    """One difference."""

    kind: str
    name: str
    problem: str
    fix: str


SCHEMA_KINDS = ("missing_tables", "extra_tables", "table_schema_changes", "missing_indexes", "extra_indexes")


class Fixes(NamedTuple):
    """How a kind of database is mended."""

    add_column: Callable[[str, str, Column], str]
    """Takes a table, a column and what it should be."""
    change_column: Callable[[str, str, Column, str], str]
    """Takes the SQL that creates the table too."""


SQLITE_FIXES = Fixes(
    lambda table, column, facts: f"ALTER TABLE {table} ADD COLUMN {column} {facts.type};",
    lambda table, column, facts, create: f"make {table} anew and copy its rows: {create}",
)


def schema_drift(found: Shape, version: str) -> list[Finding]:
    """Compare the shape of a run database with the one its version should have."""
    return compare(found, shape_of(version), version, OPTIONAL_TABLES.get(version, set()), SQLITE_FIXES)


def compare(found: Shape, wanted: Shape, version: str, optional: set[str], fixes: Fixes) -> list[Finding]:
    """Compare the shape of a database with the one it should have, but for tables that it may have."""
    return [*_tables(found, wanted, version, optional), *_columns(found, wanted, fixes), *_indexes(found, wanted)]


def missing_parts(found: Shape, wanted: Shape) -> list[str]:
    """Return the tables and columns that a database lacks."""
    return [
        name
        for table, columns in wanted.tables.items()
        if table != "_schema_version"
        for name in (
            [f"{table}.{column}" for column in columns if column not in found.tables[table]]
            if table in found.tables
            else [table]
        )
    ]


def _tables(found: Shape, wanted: Shape, version: str, optional: set[str]) -> Iterator[Finding]:
    for table in _lacking(wanted.tables, found.tables):
        yield Finding("missing_tables", table, f"schema {version} has it", one_line(wanted.sql[table]))
    for table in _lacking(found.tables, {*wanted.tables, *optional}):
        fix = f"DROP TABLE {table}; -- if nobody needs it"
        yield Finding("extra_tables", table, f"schema {version} does not have it", fix)


def _columns(found: Shape, wanted: Shape, fixes: Fixes) -> Iterator[Finding]:
    for table, columns in wanted.tables.items():
        there = found.tables.get(table, columns)
        for column, facts in columns.items():
            name = f"{table}.{column}"
            if column not in there:
                fix = fixes.add_column(table, column, facts)
                yield Finding("table_schema_changes", name, "the column is missing", fix)
            elif there[column] != facts:
                problem = f"is {there[column]}, should be {facts}"
                fix = fixes.change_column(table, column, facts, one_line(wanted.sql[table]))
                yield Finding("table_schema_changes", name, problem, fix)
        for column in _lacking(there, columns):
            fix = f"ALTER TABLE {table} DROP COLUMN {column}; -- if nobody needs it"
            yield Finding("table_schema_changes", f"{table}.{column}", "the column is extra", fix)


def _indexes(found: Shape, wanted: Shape) -> Iterator[Finding]:
    for name, index in wanted.indexes.items():
        create = one_line(wanted.sql[name])
        if name not in found.indexes:
            yield Finding("missing_indexes", name, f"the index on {index.table} is missing", create)
        elif found.indexes[name] != index:
            problem = f"is on {found.indexes[name].table}, not as it should be"
            yield Finding("missing_indexes", name, problem, f"DROP INDEX {name}; {create}")
    for name in _lacking(found.indexes, wanted.indexes):
        fix = f"DROP INDEX {name}; -- if nobody needs it"
        yield Finding("extra_indexes", name, f"an index on {found.indexes[name].table} that the schema lacks", fix)


def _lacking(names: Iterable[str], known: Container[str]) -> list[str]:
    return [name for name in names if name not in known]


def one_line(sql: str) -> str:
    """Return a statement without its comments, on one line."""
    return " ".join(re.sub(r"--[^\n]*", "", sql).split()) + ";"
