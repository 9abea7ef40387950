"""How the central database differs from what it should be, and how to mend it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ptp.aggregation.central import Central, PostgreSQL
from ptp.versioning.drift import schema_drift, verify
from ptp.versioning.migration import migrate

if TYPE_CHECKING:
    import psycopg

CHANGES = {
    "DROP TABLE run_rollups": ("missing_tables", "run_rollups"),
    "CREATE TABLE extra (a INTEGER)": ("extra_tables", "extra"),
    "ALTER TABLE aggregated_battles DROP COLUMN pokemon_died": (
        "table_schema_changes",
        "aggregated_battles.pokemon_died",
    ),
    "ALTER TABLE aggregated_runs DROP COLUMN imported_at": ("table_schema_changes", "aggregated_runs.imported_at"),
    "ALTER TABLE aggregated_battles ADD COLUMN weather TEXT": ("table_schema_changes", "aggregated_battles.weather"),
    "ALTER TABLE aggregated_runs ALTER COLUMN rom_hash TYPE VARCHAR(64)": (
        "table_schema_changes",
        "aggregated_runs.rom_hash",
    ),
    "ALTER TABLE aggregated_runs ALTER COLUMN world SET NOT NULL": ("table_schema_changes", "aggregated_runs.world"),
    "ALTER TABLE aggregated_runs ALTER COLUMN imported_at DROP DEFAULT": (
        "table_schema_changes",
        "aggregated_runs.imported_at",
    ),
    "ALTER TABLE model_performance DROP CONSTRAINT model_performance_pkey": (
        "table_schema_changes",
        "model_performance.model_name",
    ),
    "DROP INDEX idx_aggregated_runs_model": ("missing_indexes", "idx_aggregated_runs_model"),
    "DROP INDEX idx_aggregated_runs_model; CREATE INDEX idx_aggregated_runs_model ON aggregated_runs(status)": (
        "missing_indexes",
        "idx_aggregated_runs_model",
    ),
    "CREATE INDEX mine ON aggregated_battles(outcome)": ("extra_indexes", "mine"),
    "DROP MATERIALIZED VIEW cost_analysis": ("missing_views", "cost_analysis"),
    "CREATE VIEW mine AS SELECT 1 AS one": ("extra_views", "mine"),
    "CREATE MATERIALIZED VIEW mine AS SELECT 1 AS one": ("extra_views", "mine"),
    "DROP MATERIALIZED VIEW cost_analysis; CREATE MATERIALIZED VIEW cost_analysis AS SELECT 1 AS one": (
        "view_changes",
        "cost_analysis",
    ),
}


@pytest.mark.parametrize("sql", CHANGES)
def test_every_kind_of_drift_is_found_and_its_fix_mends_it(
    db: PostgreSQL, connection: psycopg.Connection, sql: str
) -> None:
    migrate(db, "1.1")
    connection.execute(sql)
    (finding,) = schema_drift(db, "1.1")
    assert (finding.kind, finding.name) == CHANGES[sql]
    assert f"{finding.name}: {finding.problem}" in verify(db).problems[0]
    connection.execute(finding.fix)
    assert schema_drift(db, "1.1") == []


def test_a_history_that_was_tampered_with_is_told(db: PostgreSQL, connection: psycopg.Connection) -> None:
    migrate(db, "1.0")
    migrate(db, "1.1")
    connection.execute("UPDATE _migrations SET checksum = 'x'")
    assert verify(db).problems == ["the migration from 1.0 to 1.1 was not made by this ptp's SQL"]
    connection.execute("UPDATE _migrations SET to_version = '1.0'")
    assert "the last migration led to 1.0, but the version is 1.1" in verify(db).problems


def test_an_empty_database_is_told_what_to_do(db: PostgreSQL, central: Central) -> None:
    told = verify(db)
    assert (told.version, told.good) == (None, False)
    assert told.problems[0].endswith("has no tables yet; make them with `ptp schema migrate --central`")
