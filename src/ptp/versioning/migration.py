"""Taking a database from one schema to another: all the way or not at all.

Every step with its record is part of one transaction, so a crash leaves the old version or the new one. The database
does the work itself; no row passes through Python.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import msgspec

from ptp.errors import UsageError
from ptp.versioning.dialect import Dialect, read_shape
from ptp.versioning.drift import missing_parts, schema_drift
from ptp.versioning.schema import DROP, RENAME, Step, statements
from ptp.versioning.stamp import Loss, known_version, read_version, record_step, write_version

OnProgress = Callable[[str, int, int], None]
"""Hears what is done, how much of it, and of how much."""

NOTHING = "nothing"
"""What a database is migrated from when it has no tables yet."""


class Plan(msgspec.Struct, frozen=True):
    """What a migration does."""

    database: str
    from_version: str
    to_version: str
    steps: list[str]
    dropped: list[Loss]
    """What the older schema can't hold; empty on the way up."""
    backup: str | None = None
    """The copy of the database as it was, if it was to be kept."""


def silent(_phase: str, _done: int, _total: int) -> None:
    """Report to nobody."""


def plan(db: Dialect, target: str, assumed: str | None = None) -> Plan:
    """Return what a migration would do; *assumed* is the version that the caller says the database has."""
    db.schemas.check_target(target)
    if db.starts_empty and read_version(db) is None:
        return Plan(db.name, NOTHING, target, [f"{NOTHING} -> {target}"], [])
    version = present_version(db, assumed)
    path = db.schemas.path(version, target)
    return Plan(db.name, version, target, [str(step) for step in path], list(losses(db, path)))


def migrate(db: Dialect, target: str, assumed: str | None = None, on_progress: OnProgress = silent) -> Plan:
    """Take a database to the *target* version, in one transaction."""
    with db.changing():
        planned = plan(db, target, assumed)
        if planned.from_version == NOTHING:
            _run(db, db.schemas.sql(target))
        else:
            _complete(db, planned.from_version)
            path = db.schemas.path(planned.from_version, target)
            for number, step in enumerate(path):
                on_progress(str(step), number, len(path))
                dropped = list(losses(db, [step]))
                _run(db, db.schemas.step_sql(step))
                write_version(db, step.goal)
                rows = {table: _count(db, table, "*") for table in read_shape(db).tables if table[0] != "_"}
                record_step(db, step, rows, dropped)
        missing = missing_parts(db, target)
        if missing:
            raise db.schemas.unreadable(
                f"{db.name} has no {missing[0]}, so it stays at {planned.from_version}; "
                f"see `ptp drift schema {db.argument}`"
            )
    return planned


def present_version(db: Dialect, assumed: str | None) -> str:
    """Return the version of a database; one that has none is believed to have *assumed* if its tables agree."""
    if assumed is None:
        return known_version(db)
    schemas, version = db.schemas, read_version(db)
    if version is None:
        missing = missing_parts(db, schemas.check_target(assumed))
        missing = [name for name in missing if name not in {"_schema_version", *schemas.may_lack.get(assumed, ())}]
        if missing:
            raise UsageError(f"{db.name} is not of schema {assumed}: it has no {missing[0]}; name another with --from")
    elif version != assumed:
        schemas.check_found(version, db.name)
        raise UsageError(f"{db.name} has schema {version}, not {schemas.check_target(assumed)}; leave out --from")
    return assumed


def losses(db: Dialect, path: Sequence[Step]) -> Iterator[Loss]:
    """Find what the steps of a path will drop from a database as it is now."""
    tables = read_shape(db).tables
    present: dict[str, str] = {}
    for statement in (text for step in path for text in statements(db.schemas.step_sql(step))):
        if renamed := RENAME.match(statement):
            present[renamed[2]] = present.get(renamed[1], renamed[1])
        if dropped := DROP.match(statement):
            name, column = dropped[1] or dropped[2], dropped[3]
            table = present.get(name, name)
            if table in tables and (column is None or column in tables[table]):
                yield Loss(name, column, _count(db, table, column or "*"))


def _complete(db: Dialect, version: str) -> None:
    """Say which version the database has if it does not yet, and add what its like may lack."""
    if read_version(db) is None:
        write_version(db, version)
    lacking = db.schemas.may_lack.get(version, ())
    for finding in schema_drift(db, version) if lacking else ():
        if finding.name in lacking:
            db.rows(finding.fix)


def _run(db: Dialect, sql: str) -> None:
    for statement in statements(sql):
        db.rows(statement)


def _count(db: Dialect, table: str, what: str) -> int:
    ((count,),) = db.rows(f'SELECT count({what}) FROM "{table}"')
    return int(count)
