"""How the central database stands."""

from __future__ import annotations

from datetime import UTC
from typing import TYPE_CHECKING

import msgspec

from ptp._util.clock import iso
from ptp.aggregation.dialect import PostgreSQL
from ptp.versioning.stamp import read_version

if TYPE_CHECKING:
    import psycopg

_COUNTS = """
SELECT (SELECT count(*) FROM aggregated_runs), (SELECT count(*) FROM aggregated_decisions),
       (SELECT count(*) FROM aggregated_battles), (SELECT max(imported_at) FROM aggregated_runs)
"""


class CentralStatus(msgspec.Struct, frozen=True):
    """Where it is, and what is in it; counts are None before it has tables."""

    database: str
    server: str
    version: str | None
    size_bytes: int
    runs: int | None = None
    decisions: int | None = None
    battles: int | None = None
    last_import: str | None = None


def read_status(connection: psycopg.Connection, where: object) -> CentralStatus:
    """Look at a central database."""
    version = read_version(PostgreSQL(connection, where))
    facts = connection.execute("SELECT current_setting('server_version'), pg_database_size(current_database())")
    server, size = facts.fetchone() or ("unknown", 0)
    if version is None:
        return CentralStatus(str(where), server, None, size)
    runs, decisions, battles, last = connection.execute(_COUNTS).fetchone() or (None,) * 4
    told = None if last is None else iso(last.replace(tzinfo=UTC).timestamp())
    return CentralStatus(str(where), server, version, size, runs, decisions, battles, told)
