"""Opening a run's SQLite database, which apsw brings along."""

from __future__ import annotations

from pathlib import Path

import apsw

from ptp.errors import RecordingError, RunUnreadable
from ptp.versioning import SCHEMA_VERSION, schema_sql

OLDEST_SQLITE = (3, 51, 3)  # before this a crash during a WAL reset can corrupt the database


def check_sqlite(version: str | None = None) -> None:
    """Refuse a SQLite that can lose what was committed."""
    version = version or apsw.sqlite_lib_version()
    if tuple(map(int, version.split("."))) < OLDEST_SQLITE:
        needed = ".".join(map(str, OLDEST_SQLITE))
        raise RecordingError(f"SQLite {version} can corrupt databases; install an apsw with SQLite {needed} or newer")


def create_database(path: Path) -> apsw.Connection:
    """Create a database of the newest schema."""
    check_sqlite()
    connection = apsw.Connection(str(path))
    connection.pragma("journal_mode", "wal")
    connection.pragma("synchronous", "normal")
    with connection:
        connection.execute(schema_sql())
    return connection


def open_database(path: Path) -> apsw.Connection:
    """Open a database for reading only; one that is missing or damaged is named with the remedy."""
    if not path.exists():
        raise RunUnreadable(f"{path} is missing; the run can't be read, remove its folder or restore the file")
    try:
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
        connection.set_busy_timeout(5000)
        versions = connection.execute("SELECT version FROM _schema_version").fetchall()
    except apsw.Error as problem:
        raise RunUnreadable(f"{path} is damaged ({problem}); restore it from a copy") from None
    if [version for (version,) in versions] != [SCHEMA_VERSION]:
        found = ", ".join(str(version) for (version,) in versions) or "none"
        raise RunUnreadable(f"{path} has schema {found}; this ptp reads {SCHEMA_VERSION}")
    return connection
