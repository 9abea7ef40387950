"""Migrating the central database: what stays, what goes, and what a crash can't do."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ptp.aggregation.central import CENTRAL_SCHEMAS, PATIENCE, Central, PostgreSQL
from ptp.errors import CentralError, UnknownName
from ptp.versioning.dialect import read_shape
from ptp.versioning.drift import schema_drift, verify
from ptp.versioning.migration import migrate, plan
from ptp.versioning.stamp import Loss, read_history, read_version
from tests.aggregation.databases import contents, fill, shared

if TYPE_CHECKING:
    import psycopg

SEED = 7
VERSIONS = list(CENTRAL_SCHEMAS.versions)
versions = st.sampled_from(VERSIONS)


def test_every_pair_of_versions_has_a_path() -> None:
    for start in VERSIONS:
        for goal in VERSIONS:
            assert [start, *(step.goal for step in CENTRAL_SCHEMAS.path(start, goal))][-1] == goal


@settings(max_examples=15, deadline=None)
@given(versions, versions, st.randoms(use_true_random=False))
def test_going_to_another_version_and_back_gives_back_what_both_can_hold(
    server: Callable[[], Central], start: str, goal: str, dice: random.Random
) -> None:
    central = server()
    with central.connected() as connection:
        migrate(PostgreSQL(connection, central), start)
        fill(connection, dice)
        before = contents(connection)
        migrate(PostgreSQL(connection, central), goal)
        there = contents(connection)
        migrate(PostgreSQL(connection, central), start)
        after = contents(connection)
        assert shared(there, before) == shared(before, there)
        assert shared(shared(after, there), before) == shared(before, there)
        assert verify(PostgreSQL(connection, central)).problems == []


@pytest.mark.parametrize("version", VERSIONS)
def test_an_empty_database_gets_the_tables_of_a_version(db: PostgreSQL, version: str) -> None:
    assert plan(db, version).steps == [f"nothing -> {version}"]
    assert read_version(db) is None
    migrate(db, version)
    assert read_version(db) == version
    assert schema_drift(db, version) == []


def test_migrating_step_by_step_gives_the_same_shape_as_making_it_anew(db: PostgreSQL) -> None:
    migrate(db, "1.0")
    migrate(db, CENTRAL_SCHEMAS.newest)
    db = db
    assert read_shape(db) == db.shape_of(CENTRAL_SCHEMAS.newest)


def test_every_step_is_recorded_with_its_checksum_rows_and_what_it_dropped(
    db: PostgreSQL, connection: psycopg.Connection
) -> None:
    migrate(db, "1.1")
    connection.execute("INSERT INTO aggregated_runs (run_id, world) VALUES (gen_random_uuid(), 'Taxi-v4')")
    connection.execute("INSERT INTO run_rollups SELECT * FROM run_figures")
    dropped = [Loss("run_rollups", None, 1), Loss("aggregated_runs", "world", 1), Loss("aggregated_runs", "agent", 0)]
    assert plan(db, "1.0").dropped == dropped
    assert migrate(db, "1.0").dropped == dropped
    migrate(db, "1.1")
    down, up = read_history(db)
    assert (down.from_version, down.to_version, down.dropped) == ("1.1", "1.0", dropped)
    assert up.row_counts["run_rollups"] == up.row_counts["aggregated_runs"] == 1
    assert [up.checksum] == [CENTRAL_SCHEMAS.checksum(step) for step in CENTRAL_SCHEMAS.path("1.0", "1.1")]
    assert up.migrated_at.endswith("Z")


def test_the_roll_up_rows_come_back_on_the_way_up(db: PostgreSQL, connection: psycopg.Connection) -> None:
    migrate(db, "1.1")
    connection.execute("INSERT INTO aggregated_runs (run_id) SELECT gen_random_uuid() FROM generate_series(1, 3)")
    connection.execute(
        "INSERT INTO aggregated_decisions (decision_id, run_id, cost, tokens_used) "
        "SELECT gen_random_uuid(), run_id, 0.25, 7 FROM aggregated_runs, generate_series(1, 4)"
    )
    connection.execute("INSERT INTO run_rollups SELECT * FROM run_figures")
    before = contents(connection)["run_rollups"]
    migrate(db, "1.0")
    migrate(db, "1.1")
    assert contents(connection)["run_rollups"] == before
    assert {(row["decisions"], float(row["cost"]), row["tokens_used"]) for row in before} == {(4, 1.0, 28)}


def test_what_belongs_to_no_version_stays(db: PostgreSQL, connection: psycopg.Connection) -> None:
    connection.execute("CREATE TABLE my_notes AS SELECT 'mine' AS note")
    migrate(db, "1.1")
    migrate(db, "1.0")
    assert connection.execute("SELECT note FROM my_notes").fetchone() == ("mine",)


def test_unknown_and_newer_versions_are_refused_by_name(db: PostgreSQL, connection: psycopg.Connection) -> None:
    with pytest.raises(UnknownName, match=r"no central schema version named '7\.0'; did you mean '1\.0'"):
        migrate(db, "7.0")
    migrate(db, "1.1")
    connection.execute("UPDATE _schema_version SET version = '7.0'")
    with pytest.raises(
        CentralError, match=r"has central schema 7\.0, and this ptp knows 1\.1 at most; get a newer ptp"
    ):
        migrate(db, "1.1")
    connection.execute("DELETE FROM _schema_version")
    with pytest.raises(CentralError, match="should name one schema version but names none"):
        migrate(db, "1.1")


def test_a_database_that_lacks_a_column_stays_as_it_is(db: PostgreSQL, connection: psycopg.Connection) -> None:
    migrate(db, "1.0")
    connection.execute("ALTER TABLE aggregated_runs DROP COLUMN rom_hash")
    with pytest.raises(CentralError, match=r"has no aggregated_runs\.rom_hash, so it stays at 1\.0; see `ptp drift"):
        migrate(db, "1.1")
    assert read_version(db) == "1.0"


def test_a_database_that_another_program_holds_is_left_alone(central: Central, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ptp.aggregation.central.PATIENCE", "50ms")
    assert PATIENCE == "30s"
    with central.connected() as other:
        migrate(PostgreSQL(other, central), "1.0")
        with other.transaction():
            other.execute("SELECT * FROM aggregated_runs")
            with pytest.raises(CentralError, match="is used by another program; wait for it and try again"), \
                    central.connected() as connection:  # fmt: skip
                migrate(PostgreSQL(connection, central), "1.1")
        assert read_version(PostgreSQL(other, central)) == "1.0"


KILLED = """
import json, os, signal, sys
from pathlib import Path
import psycopg
from ptp.aggregation.central import PostgreSQL
from ptp.aggregation.central import Central
from ptp.versioning.migration import migrate
from ptp.versioning.stamp import read_version

