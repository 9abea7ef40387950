"""Runs of every old schema, made by that schema's own SQL and committed, are read like those of today."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ptp.errors import RecordingError, RunUnreadable
from ptp.recording import RunDirectory
from ptp.recording.database import Database, open_for_writing
from ptp.recording.episodes import export_episodes
from ptp.recording.report import write_report
from ptp.versioning.database import migrate_file, verify_file
from ptp.versioning.schema import SCHEMA_VERSION
from ptp.versioning.sqlite import shape_of
from tests.versioning.databases import FIXTURES, OLD, contents, copy_recorded, copy_run, version_of

Call = Callable[..., tuple[int, str, str]]


def test_there_is_a_run_of_every_old_schema_and_each_is_small_and_good() -> None:
    assert sorted(path.name for path in (FIXTURES / "runs").iterdir()) == OLD
    for version in OLD:
        database = FIXTURES / "runs" / version / "game_data.db"
        assert database.stat().st_size < 100_000
        assert version_of(database) == version
        assert verify_file(database).problems == []


@pytest.mark.parametrize("version", OLD)
def test_an_old_run_is_listed_and_shown(tmp_path: Path, ptp: Call, ptp_json: Callable[..., Any], version: str) -> None:
    folder = copy_run(version, tmp_path / "var")
    assert [run["run_id"] for run in ptp_json("runs")] == [folder.name]
    shown = ptp_json("show", "latest")
    assert (shown["steps"], shown["decisions"], shown["tokens"]) == (0, 3, 6)
    code, out, _ = ptp("show", "latest")
    assert code == 0
    assert "llm in pokemon-red" in out


@pytest.mark.parametrize("version", OLD)
def test_an_old_run_has_no_tape_and_a_replay_says_so_by_name(tmp_path: Path, ptp: Call, version: str) -> None:
    folder = copy_run(version, tmp_path / "var")
    code, _, err = ptp("replay", "latest")
    assert code == 1
    assert folder.name in err
    assert "nothing to replay" in err


@pytest.mark.parametrize("version", OLD)
def test_an_old_run_is_exported_and_reported_without_being_changed(tmp_path: Path, version: str) -> None:
    directory = RunDirectory(copy_run(version, tmp_path))
    before = directory.database.read_bytes()
    assert export_episodes(directory) == []
    assert write_report(directory).exists()
    assert directory.database.read_bytes() == before


@pytest.mark.parametrize("version", OLD)
def test_an_old_database_answers_every_query_of_the_newest_schema(tmp_path: Path, version: str) -> None:
    folder = copy_run(version, tmp_path)
    with Database(folder / "game_data.db") as database:
        assert database.version == version
        for table, columns in shape_of(SCHEMA_VERSION).tables.items():
            list(database.rows(f"SELECT {', '.join(columns)} FROM {table}"))
        rows = list(database.rows("SELECT decision_id, context_version, tick FROM action_history ORDER BY tick"))
    names = "decisions" if version < "2.0" else "action_history"
    context = None if version < "2.0" else "context_version 1"
    assert rows[0] == (f"{names}-1", context, 10)


@pytest.mark.parametrize("version", OLD)
def test_an_old_run_can_be_migrated_and_is_the_same_run(
    tmp_path: Path, ptp_json: Callable[..., Any], version: str
) -> None:
    folder = copy_run(version, tmp_path / "var")
    before, rows = ptp_json("show", "latest"), contents(folder / "game_data.db")
    ptp_json("schema", "migrate", "latest")
    after = ptp_json("show", "latest")
    header = after.pop("run")
    assert header["seal"] is not None
    sealed = {name: header[name] for name in ("seal", "checksum")}
    assert header == before.pop("run") | sealed | {"schema_version": SCHEMA_VERSION}
    assert after == before
    migrated = contents(folder / "game_data.db")
    assert {table: len(migrated[table]) for table in rows} == {table: len(found) for table, found in rows.items()}


def test_an_old_run_is_not_written_to_before_it_is_migrated(tmp_path: Path) -> None:
    database = copy_run("2.0", tmp_path) / "game_data.db"
    with pytest.raises(RecordingError, match=r"has schema 2\.0 and can't be written to; bring it to 2\.2 with"):
        open_for_writing(database)
    migrate_file(database, SCHEMA_VERSION)
    open_for_writing(database).close()


def test_a_newer_run_is_refused_by_name_with_what_to_do(tmp_path: Path, ptp: Call) -> None:
    folder = copy_run("2.0", tmp_path / "var")
    connection = sqlite3.connect(folder / "game_data.db")
    connection.execute("UPDATE _schema_version SET version = '7.0'")
    connection.commit()
    connection.close()
    with pytest.raises(RunUnreadable, match=r"has schema 7\.0"):
        Database(folder / "game_data.db")
    code, _, err = ptp("show", "latest")
    assert code == 1
    assert "has schema 7.0, and this ptp knows 2.2 at most; get a newer ptp: `pip install --upgrade ptp`" in err


def test_a_run_of_2_1_has_nothing_in_the_tables_and_columns_that_came_after_it(tmp_path: Path) -> None:
    folder = copy_recorded(tmp_path)
    with Database(folder / "game_data.db") as database:
        for table in shape_of("2.2").tables.keys() - shape_of("2.1").tables.keys():
            assert database.row(f"SELECT count(*) FROM {table}") == (0,)
        assert database.row("SELECT count(*), count(command), count(info), count(actor) FROM steps") == (40, 40, 0, 0)


def test_a_run_that_was_recorded_as_2_1_replays_before_and_after_migrations(tmp_path: Path, ptp: Call) -> None:
    folder = copy_recorded(tmp_path / "var")
    for target in ("2.1", "2.2", "2.1"):
        assert ptp("schema", "migrate", "latest", "--to", target)[0] == 0
        assert version_of(folder / "game_data.db") == target
        code, out, _ = ptp("replay", "latest", "--verify")
        assert code == 0
        assert "40 ticks" in out
    assert verify_file(folder / "game_data.db").problems == []
