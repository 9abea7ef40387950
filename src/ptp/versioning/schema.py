"""The schemas that a database can have; each version is a file of SQL, and so is each step to a neighbour."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Set
from itertools import pairwise
from pathlib import Path
from typing import Literal, NamedTuple

from ptp.errors import PtpError, RunUnreadable, UnknownName

SCHEMA_VERSION = "2.2"
NO_VERSION = "0.0"
"""What a run database without a version table is said to have."""

_CREATE = re.compile(r"CREATE (?:UNIQUE |MATERIALIZED )?(?:TABLE|INDEX|VIEW) (\w+)")
RENAME = re.compile(r"ALTER TABLE (\w+) RENAME TO (\w+)", re.IGNORECASE)
DROP = re.compile(r"DROP TABLE (\w+)|ALTER TABLE (\w+) DROP COLUMN (\w+)", re.IGNORECASE)


class Step(NamedTuple):
    """From one version to its neighbour."""

    start: str
    goal: str
    direction: Literal["up", "down"]

    @property
    def name(self) -> str:
        """What its file is called, whichever way it goes: the older version first."""
        return f"{self.start}-{self.goal}" if self.direction == "up" else f"{self.goal}-{self.start}"

    def __str__(self) -> str:
        return f"{self.start} -> {self.goal}"


def find_path(versions: Iterable[str], start: str, goal: str) -> tuple[Step, ...]:
    """Return the steps between two of the *versions*, which are given oldest first."""
    ordered = list(versions)
    first, last = ordered.index(start), ordered.index(goal)
    if first <= last:
        return tuple(Step(old, new, "up") for old, new in pairwise(ordered[first : last + 1]))
    return tuple(Step(new, old, "down") for old, new in reversed([*pairwise(ordered[last : first + 1])]))


class Schemas(NamedTuple):
    """Every version that a kind of database can have."""

    noun: str
    folder: Path
    """Has the SQL of each version, and that of each step in `steps`."""
    versions: Mapping[str, str]
    """Each version, oldest first, and what it changed."""
    unreadable: type[PtpError]
    unversioned: str
    """What is said of a database that names no version."""
    may_have: Mapping[str, Set[str]] = {}
    """Tables that a version does not ask for but can hold."""
    may_lack: Mapping[str, Set[str]] = {}
    """Tables, columns and indexes that some databases of a version never got; a migration adds them first."""

    @property
    def newest(self) -> str:
        """The version that new databases have."""
        return list(self.versions)[-1]

    @property
    def steps(self) -> tuple[Step, ...]:
        """Every step there is, those up first."""
        oldest, newest = next(iter(self.versions)), self.newest
        return (*self.path(oldest, newest), *self.path(newest, oldest))

    def path(self, start: str, goal: str) -> tuple[Step, ...]:
        """Return the steps from one known version to another."""
        return find_path(self.versions, start, goal)

    def sql(self, version: str) -> str:
        """Return the SQL that creates a database of a version."""
        return (self.folder / f"{version}.sql").read_text(encoding="utf-8")

    def step_sql(self, step: Step) -> str:
        """Return the SQL that takes a database to a neighbouring version."""
        return (self.folder / "steps" / f"{step.name}.{step.direction}.sql").read_text(encoding="utf-8")

    def checksum(self, step: Step) -> str:
        """Return the SHA-256 of a step's SQL."""
        import hashlib  # here, so that a reader of runs does not pay for it

        return hashlib.sha256(self.step_sql(step).encode()).hexdigest()

    def creations(self, version: str) -> dict[str, str]:
        """Return the statement that creates each table, index and view of a version."""
        return {found[1]: text for text in statements(self.sql(version)) if (found := _CREATE.match(text))}

    def check_target(self, version: str) -> str:
        """Return *version* if it is one to migrate to."""
        if version not in self.versions:
            known = list(self.versions)
            raise UnknownName(f"{self.noun} version", version, known, f"known: {', '.join(known)}")
        return version

    def check_found(self, version: str | None, where: object) -> str:
        """Return the version that was found in a database, if this ptp can work with it."""
        if version is None:
            raise self.unreadable(f"{where} {self.unversioned}")
        if version in self.versions:
            return version
        parts = version.split(".")
        if all(map(str.isdigit, parts)) and [*map(int, parts)] > [*map(int, self.newest.split("."))]:
            raise self.unreadable(
                f"{where} has {self.noun} {version}, and this ptp knows {self.newest} at most; get a newer ptp: "
                "`pip install --upgrade ptp`"
            )
        raise self.unreadable(
            f"{where} has the unknown {self.noun} {version!r}; known: {', '.join(self.versions)}; see `ptp schema`"
        )


RUN_SCHEMAS = Schemas(
    noun="schema",
    folder=Path(__file__).with_name("sql"),
    versions={
        "1.0": "the first twelve tables",
        "1.1": "adds performance_profiles",
        "1.2": "adds screenshots.metadata, and screenshots where they are not there yet",
        "2.0": "renames decisions to action_history; adds context_version and execution_duration_ms",
        "2.1": "adds steps (the tape), episodes, steps that were rolled back, events, and indexes on ticks",
        "2.2": "adds how episodes began, infos, model calls, changed settings, notices, snapshots, seal and decisions",
    },
    unreadable=RunUnreadable,
    unversioned=f"has no _schema_version (schema {NO_VERSION}); if its tables are those of an old schema, say of which "
    "one: `ptp schema migrate RUN --from 1.0`",
    may_have={"1.0": {"screenshots"}, "1.1": {"screenshots"}},
    may_lack={  # the SQL that the history of the schemas gives for 1.0 to 2.0 passes 1.1 and 1.2 by
        "2.0": {"performance_profiles", "idx_performance_profile_run"}
        | {f"screenshots.{name}" for name in ("timestamp", "screen_type", "file_size_bytes", "annotations")},
    },
)


def statements(sql: str) -> list[str]:
    """Return the statements of a file of SQL, without its comments."""
    bare = re.sub(r"--[^\n]*", "", sql)
    return [statement.strip() for statement in bare.split(";") if statement.strip()]