central, start, goal = Central(Path("/"), sys.argv[1]), sys.argv[2], sys.argv[3]
plain = psycopg.Connection.wait

def killed_after(last):
    left = last
    def wait(*words, **more):
        nonlocal left
        try:
            return plain(*words, **more)
        finally:
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
    with central.connected() as connection:
        psycopg.Connection.wait = wait
        migrate(PostgreSQL(connection, central), goal)
        os._exit(0)

found = []
while True:
    child = os.fork()
    if child == 0:
        killed_after(len(found) + 1)
    _, status = os.waitpid(child, 0)
    with central.connected() as connection:
        version = read_version(PostgreSQL(connection, central))
        if status == 0:
            break
        found.append(version)
        if version != start:
            migrate(PostgreSQL(connection, central), start)
print(json.dumps({"found": found, "last": version}))
"""


@pytest.mark.parametrize(("start", "goal"), [("1.0", "1.1"), ("1.1", "1.0")])
def test_a_migration_that_is_killed_after_any_word_to_the_server_leaves_the_old_version_or_the_new_one(
    db: PostgreSQL, central: Central, connection: psycopg.Connection, start: str, goal: str
) -> None:
    migrate(db, start)
    fill(connection, random.Random(SEED))
    before = contents(connection)
    words = [sys.executable, "-c", KILLED, str(central.url), start, goal]
    told = json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)
    assert len(told["found"]) > 25
    assert set(told["found"][:-1]) == {start}
    assert told["found"][-1] == goal, "the last word is the commit"
    assert told["last"] == goal
    after = contents(connection)
    assert shared(after, before) == shared(before, after)
    assert verify(db).problems == []


def test_a_server_that_drops_the_connection_leaves_the_old_version(central: Central) -> None:
    with central.connected() as other:
        migrate(PostgreSQL(other, central), "1.0")
        with pytest.raises(CentralError, match="can't be reached"):
            migrate_and_lose(central, other)
        assert read_version(PostgreSQL(other, central)) == "1.0"
        assert schema_drift(PostgreSQL(other, central), "1.0") == []
        migrate(PostgreSQL(other, central), "1.1")


def migrate_and_lose(central: Central, other: psycopg.Connection) -> None:
    with central.connected() as connection, connection.transaction():
        migrate(PostgreSQL(connection, central), "1.1")
        other.execute("SELECT pg_terminate_backend(%s)", (connection.info.backend_pid,))
        read_version(PostgreSQL(connection, central))
