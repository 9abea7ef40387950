"""Whether a run database is what it says it is."""

from __future__ import annotations

from pathlib import Path

import apsw
import msgspec

from ptp.errors import PtpError
from ptp.versioning.backup import pending_backup
from ptp.versioning.drift import schema_drift
from ptp.versioning.migration import opened
from ptp.versioning.paths import Step, neighbours
from ptp.versioning.schema import VERSIONS, check_found
from ptp.versioning.shape import read_shape
from ptp.versioning.stamp import checksum_of, read_history, read_version


class Verified(msgspec.Struct):
    """What was found in one database."""

    database: str
    version: str | None
    good: bool
    problems: list[str]


def verify(database: Path) -> Verified:
    """Check a database's version, shape, history and pages, its header, and what a torn migration left."""
    version = None
    try:
        with opened(database, apsw.SQLITE_OPEN_READONLY) as connection:
            version = check_found(read_version(connection, database), database)
            problems = [*_drift(connection, version), *_history(connection, version), *_pages(connection)]
        problems += [*_header(database, version), *_left_over(database)]
    except PtpError as problem:
        problems = [str(problem)]
    return Verified(str(database), version, not problems, problems)


def _drift(connection: apsw.Connection, version: str) -> list[str]:
    return [f"{each.name}: {each.problem}; {each.fix}" for each in schema_drift(read_shape(connection), version)]


def _history(connection: apsw.Connection, version: str) -> list[str]:
    history = read_history(connection)
    known = {(step.start, step.goal): step for step in neighbours(VERSIONS)}
    problems = [
        f"the migration from {each.from_version} to {each.to_version} was not made by this ptp's SQL"
        for each in history
        if not _is_ours(known.get((each.from_version, each.to_version)), each.checksum)
    ]
    if history and history[-1].to_version != version:
        problems.append(f"the last migration led to {history[-1].to_version}, but the version is {version}")
    return problems


def _is_ours(step: Step | None, checksum: str) -> bool:
    return step is not None and checksum_of(step) == checksum


def _pages(connection: apsw.Connection) -> list[str]:
    found = [text for (text,) in connection.execute("PRAGMA quick_check(10)")]
    return [] if found == ["ok"] else [f"damaged: {text}; restore it from a copy" for text in found]


def _header(database: Path, version: str) -> list[str]:
    path = database.with_name("metadata.json")
    if database.name != "game_data.db" or not path.exists():
        return []
    try:
        told = msgspec.json.decode(path.read_bytes()).get("schema_version")
    except (OSError, ValueError, RecursionError, msgspec.DecodeError) as problem:
        return [f"{path} can't be read: {problem}; restore it from a copy"]
    if told == version:
        return []
    return [f"{path} says schema {told}; let it follow with `ptp schema migrate {database.parent} --to {version}`"]


def _left_over(database: Path) -> list[str]:
    backup = pending_backup(database)
    if not backup.exists():
        return []
    return [f"a migration was torn off and left {backup}; the database is whole, migrate again and it goes away"]
