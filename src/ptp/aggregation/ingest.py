"""Bringing runs into the central database: one transaction each, and a run that comes again replaces itself."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal
from uuid import UUID

import msgspec

from ptp.aggregation.dialect import PostgreSQL, changing
from ptp.aggregation.extract import BATTLE_COLUMNS, DECISION_COLUMNS, RUN_COLUMNS, Extract, Row, read_id
from ptp.errors import CentralError
from ptp.recording import RunDirectory
from ptp.recording.database import Database
from ptp.records import Metadata
from ptp.versioning.migration import migrate
from ptp.versioning.stamp import known_version, read_version

if TYPE_CHECKING:
    import psycopg

TABLES = ("aggregated_runs", "aggregated_decisions", "aggregated_battles", "run_rollups")
VIEWS = ("model_comparison", "battle_analysis", "cost_analysis")

_PERFORMANCE = """
INSERT INTO model_performance
SELECT run.model_name, count(*), avg(run.total_cost), avg(run.duration_seconds), avg(run.battles_won),
       avg(run.badges_earned), sum(run.battles_won)::numeric / nullif(sum(run.battles_won + run.battles_lost), 0),
       avg((run.errors_count > 0)::integer), now()
FROM aggregated_runs AS run WHERE run.model_name IS NOT NULL GROUP BY run.model_name
"""


class Ingested(msgspec.Struct, frozen=True):
    """What became of one run."""

    run_id: str
    outcome: Literal["added", "replaced", "skipped"]
    decisions: int = 0
    battles: int = 0


def prepare(connection: psycopg.Connection, where: object) -> None:
    """Make sure that runs can come in: an empty database gets its tables, an old one has to be migrated first."""
    db = PostgreSQL(connection, where)
    newest = db.schemas.newest
    if read_version(db) is None:
        migrate(db, newest)
    elif (version := known_version(db)) != newest:
        raise CentralError(
            f"{where} has central schema {version}, and runs come into {newest}; bring it there with "
            "`ptp schema migrate --central`"
        )


def ingest(connection: psycopg.Connection, directory: RunDirectory, *, only_new: bool = False) -> Ingested:
    """Bring one run in, of whatever schema it is; with *only_new*, one that is there and has ended is skipped."""
    metadata = directory.read_metadata()
    if only_new and _is_there(connection, read_id(metadata, directory), metadata):
        return Ingested(metadata.run_id, "skipped")
    with Database(directory.database) as database:
        extract = Extract(directory, metadata, database)
        with changing(connection):
            was_there = _remove(connection, extract)
            _copy(connection, "aggregated_runs", RUN_COLUMNS, [extract.run()])
            decisions = _copy(connection, "aggregated_decisions", DECISION_COLUMNS, extract.decisions())
            battles = _copy(connection, "aggregated_battles", BATTLE_COLUMNS, extract.battles())
            query = "INSERT INTO run_rollups SELECT * FROM run_figures WHERE run_id = %s"
            connection.execute(query, (extract.run_id,))
    return Ingested(metadata.run_id, "replaced" if was_there else "added", decisions, battles)


def refresh(connection: psycopg.Connection) -> None:
    """Count anew what spans many runs."""
    with changing(connection):
        connection.execute("LOCK TABLE model_performance IN SHARE ROW EXCLUSIVE MODE")
        connection.execute("DELETE FROM model_performance")
        connection.execute(_PERFORMANCE)
        for view in VIEWS:
            connection.execute(f"REFRESH MATERIALIZED VIEW {view}")


def _is_there(connection: psycopg.Connection, run_id: UUID, metadata: Metadata) -> bool:
    query = "SELECT 1 FROM aggregated_runs WHERE run_id = %s AND status = %s AND completed_at = %s::timestamp"
    facts = (run_id, metadata.status, metadata.completed_at)
    return connection.execute(query, facts).fetchone() is not None


def _remove(connection: psycopg.Connection, extract: Extract) -> bool:
    """Remove what is there of a run, after whoever else brings the same run in."""
    connection.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", (str(extract.run_id),))
    counts = [
        connection.execute(f"DELETE FROM {table} WHERE run_id = %s", (extract.run_id,)).rowcount for table in TABLES
    ]
    return counts[0] > 0


def _copy(connection: psycopg.Connection, table: str, columns: Sequence[str], rows: Iterable[Row]) -> int:
    count = 0
    with connection.cursor() as cursor, cursor.copy(f"COPY {table} ({', '.join(columns)}) FROM STDIN") as copy:
        for row in rows:
            copy.write_row(row)
            count += 1
    return count
