"""The schemas there are, and the ways between them."""

from __future__ import annotations

from itertools import pairwise, product
from pathlib import Path

import apsw
import pytest

from ptp.errors import RunUnreadable, UnknownName
from ptp.versioning.database import migrate_file
from ptp.versioning.dialect import read_shape
from ptp.versioning.drift import schema_drift
from ptp.versioning.schema import RUN_SCHEMAS, SCHEMA_VERSION, statements
from ptp.versioning.sqlite import SQLite, shape_of
from tests.versioning.databases import VERSIONS, create, opened


@pytest.mark.parametrize(("start", "goal"), list(product(VERSIONS, VERSIONS)))
def test_every_pair_of_versions_has_a_shortest_path(start: str, goal: str) -> None:
    path = RUN_SCHEMAS.path(start, goal)
    assert len(path) == abs(VERSIONS.index(start) - VERSIONS.index(goal))
    assert [start, *(step.goal for step in path)][-1] == goal
    assert all(one.goal == other.start for one, other in pairwise(path))


@pytest.mark.parametrize(("start", "goal"), list(product(VERSIONS, VERSIONS)))
def test_a_migrated_database_has_the_shape_of_its_new_version(tmp_path: Path, start: str, goal: str) -> None:
    database = create(tmp_path / "a.db", start)
    migrate_file(database, goal)
    with opened(database) as connection:
        db = SQLite(connection, database)
        assert schema_drift(db, goal) == [], f"sql/{goal}.sql and the steps that lead to it say different things"
        found, wanted = read_shape(db).tables, shape_of(goal).tables
    assert {name: list(found[name]) for name in wanted} == {name: list(wanted[name]) for name in wanted}


def test_the_first_schema_has_twelve_tables_and_its_version() -> None:
    tables = shape_of("1.0").tables.keys()
    assert len(tables - {"_schema_version"}) == 12
    assert "decisions" in tables
    assert shape_of("1.1").tables.keys() - tables == {"performance_profiles"}
    assert "metadata" in shape_of("1.2").tables["screenshots"]
    changed = shape_of("2.0").tables["action_history"].keys() - shape_of("1.2").tables["decisions"].keys()
    assert changed == {"context_version", "execution_duration_ms"}
    assert {"steps", "episodes"} <= shape_of("2.1").tables.keys()
    assert shape_of("2.2").tables.keys() - shape_of("2.1").tables.keys() == {
        "episode_starts", "model_calls", "model_texts", "config_changes", "notices", "snapshots", "seals",
        "abandoned_rows", "transitions", "learning",
    }  # fmt: skip


def test_every_schema_says_its_own_version() -> None:
    for version in VERSIONS:
        connection = apsw.Connection(":memory:")
        connection.execute(RUN_SCHEMAS.sql(version))
        assert connection.execute("SELECT version FROM _schema_version").get == version
        connection.close()
    assert RUN_SCHEMAS.newest == VERSIONS[-1] == SCHEMA_VERSION


def test_statements_are_split_without_their_remarks() -> None:
    assert statements("-- a; b\nDROP TABLE x; -- y\n\nDROP TABLE z;\n") == ["DROP TABLE x", "DROP TABLE z"]
    for step in RUN_SCHEMAS.steps:
        assert statements(RUN_SCHEMAS.step_sql(step))


def test_an_unknown_target_is_refused_by_name() -> None:
    with pytest.raises(UnknownName, match=r"no schema version named '2.3'; did you mean"):
        RUN_SCHEMAS.check_target("2.3")


@pytest.mark.parametrize(
    ("version", "message"),
    [
        ("3.0", "has schema 3.0, and this ptp knows 2.2 at most; get a newer ptp"),
        ("2.10", "knows 2.2 at most"),
        (None, "no _schema_version .* `ptp schema migrate RUN --from 1.0`"),
        ("1.7", "unknown schema '1.7'; known: 1.0"),
        ("new", "unknown schema 'new'"),
    ],
)
def test_a_version_that_cant_be_read_is_refused_with_what_to_do(version: str | None, message: str) -> None:
    with pytest.raises(RunUnreadable, match=message):
        RUN_SCHEMAS.check_found(version, "x.db")


def test_decisions_can_be_asked_for_by_their_first_name(tmp_path: Path) -> None:
    database = create(tmp_path / "a.db", "1.0")
    with opened(database) as connection:
        connection.execute("INSERT INTO decisions (decision_id, reasoning) VALUES ('a', 'because')")
    query = f"SELECT {', '.join(shape_of('1.0').tables['decisions'])} FROM decisions"
    for version in (SCHEMA_VERSION, "1.0", SCHEMA_VERSION):
        with opened(database) as connection:
            assert [row[7] for row in connection.execute(query)] == ["because"]
        migrate_file(database, version)
    with opened(database) as connection:
        connection.execute("DROP VIEW decisions")
        (missing,) = schema_drift(SQLite(connection, database), SCHEMA_VERSION)
    assert (missing.kind, missing.name) == ("missing_views", "decisions")
