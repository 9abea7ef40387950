"""Bringing runs into the central database."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest

from ptp.aggregation.central import Central, PostgreSQL
from ptp.aggregation.ingest import Ingested, as_json, ingest, prepare, refresh
from ptp.errors import CentralError, RunUnreadable
from ptp.recording import RunDirectory
from ptp.versioning.migration import migrate
from tests.aggregation.databases import Contents, contents
from tests.versioning.databases import OLD, copy_run

if TYPE_CHECKING:
    import psycopg


def timeless(rows: Contents) -> Contents:
    """Return rows without the time when they came in."""
    return {
        table: [{name: value for name, value in row.items() if name != "imported_at"} for row in found]
        for table, found in rows.items()
    }


@pytest.mark.parametrize("version", OLD)
def test_a_run_of_every_old_schema_comes_in_and_is_not_changed(
    tmp_path: Path, connection: psycopg.Connection, central: Central, version: str
) -> None:
    directory = RunDirectory(copy_run(version, tmp_path))
    before = directory.database.read_bytes()
    prepare(connection, central)
    assert ingest(connection, directory) == Ingested(directory.run_id, "added", 3, 3)
    assert directory.database.read_bytes() == before
    found = contents(connection)
    (run,), (rollup,) = found["aggregated_runs"], found["run_rollups"]
    assert run["run_id"] == UUID(directory.run_id)
    assert (run["world"], run["agent"], run["status"]) == ("pokemon-red", "llm", "completed")
    assert (run["duration_seconds"], run["duration_ticks"], run["errors_count"]) == (1800, 1, 3)
    assert run["started_at"].isoformat() == "2024-01-15T09:00:00"
    assert run["config_snapshot"] == "config_snapshot 1"
    decision = min(found["aggregated_decisions"], key=lambda row: row["tick"])
    assert (decision["tick"], decision["cost"], decision["confidence"]) == (10, Decimal("0.25"), Decimal("0.25"))
    assert (decision["model_name"], decision["context"], decision["was_correct"]) == ("model_used 1", {"row": 1}, None)
    assert {row["pokemon_enemy"] for row in found["aggregated_battles"]} == {f"enemy_species {n}" for n in (1, 2, 3)}
    assert (rollup["decisions"], rollup["tokens_used"], rollup["cost"]) == (3, 6, Decimal("1.5"))


def test_runs_of_every_schema_live_side_by_side_and_come_in_twice_without_a_trace(
    tmp_path: Path, connection: psycopg.Connection, central: Central
) -> None:
    directories = [RunDirectory(copy_run(version, tmp_path)) for version in OLD]
    prepare(connection, central)
    first = [ingest(connection, directory) for directory in directories]
    before = timeless(contents(connection))
    second = [ingest(connection, directory) for directory in directories]
    assert ({each.outcome for each in first}, {each.outcome for each in second}) == ({"added"}, {"replaced"})
    assert timeless(contents(connection)) == before
    assert {table: len(rows) for table, rows in before.items()} == {
        "aggregated_runs": 5, "aggregated_decisions": 15, "aggregated_battles": 15, "run_rollups": 5,
        "model_performance": 0,
    }  # fmt: skip


def test_a_run_that_was_migrated_comes_in_as_it_did_before(
    tmp_path: Path, connection: psycopg.Connection, central: Central, ptp_json: Callable[..., Any]
) -> None:
    directory = RunDirectory(copy_run("1.0", tmp_path / "var"))
    prepare(connection, central)
    ingest(connection, directory)
    before = timeless(contents(connection))
    ptp_json("schema", "migrate", "latest")
    ingest(connection, directory)
    assert timeless(contents(connection)) == before


def test_a_run_that_grew_is_replaced(tmp_path: Path, connection: psycopg.Connection, central: Central) -> None:
    directory = RunDirectory(copy_run("2.0", tmp_path))
    prepare(connection, central)
    ingest(connection, directory)
    database = sqlite3.connect(directory.database)
    database.execute("DELETE FROM battles")
    database.execute("INSERT INTO action_history (decision_id, tick, api_cost) VALUES ('more', 40, 2)")
    database.commit()
    database.close()
    assert ingest(connection, directory) == Ingested(directory.run_id, "replaced", 4, 0)
    found = contents(connection)
    assert (len(found["aggregated_decisions"]), found["aggregated_battles"]) == (4, [])
    assert (found["run_rollups"][0]["decisions"], found["run_rollups"][0]["cost"]) == (4, Decimal("3.5"))


def test_only_new_runs_come_in_when_asked_so(tmp_path: Path, connection: psycopg.Connection, central: Central) -> None:
    directory = RunDirectory(copy_run("2.0", tmp_path))
    prepare(connection, central)
    assert ingest(connection, directory, only_new=True).outcome == "added"
    assert ingest(connection, directory, only_new=True).outcome == "skipped"
    header = json.loads((directory.path / "metadata.json").read_text())
    header["completed_at"] = "2024-02-01T00:00:00.000Z"
    (directory.path / "metadata.json").write_text(json.dumps(header))
    assert ingest(connection, directory, only_new=True).outcome == "replaced"


def test_a_run_that_cannot_come_in_leaves_what_was_there(
    tmp_path: Path, connection: psycopg.Connection, central: Central
) -> None:
    import psycopg

    directory = RunDirectory(copy_run("2.0", tmp_path))
    prepare(connection, central)
    ingest(connection, directory)
    before = contents(connection)
    database = sqlite3.connect(directory.database)
    database.execute("UPDATE battles SET turns_taken = 99999999999 WHERE battle_id = 'battles-3'")
    database.commit()
    with pytest.raises(psycopg.DataError, match="out of range"):
        ingest(connection, directory)
    assert contents(connection) == before
    database.execute("DELETE FROM runs")
    database.commit()
    database.close()
    with pytest.raises(RunUnreadable, match="has no row in runs"):
        ingest(connection, directory)
    header = json.loads((directory.path / "metadata.json").read_text())
    (directory.path / "metadata.json").write_text(json.dumps(header | {"run_id": "mine"}))
    with pytest.raises(RunUnreadable, match="has the run id 'mine', which is not a UUID"):
        ingest(connection, directory)
    assert contents(connection) == before


def test_two_who_bring_the_same_run_in_leave_it_once(tmp_path: Path, central: Central) -> None:
    directory = RunDirectory(copy_run("2.0", tmp_path))
    with central.connected() as connection:
        prepare(connection, central)

    def bring() -> None:
        with central.connected() as own:
            for _ in range(5):
                ingest(own, RunDirectory(directory.path))

    both = [threading.Thread(target=bring) for _ in range(2)]
    for each in both:
        each.start()
    for each in both:
        each.join()
    with central.connected() as connection:
        found = contents(connection)
    assert (len(found["aggregated_runs"]), len(found["aggregated_decisions"])) == (1, 3)


def test_a_game_tells_its_battles_and_another_world_tells_none(
    connection: psycopg.Connection, central: Central, recorded: Callable[..., Path]
) -> None:
    lake = recorded(ticks=50)
    game = recorded("tallgrass", "--agent", "explorer", ticks=700)
    prepare(connection, central)
    assert ingest(connection, RunDirectory(lake)).decisions == 50
    assert ingest(connection, RunDirectory(game)).battles > 2
    rows = {row["world"]: row for row in contents(connection)["aggregated_runs"]}
    assert rows["FrozenLake-v1"]["battles_won"] is rows["FrozenLake-v1"]["badges_earned"] is None
    assert rows["FrozenLake-v1"]["config_snapshot"]["limits"]["max_ticks"] == 50
    assert rows["tallgrass"]["battles_won"] > 0
    assert rows["tallgrass"]["final_level"] > 4
    assert len(rows["tallgrass"]["rom_hash"]) == 40
    battle = next(row for row in contents(connection)["aggregated_battles"] if row["outcome"] == "win")
    assert battle["moves_used"]
    assert battle["pokemon_died"] is False


def test_what_spans_many_runs_is_counted_anew(tmp_path: Path, connection: psycopg.Connection, central: Central) -> None:
    prepare(connection, central)
    for version in OLD:
        ingest(connection, RunDirectory(copy_run(version, tmp_path)))
    connection.execute("UPDATE aggregated_runs SET battles_won = 3, battles_lost = 1")
    for _ in range(2):
        refresh(connection)
        (model,) = contents(connection)["model_performance"]
        assert (model["model_name"], model["total_runs"], model["avg_duration_seconds"]) == ("model_name 1", 5, 1800)
        assert (model["win_rate"], model["error_rate"]) == (Decimal("0.75"), 1)
        query = "SELECT runs, completion_rate, median_duration FROM model_comparison"
        assert connection.execute(query).fetchall() == [(5, 1, 1800.0)]
        query = "SELECT sum(decisions), sum(total_cost) FROM cost_analysis"
        assert connection.execute(query).fetchone() == (15, 7.5)
        assert connection.execute("SELECT sum(battles) FROM battle_analysis").fetchone() == (15,)


def test_runs_do_not_come_into_an_old_schema(db: PostgreSQL, connection: psycopg.Connection, central: Central) -> None:
    migrate(db, "1.0")
    with pytest.raises(CentralError, match=r"has central schema 1\.0, and runs come into 1\.1; bring it there with"):
        prepare(connection, central)


@pytest.mark.parametrize(("text", "expected"), [
    (None, None), ('{"a": 1}', '{"a": 1}'), ("plain", '"plain"'), ("NaN", '"NaN"'), ("", '""'),
    ("a\0b", '"a\\ufffdb"'), ('{"a": "\\u0000"}', '{"a": "\\ufffd"}'), ('"\\ud800"', None), ('{"a": 1e999}', None),
])  # fmt: skip
def test_any_text_becomes_json_that_postgresql_takes(
    connection: psycopg.Connection, text: str | None, expected: str | None
) -> None:
    made = as_json(text)
    if expected is not None:
        assert made == expected
    connection.execute("SELECT %s::jsonb", (made,))
