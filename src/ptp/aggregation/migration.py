"""Taking the central database from one schema to another: all the way or not at all.

PostgreSQL changes tables inside transactions like rows. Every step with its record is part of one transaction, so a
crash leaves the old version or the new one, and no backup is needed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ptp.aggregation.shape import read_shape, shape_of
from ptp.aggregation.stamp import read_version, record_step, write_version
from ptp.errors import CentralError
from ptp.versioning.central import central_sql, check_found, check_target, find_path, step_sql
from ptp.versioning.drift import missing_parts
from ptp.versioning.migration import Plan
from ptp.versioning.schema import drop_of, statements
from ptp.versioning.stamp import Loss

if TYPE_CHECKING:
    import psycopg

    from ptp.versioning.paths import Step

LOCK = 0x707470  # the letters ptp
PATIENCE = "30s"  # that we wait for others to let go of a table
NOTHING = "nothing"
"""What a database is migrated from when it has no tables yet."""


def plan(connection: psycopg.Connection, where: object, target: str) -> Plan:
    """Return what a migration would do."""
    check_target(target)
    version = read_version(connection, where)
    if version is None:
        return Plan(str(where), NOTHING, target, [f"{NOTHING} -> {target}"], [])
    path = find_path(check_found(version, where), target)
    return Plan(str(where), version, target, [str(step) for step in path], list(losses(connection, path)))


def migrate(connection: psycopg.Connection, where: object, target: str) -> Plan:
    """Take a central database to the *target* version; one that has no tables yet gets those of it."""
    check_target(target)
    with changing(connection):
        planned = plan(connection, where, target)
        if planned.from_version == NOTHING:
            _execute(connection, central_sql(target))
        else:
            for step in find_path(planned.from_version, target):
                _take(connection, step)
        _check(connection, planned)
    return planned


@contextmanager
def changing(connection: psycopg.Connection, *, schema: bool = True) -> Iterator[None]:
    """Begin a transaction; whoever changes the schema waits for those who bring rows, and they for it."""
    with connection.transaction():
        connection.execute(f"SET LOCAL lock_timeout = '{PATIENCE}'")
        connection.execute(f"SELECT pg_advisory_xact_lock{'' if schema else '_shared'}({LOCK})")
        yield


def losses(connection: psycopg.Connection, path: Sequence[Step]) -> Iterator[Loss]:
    """Tell what the steps of a path will drop from a central database as it is now."""
    tables = read_shape(connection).parts.tables
    for statement in (text for step in path for text in statements(step_sql(step))):
        dropped = drop_of(statement)
        if dropped is not None:
            table, column = dropped
            if table in tables and (column is None or column in tables[table]):
                yield Loss(table, column, _count(connection, table, column or "*"))


def _take(connection: psycopg.Connection, step: Step) -> None:
    dropped = list(losses(connection, [step]))
    _execute(connection, step_sql(step))
    write_version(connection, step.goal)
    tables = [name for name in read_shape(connection).parts.tables if name[0] != "_"]
    record_step(connection, step, {name: _count(connection, name, "*") for name in tables}, dropped)


def _check(connection: psycopg.Connection, planned: Plan) -> None:
    missing = missing_parts(read_shape(connection).parts, shape_of(connection, planned.to_version).parts)
    if missing:
        raise CentralError(
            f"{planned.database} has no {missing[0]}, so it stays at {planned.from_version}; "
            "see `ptp drift schema --central`"
        )


def _execute(connection: psycopg.Connection, sql: str) -> None:
    for statement in statements(sql):
        connection.execute(statement)


def _count(connection: psycopg.Connection, table: str, what: str) -> int:
    row = connection.execute(f'SELECT count({what}) FROM "{table}"').fetchone()
    assert row is not None
    return int(row[0])
