"""The versions that the central database can have; each is SQL in a file, and so is each step between neighbours."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from ptp.errors import CentralError, UnknownName
from ptp.versioning.schema import read_sql

if TYPE_CHECKING:
    from ptp.versioning.paths import Step

CENTRAL_VERSION = "1.1"

VERSIONS = {
    "1.0": "runs, decisions, battles, what models achieve, and three views over them",
    "1.1": "adds the world and the agent of each run, a roll-up row per run, and indexes on runs",
}
"""Every version, oldest first, and what it changed."""


def central_sql(version: str = CENTRAL_VERSION) -> str:
    """Return the SQL that creates a central database of that version."""
    return read_sql("central", f"{version}.sql")


def step_sql(step: Step) -> str:
    """Return the SQL that takes a central database to a neighbouring version."""
    return read_sql("central", "steps", f"{step.name}.sql")


def checksum_of(step: Step) -> str:
    """Return the SHA-256 of a step's SQL."""
    return hashlib.sha256(step_sql(step).encode()).hexdigest()


def check_target(version: str) -> str:
    """Return *version* if it is one to migrate to."""
    if version not in VERSIONS:
        raise UnknownName("central schema version", version, list(VERSIONS), f"known: {', '.join(VERSIONS)}")
    return version


def check_found(version: str | None, where: object) -> str:
    """Return the version that was found in a central database, if this ptp can work with it."""
    if version is None:
        raise CentralError(f"{where} has no tables yet; make them with `ptp schema migrate --central`")
    if version not in VERSIONS:
        raise CentralError(
            f"{where} has central schema {version}, and this ptp knows {', '.join(VERSIONS)}; get a newer ptp: "
            "`pip install --upgrade ptp`"
        )
    return version


def find_path(start: str, goal: str) -> tuple[Step, ...]:
    """Return the steps from one known version to another."""
    from ptp.versioning.paths import neighbours, shortest_path

    path = shortest_path(neighbours(VERSIONS), start, goal)
    assert path is not None, "neighbours join every version"
    return path
