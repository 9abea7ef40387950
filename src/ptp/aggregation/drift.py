"""What differs between the central database and what it should be, each with a fix."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ptp.aggregation.shape import CentralShape, View, read_shape, shape_of
from ptp.aggregation.stamp import read_history, read_version
from ptp.errors import PtpError
from ptp.versioning.central import VERSIONS, check_found, checksum_of
from ptp.versioning.drift import SCHEMA_KINDS, Finding, Fixes, compare, one_line
from ptp.versioning.paths import neighbours
from ptp.versioning.shape import Column
from ptp.versioning.verify import Verified

if TYPE_CHECKING:
    import psycopg

CENTRAL_KINDS = (*SCHEMA_KINDS, "missing_views", "extra_views", "view_changes")


def _add_column(table: str, column: str, facts: Column) -> str:
    extra = f" DEFAULT {facts.default}" if facts.default else ""
    extra += " NOT NULL" if facts.required else ""
    return f"ALTER TABLE {table} ADD COLUMN {column} {facts.type}{extra};"


def _change_column(table: str, column: str, facts: Column, _create: str) -> str:
    change = f"ALTER COLUMN {column}"
    return (
        f"ALTER TABLE {table} {change} DROP DEFAULT, {change} TYPE {facts.type} USING {column}::{facts.type}, "
        f"{change} {'SET' if facts.required else 'DROP'} NOT NULL"
        + (f", {change} SET DEFAULT {facts.default}" if facts.default else "")
        + (f", ADD PRIMARY KEY ({column})" if facts.key else "")
        + ";"
    )


FIXES = Fixes(_add_column, _change_column)


def central_drift(connection: psycopg.Connection, version: str) -> list[Finding]:
    """Compare a central database with the schema of its version."""
    found, wanted = read_shape(connection), shape_of(connection, version)
    return [*compare(found.parts, wanted.parts, version, set(), FIXES), *_views(found, wanted, version)]


def _views(found: CentralShape, wanted: CentralShape, version: str) -> Iterator[Finding]:
    for name, view in wanted.views.items():
        create = one_line(wanted.parts.sql[name])
        there = found.views.get(name)
        if there is None:
            yield Finding("missing_views", name, f"schema {version} has it", create)
        elif there != view:
            yield Finding("view_changes", name, "is not as it should be", f"{_drop(name, there)} {create}")
    for name, view in found.views.items():
        if name not in wanted.views:
            yield Finding(
                "extra_views", name, f"schema {version} does not have it", f"{_drop(name, view)} -- if unused"
            )


def _drop(name: str, view: View) -> str:
    return f"DROP {'MATERIALIZED VIEW' if view.materialized else 'VIEW'} {name};"


def verify(connection: psycopg.Connection, where: object) -> Verified:
    """Check the version, the shape and the history of a central database."""
    version = None
    try:
        version = check_found(read_version(connection, where), where)
        drift = [f"{each.name}: {each.problem}; {each.fix}" for each in central_drift(connection, version)]
        problems = [*drift, *_history(connection, version)]
    except PtpError as problem:
        problems = [str(problem)]
    return Verified(str(where), version, not problems, problems)


def _history(connection: psycopg.Connection, version: str) -> Iterator[str]:
    history = read_history(connection)
    known = {(step.start, step.goal): checksum_of(step) for step in neighbours(VERSIONS)}
    for each in history:
        if known.get((each.from_version, each.to_version)) != each.checksum:
            yield f"the migration from {each.from_version} to {each.to_version} was not made by this ptp's SQL"
    if history and history[-1].to_version != version:
        yield f"the last migration led to {history[-1].to_version}, but the version is {version}"
