"""What differs from what should be, and how to mend it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ptp.config.versions import CONFIG_KINDS, TypeMismatch, config_drift
from ptp.versioning.drift import SCHEMA_KINDS, TableChange, schema_drift
from ptp.versioning.sqlite import SQLite
from tests.versioning.databases import VERSIONS, create, opened

Call = Callable[..., tuple[int, str, str]]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_fresh_database_has_not_drifted(tmp_path: Path, version: str) -> None:
    with opened(create(tmp_path / "a.db", version)) as connection:
        assert schema_drift(SQLite(connection, "a.db"), version) == []


CHANGES = {
    "DROP TABLE objectives": ("missing_tables", "objectives"),
    "CREATE TABLE extra (a)": ("extra_tables", "extra"),
    "ALTER TABLE battles DROP COLUMN outcome": ("table_schema_changes", "battles.outcome"),
    "ALTER TABLE battles ADD COLUMN weather TEXT": ("table_schema_changes", "battles.weather"),
    "DROP TABLE objectives; CREATE TABLE objectives (objective_id INTEGER PRIMARY KEY, run_id TEXT, "
    "objective_type TEXT, target TEXT, status TEXT, started_at TIMESTAMP, completed_at TIMESTAMP, progress TEXT)": (
        "table_schema_changes",
        "objectives.objective_id",
    ),
    "DROP INDEX idx_screenshots_tick": ("missing_indexes", "idx_screenshots_tick"),
    "DROP INDEX idx_screenshots_tick; CREATE INDEX idx_screenshots_tick ON screenshots(run_id)": (
        "missing_indexes",
        "idx_screenshots_tick",
    ),
    "CREATE INDEX mine ON battles(outcome)": ("extra_indexes", "mine"),
    "CREATE VIEW mine AS SELECT outcome FROM battles": ("extra_views", "mine"),
}


@pytest.mark.parametrize("sql", CHANGES, ids=[f"{kind} {name}" for kind, name in CHANGES.values()])
def test_every_kind_of_schema_drift_is_found_and_its_fix_mends_it(tmp_path: Path, sql: str) -> None:
    database = create(tmp_path / "a.db", "2.2")
    with opened(database) as connection:
        connection.execute(sql)
        db = SQLite(connection, database)
        (finding,) = schema_drift(db, "2.2")
        assert (finding.kind, finding.name) == CHANGES[sql]
        if "anew" not in finding.fix:
            connection.execute(finding.fix)
            assert schema_drift(db, "2.2") == []


def test_names_in_capitals_are_the_same_names(tmp_path: Path) -> None:
    database = create(tmp_path / "a.db", "1.0")
    with opened(database) as connection:
        connection.execute("ALTER TABLE decisions RENAME TO x; ALTER TABLE x RENAME TO DECISIONS")
        assert schema_drift(SQLite(connection, database), "1.0") == []


def test_a_table_that_an_old_schema_may_have_is_no_drift(tmp_path: Path) -> None:
    database = create(tmp_path / "a.db", "1.0")
    with opened(database) as connection:
        connection.execute("CREATE TABLE screenshots (screenshot_id TEXT PRIMARY KEY)")
        assert schema_drift(SQLite(connection, database), "1.0") == []
        assert [each.name for each in schema_drift(SQLite(connection, database), "1.2")][:1] == ["performance_profiles"]


@pytest.mark.parametrize(
    ("tree", "kind", "name", "fix"),
    [
        ({"tick_rate": {"nrmal": 3}}, "unknown_flags", "tick_rate.nrmal", "did you mean 'tick_rate.normal'?"),
        ({"qqq": 3}, "unknown_flags", "qqq", "leave it out"),
        ({"tick_rate_base": 3}, "deprecated_flags", "tick_rate_base", "write it as tick_rate.normal"),
        ({"tick_rate": {"normal": "fast"}}, "type_mismatches", "tick_rate.normal", "write a whole number"),
        ({"tick_rate": {"normal": None}}, "type_mismatches", "tick_rate.normal", "write a whole number"),
        ({"tick_rate": {"normal": -1}}, "value_warnings", "tick_rate.normal", "0 or more"),
        ({"limits": {"on_limit": "explode"}}, "value_warnings", "limits.on_limit", "save-and-exit"),
        ({"tick_rate": {"budget": "hourly"}}, "missing_required", "tick_rate.budget_limit", "or leave out"),
        ({"version": "9.9"}, "value_warnings", "version", "get a newer ptp"),
        ({"version": "9.9", "tick_rat": 3}, "unknown_flags", "tick_rat", "did you mean"),
        ({"version": [1]}, "value_warnings", "version", "get a newer ptp"),
        ({"version": "2.0", "max_ticks": 3}, "deprecated_flags", "max_ticks", "ptp config migrate c.yaml"),
        ({"version": "2.0", "limits": {"max_ticks": 3}}, "unknown_flags", "limits.max_ticks", "write version: '3.0'"),
    ],
)
def test_every_kind_of_config_drift_is_found(tree: dict[str, Any], kind: str, name: str, fix: str) -> None:
    findings = config_drift({"version": "3.0", **tree}, "c.yaml")
    (finding,) = [each for each in findings if each.name == name]
    assert finding.kind == kind
    assert fix in finding.fix


def test_a_type_mismatch_names_both_types() -> None:
    tree = {"version": "3.0", "tick_rate": {"normal": "fast"}, "snapshot": {"on_event": 3}}
    one, other = (each for each in config_drift(tree, "c.yaml") if isinstance(each, TypeMismatch))
    assert (one.flag, one.expected, one.actual) == ("--tick-rate-base", "int", "str")
    assert (other.flag, other.expected, other.actual) == ("--snapshot-on-event", "list", "int")


@pytest.mark.parametrize(
    ("tree", "reference", "found"),
    [
        ({"version": "2.0", "tick_rate_overworld": 3, "max_ticks": 5}, "2.0", []),
        ({"version": "1.0", "max_ticks": 5}, "2.0",
         [("deprecated_flags", "version", "ptp config migrate c.yaml --to 2.0")]),
        ({"version": "2.0", "tick_rate_base": 3}, "2.0",
         [("deprecated_flags", "tick_rate_base", "write it as tick_rate_overworld")]),
        ({"version": "2.0", "limits": {"max_ticks": 3}}, "2.0",
         [("deprecated_flags", "limits.max_ticks", "write it as max_ticks")]),
        ({"version": "2.0", "tick_rate_battle": "x"}, "1.0",
         [("value_warnings", "version", "ptp config migrate c.yaml --to 1.0"),
          ("unknown_flags", "tick_rate_battle", "leave it out"),
          ("type_mismatches", "tick_rate.battle", "write a whole number, 0 or more")]),
        ({"tick_rate_base": 3}, "1.0", [("missing_required", "version", "ptp config migrate c.yaml --to 1.0")]),
    ],
)  # fmt: skip
def test_a_config_can_be_compared_with_an_older_version(
    tree: dict[str, Any], reference: str, found: list[tuple[str, str, str]]
) -> None:
    assert [(each.kind, each.name, each.fix) for each in config_drift(tree, "c.yaml", reference)] == found


def test_a_reference_that_is_no_version_is_refused(tmp_path: Path, ptp: Call) -> None:
    file = tmp_path / "c.yaml"
    file.write_text('version: "3.0"\n')
    assert ptp("drift", "config", str(file), "--reference", "3.0")[0] == 0
    assert ptp("drift", "config", str(file), "--reference", "2.0")[0] == 1
    code, _, error = ptp("drift", "config", str(file), "--reference", "7")
    assert (code, "no config version named '7'" in error) == (2, True)


@pytest.mark.parametrize(
    ("sql", "existing", "expected"),
    [
        ("ALTER TABLE battles DROP COLUMN outcome", None, "TEXT"),
        ("ALTER TABLE battles ADD COLUMN weather TEXT NOT NULL DEFAULT ''", "TEXT NOT NULL", None),
        ("ALTER TABLE battles DROP COLUMN outcome; ALTER TABLE battles ADD COLUMN outcome INTEGER", "INTEGER", "TEXT"),
    ],
)
def test_a_changed_column_is_shown_as_it_is_and_as_it_should_be(
    tmp_path: Path, sql: str, existing: str | None, expected: str | None
) -> None:
    with opened(create(tmp_path / "a.db", "2.2")) as connection:
        connection.execute(sql)
        (change,) = schema_drift(SQLite(connection, "a.db"), "2.2")
    assert isinstance(change, TableChange)
    assert (change.table, change.existing, change.expected) == ("battles", existing, expected)


def test_a_config_without_drift_has_none() -> None:
    assert config_drift({"version": "3.0", "tick_rate": {"normal": 3}, "limits": {}}, "c.yaml") == []


def test_the_verb_exits_with_1_on_drift_and_groups_it_for_programs(
    tmp_path: Path, ptp: Call, ptp_json: Callable[..., Any], recorded: Callable[..., Path]
) -> None:
    good, old = tmp_path / "good.yaml", tmp_path / "old.yaml"
    good.write_text('version: "3.0"\n')
    old.write_text("tick_rate_base: 3\n")
    assert ptp("drift", "config", str(good)) == (0, f"{good} (version 3.0) has no drift\n", "")
    code, out, _ = ptp("drift", "config", str(old))
    assert code == 1
    assert "ptp config migrate" in out
    told = ptp_json("drift", "config", str(old))
    assert told["drift"] is True
    assert set(CONFIG_KINDS) <= told.keys()
    assert told["deprecated_flags"][0]["name"] == "tick_rate_base"

    folder = recorded(ticks=5)
    assert ptp("drift", "schema")[0] == 0
    with opened(folder / "game_data.db") as connection:
        connection.execute("DROP TABLE objectives")
    assert ptp("drift", "schema", "latest")[0] == 1
    told = ptp_json("drift", "schema", str(folder))
    assert set(SCHEMA_KINDS) <= told.keys()
    assert told["missing_tables"][0]["fix"].startswith("CREATE TABLE objectives (")
    code, _, err = ptp("drift", "schema", "--central")
    assert code == 1
    assert "there is no central database in" in err
