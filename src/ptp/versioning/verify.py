"""Whether a database is what it says it is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import msgspec

from ptp.errors import PtpError
from ptp.versioning.backup import pending_backup
from ptp.versioning.dialect import Dialect
from ptp.versioning.drift import schema_drift
from ptp.versioning.sqlite import SQLite, opened
from ptp.versioning.stamp import known_version, read_history


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


def verify_file(database: Path) -> Verified:
    """Check a database's version, shape, history and pages, its header, and what a torn migration left."""
    try:
        with opened(database) as db:
            return verify(db, lambda version: [*_pages(db), *_beside(database, version)])
    except PtpError as problem:
        return Verified(str(database), None, False, [str(problem)])


def _pages(db: SQLite) -> list[str]:
    found = [text for (text,) in db.rows("PRAGMA quick_check(10)")]
    return [] if found == ["ok"] else [f"damaged: {text}; restore it from a copy" for text in found]


def _beside(database: Path, version: str) -> Iterator[str]:
    """Look at the header of the run, and for a copy that a migration left behind."""
    header, backup = database.with_name("metadata.json"), pending_backup(database)
    if database.name == "game_data.db" and header.exists():
        try:
            named = msgspec.json.decode(header.read_bytes()).get("schema_version")
            if named != version:
                remedy = f"let it follow with `ptp schema migrate {database.parent} --to {version}`"
                yield f"{header} says schema {named}; {remedy}"
        except (OSError, ValueError, RecursionError, msgspec.DecodeError) as problem:
            yield f"{header} can't be read: {problem}; restore it from a copy"
    if backup.exists():
        yield f"a migration was torn off and left {backup}; the database is whole, migrate again and it goes away"


def _history(db: Dialect, version: str) -> Iterator[str]:
    history = read_history(db)
    known = {(step.start, step.goal): db.schemas.checksum(step) for step in db.schemas.steps}
    for each in history:
        if known.get((each.from_version, each.to_version)) != each.checksum:
            yield f"the migration from {each.from_version} to {each.to_version} was not made by this ptp's SQL"
    if history and history[-1].to_version != version:
        yield f"the last migration led to {history[-1].to_version}, but the version is {version}"
