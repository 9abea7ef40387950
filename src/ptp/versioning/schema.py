"""The schemas that a run database can have; each version is a file of SQL, and so is each step to a neighbour."""

from __future__ import annotations

import re
from importlib.resources import files
from typing import TYPE_CHECKING

from ptp.errors import RunUnreadable, UnknownName

if TYPE_CHECKING:
    from ptp.versioning.paths import Step

SCHEMA_VERSION = "2.2"
NO_VERSION = "0.0"
"""What a database without a version table has."""

VERSIONS = {
    "1.0": "the first twelve tables",
    "1.1": "adds performance_profiles",
    "1.2": "adds screenshots.metadata, and screenshots where they are not there yet",
    "2.0": "renames decisions to action_history; adds context_version and execution_duration_ms",
    "2.1": "adds steps (the tape), episodes, and indexes on ticks",
    "2.2": "adds how episodes began, infos, model calls, changed settings, notices, snapshots, and the seal",
}
"""Every version, oldest first, and what it changed."""

OPTIONAL_TABLES = {"1.0": {"screenshots"}, "1.1": {"screenshots"}}
"""Tables that a version does not ask for but can hold."""

_RENAME = re.compile(r"ALTER TABLE (\w+) RENAME TO (\w+)", re.IGNORECASE)
_DROP = re.compile(r"DROP TABLE (\w+)|ALTER TABLE (\w+) DROP COLUMN (\w+)", re.IGNORECASE)


def schema_sql(version: str = SCHEMA_VERSION) -> str:
    """Return the SQL that creates a database of that version."""
    return read_sql(f"{version}.sql")


def step_sql(step: Step) -> str:
    """Return the SQL that takes a database to a neighbouring version."""
    return read_sql("steps", f"{step.name}.sql")


def read_sql(*names: str) -> str:
    """Return the text of one of our files of SQL."""
    return files("ptp.versioning").joinpath("sql", *names).read_text(encoding="utf-8")


def statements(sql: str) -> list[str]:
    """Return the statements of a file of SQL, without its comments."""
    bare = re.sub(r"--[^\n]*", "", sql)
    return [statement.strip() for statement in bare.split(";") if statement.strip()]


def rename_of(statement: str) -> tuple[str, str] | None:
    """Return the old and the new name of the table that a statement renames."""
    found = _RENAME.match(statement)
    return (found[1], found[2]) if found else None


def drop_of(statement: str) -> tuple[str, str | None] | None:
    """Return the table that a statement drops, or the table and the column of it."""
    found = _DROP.match(statement)
    return (found[1] or found[2], found[3]) if found else None


def check_target(version: str) -> str:
    """Return *version* if it is one to migrate to."""
    if version not in VERSIONS:
        raise UnknownName("schema version", version, list(VERSIONS), f"known: {', '.join(VERSIONS)}")
    return version


def check_found(version: str, where: object) -> str:
    """Return the version that was found in a database, if it can be read."""
    if version in VERSIONS:
        return version
    if version == NO_VERSION:
        raise RunUnreadable(
            f"{where} has no _schema_version (schema {NO_VERSION}); if its tables are those of an old schema, say of "
            f"which one: `ptp schema migrate RUN --from 1.0`"
        )
    if _is_newer(version):
        raise RunUnreadable(
            f"{where} has schema {version}, and this ptp knows {SCHEMA_VERSION} at most; get a newer ptp: "
            "`pip install --upgrade ptp`"
        )
    raise RunUnreadable(f"{where} has the unknown schema {version!r}; known: {', '.join(VERSIONS)}; see `ptp schema`")


def _is_newer(version: str) -> bool:
    parts = version.split(".")
    return all(map(str.isdigit, parts)) and [*map(int, parts)] > [*map(int, SCHEMA_VERSION.split("."))]


def find_path(start: str, goal: str) -> tuple[Step, ...]:
    """Return the steps from one known version to another."""
    from ptp.versioning.paths import neighbours, shortest_path

    path = shortest_path(neighbours(VERSIONS), start, goal)
    assert path is not None, "neighbours join every version"
    return path
