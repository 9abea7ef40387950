"""What differs between what is there and what should be, each with a fix; and whether a database is what it says."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Literal

import msgspec

from ptp.errors import PtpError
from ptp.versioning.dialect import Dialect, Shape, View, read_shape
from ptp.versioning.stamp import known_version, read_history


class Finding(msgspec.Struct, frozen=True):
    """One difference."""

    kind: str
    name: str
    problem: str
    fix: str


class TableChange(Finding, frozen=True):
    """A column that is not as it should be."""

    table: str
    existing: str | None
    """How the table declares the column; null when it is missing."""
    expected: str | None
    """How the schema declares it; null when it has none."""


SCHEMA_KINDS = (
    "missing_tables", "extra_tables", "table_schema_changes", "missing_indexes", "extra_indexes", "missing_views",
    "extra_views", "view_changes",
)  # fmt: skip

_CHANGED = {"indexes": "missing_indexes", "views": "view_changes"}
_NO_COLUMN = "the column is missing"
_IF = " -- if nobody needs it"


def schema_drift(db: Dialect, version: str) -> list[Finding]:
    """Compare the shape of a database with the one its version should have."""
    found, wanted, sql = read_shape(db), db.shape_of(version), db.schemas.creations(version)
    optional = db.schemas.may_have.get(version, set())
    tables = {name: columns for name, columns in found.tables.items() if name not in optional or name in wanted.tables}
    return [
        *_parts("tables", tables, wanted.tables, sql, version),
        *_columns(db, found, wanted, sql),
        *_parts("indexes", found.indexes, wanted.indexes, sql, version),
        *_parts("views", found.views, wanted.views, sql, version),
    ]


def missing_parts(db: Dialect, version: str) -> list[str]:
    """Return the tables and columns of a version that a database lacks."""
    drift = schema_drift(db, version)
    return [each.name for each in drift if each.kind == "missing_tables" or each.problem == _NO_COLUMN]


def _parts(
    kind: Literal["tables", "indexes", "views"],
    found: Mapping[str, object],
    wanted: Mapping[str, object],
    sql: Mapping[str, str],
    version: str,
) -> Iterator[Finding]:
    for name, part in wanted.items():
        create = _one_line(sql[name])
        if name not in found:
            yield Finding(f"missing_{kind}", name, f"schema {version} has it", create)
        elif kind in _CHANGED and found[name] != part:
            yield Finding(_CHANGED[kind], name, "differs from the schema", f"{_drop(kind, name, found[name])} {create}")
    for name, part in found.items():
        if name not in wanted:
            fix = f"{_drop(kind, name, part)}{_IF}"
            yield Finding(f"extra_{kind}", name, f"schema {version} does not have it", fix)


def _columns(db: Dialect, found: Shape, wanted: Shape, sql: Mapping[str, str]) -> Iterator[Finding]:
    kind = "table_schema_changes"
    for table, columns in wanted.tables.items():
        there = found.tables.get(table, columns)
        for column, facts in columns.items():
            name = f"{table}.{column}"
            if column not in there:
                fix = f"ALTER TABLE {table} ADD COLUMN {column} {facts.definition};"
                yield TableChange(kind, name, _NO_COLUMN, fix, table, None, str(facts))
            elif there[column] != facts:
                fix = db.change_column(table, column, facts, _one_line(sql[table]))
                existing, expected = str(there[column]), str(facts)
                problem = f"is {existing}, should be {expected}"
                yield TableChange(kind, name, problem, fix, table, existing, expected)
        for column, facts in there.items():
            if column not in columns:
                fix = f"ALTER TABLE {table} DROP COLUMN {column};{_IF}"
                yield TableChange(kind, f"{table}.{column}", "the column is extra", fix, table, str(facts), None)


def _drop(kind: str, name: str, part: object) -> str:
    noun = {"tables": "TABLE", "indexes": "INDEX", "views": "VIEW"}[kind]
    return f"DROP {'MATERIALIZED ' if isinstance(part, View) and part.materialized else ''}{noun} {name};"


def _one_line(sql: str) -> str:
    return f"{' '.join(sql.split())};"


class Verified(msgspec.Struct):
    """What was found in one database."""

    database: str
    version: str | None
    good: bool
    problems: list[str]


def verify(db: Dialect, others: Callable[[str], Iterable[str]] = lambda _version: ()) -> Verified:
    """Check the version, the shape and the history of a database; *others* looks for more in one of that version."""
    version = None
    try:
        version = known_version(db)
        drift = [f"{each.name}: {each.problem}; {each.fix}" for each in schema_drift(db, version)]
        problems = [*drift, *_history(db, version), *others(version)]
    except PtpError as problem:
        problems = [str(problem)]
    return Verified(db.name, version, not problems, problems)


def _history(db: Dialect, version: str) -> Iterator[str]:
    history = read_history(db)
    known = {(step.start, step.goal): db.schemas.checksum(step) for step in db.schemas.steps}
    for each in history:
        if known.get((each.from_version, each.to_version)) != each.checksum:
            yield f"the migration from {each.from_version} to {each.to_version} was not made by this ptp's SQL"
    if history and history[-1].to_version != version:
        yield f"the last migration led to {history[-1].to_version}, but the version is {version}"
