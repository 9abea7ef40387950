"""Tables as frames and files: one schema for every run, typed, and never all in memory."""

from __future__ import annotations

import csv
import io
import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars
import pytest

from ptp.errors import UsageError
from ptp.records import Step
from ptp.runs import Run
from ptp.runs.exports import FORMATS, TABLES, WHATS, check_names, export, write_export
from tests.runs.conftest import TAPELESS, Call, old


def frame(run: Run, what: Any) -> polars.DataFrame:
    return polars.read_parquet(io.BytesIO(b"".join(export([run], what, "parquet"))))


@pytest.mark.parametrize("what", WHATS)
def test_a_table_has_the_same_schema_in_every_world_and_every_old_schema(
    shelf: Path, pole: Run, game: Run, what: str
) -> None:
    schemas = [frame(run, what).schema for run in (pole, game, *(old(shelf, version) for version in TAPELESS))]
    assert all(schema == schemas[0] for schema in schemas)
    assert next(iter(schemas[0])) == "run_id"
    assert polars.Null not in schemas[0].dtypes()


def test_columns_have_the_types_that_their_names_promise(game: Run) -> None:
    steps, decisions = frame(game, "steps"), frame(game, "decisions")
    types = {name: str(steps.schema[name]) for name in ("run_id", "tick", "reward", "terminated", "state")}
    assert types == {
        "run_id": "String",
        "tick": "Int64",
        "reward": "Float64",
        "terminated": "Boolean",
        "state": "String",
    }
    assert decisions.schema["timestamp"] == polars.Datetime("ms", "UTC")
    first = decisions.row(0, named=True)
    made = next(iter(game.decisions()))
    assert first["timestamp"] == datetime.fromtimestamp(made.at, UTC)
    assert first["decision_id"].startswith(game.id[:24])
    assert json.loads(first["game_state"]) == made.state
    assert steps["terminated"].to_list() == [step.terminated for step in game.steps()]


def test_rows_become_the_frame_that_is_exported(game: Run) -> None:
    assert game.events().to_polars().equals(frame(game, "events"))
    assert game.steps(10, 20).to_polars()["tick"].to_list() == [*range(10, 21)]
    assert game.notices().to_polars().height == len(game.notices())
    assert "went to FERNHOLLOW" in game.events()._repr_html_()
    assert repr(game.steps()) == f"<420 Step records of run {game.id}>"


def test_a_frame_without_its_package_names_the_remedy(pole: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(UsageError, match="this needs pandas; install it with `pip install pandas`"):
        pole.steps().to_pandas()
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(UsageError, match="this needs polars; install it with `pip install polars`"):
        pole.steps().to_polars()


@pytest.mark.parametrize("format", FORMATS)
def test_several_runs_are_joined_into_one_file(shelf: Path, pole: Run, game: Run, format: Any, tmp_path: Path) -> None:
    path = tmp_path / "steps"
    size = write_export([pole, old(shelf, "1.0"), game], "steps", format, path)
    assert size == path.stat().st_size
    rows = read_back(path, format, "steps")
    assert len(rows) == 620
    assert {row["run_id"] for row in rows[:200]} == {pole.id}
    assert {row["run_id"] for row in rows[200:]} == {game.id}


def read_back(path: Path, format: str, what: str) -> list[dict[str, Any]]:
    if format == "parquet":
        return polars.read_parquet(path).to_dicts()
    if format == "sqlite":
        with closing(sqlite3.connect(path)) as database:
            database.row_factory = sqlite3.Row
            return [dict(row) for row in database.execute(f"SELECT * FROM {what}")]
    if format == "csv":
        with open(path, newline="") as file:
            return [*csv.DictReader(file)]
    if format == "json":
        return list(json.loads(path.read_bytes())[what])
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_what_differs_between_worlds_is_nested_in_json_and_text_in_csv(game: Run, tmp_path: Path) -> None:
    for format in ("ndjson", "csv"):
        write_export([game], "events", format, tmp_path / format)
    nested, flat = (read_back(tmp_path / format, format, "events") for format in ("ndjson", "csv"))
    assert isinstance(nested[0]["detail"], dict)
    assert json.loads(flat[0]["detail"]) == nested[0]["detail"]
    assert nested[0]["timestamp"] == flat[0]["timestamp"]
    assert [row["title"] for row in nested] == [row["title"] for row in flat]
    write_export([game], "steps", "csv", tmp_path / "steps")
    assert {row["terminated"] for row in read_back(tmp_path / "steps", "csv", "steps")} == {"false"}


def test_plain_words_of_an_old_run_are_text_in_json(shelf: Path, tmp_path: Path) -> None:
    write_export([old(shelf, "2.0")], "errors", "json", tmp_path / "errors")
    rows = read_back(tmp_path / "errors", "json", "errors")
    assert rows[0]["recovered"] is True
    assert rows[0]["error_message"] == "error_message 1"


def test_every_table_of_a_record_can_be_exported() -> None:
    assert set(TABLES) | {"status"} == set(WHATS)
    assert Step in TABLES.values()


def test_words_of_the_central_database_are_no_runs(shelf: Path, ptp_in: Call) -> None:
    with pytest.raises(UsageError, match="'decisions' names a table of the central database"):
        check_names(["latest", "decisions"])
    code, _, problem = ptp_in(shelf, "export", "runs")
    assert code == 2
    assert "'runs' names a table of the central database" in problem


def test_the_command_line_exports_several_runs(pole: Run, game: Run, shelf: Path, ptp_in: Call, tmp_path: Path) -> None:
    words = ("--what", "episodes", "--format", "parquet", "-o", str(tmp_path / "x"))
    code, told, _ = ptp_in(shelf, "export", pole.id, game.id, *words)
    assert (code, "episodes of 2 runs" in told) == (0, True)
    assert polars.read_parquet(tmp_path / "x").height == len(pole.episodes()) + len(game.episodes())


MEMORY = """
import resource, sys
from pathlib import Path
from ptp.runs import open_run
from ptp.runs.exports import write_export
run = open_run(Path(sys.argv[1]))
write_export([run] * int(sys.argv[2]), "steps", "parquet", Path(sys.argv[3]))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


def test_ten_times_as_many_rows_take_hardly_more_memory(game: Run, tmp_path: Path) -> None:
    def megabytes(times: int) -> int:
        command = [sys.executable, "-c", MEMORY, str(game.path), str(times), str(tmp_path / "x")]
        return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)

    few, many = megabytes(30), megabytes(300)
    rows = polars.scan_parquet(tmp_path / "x").select(polars.len()).collect().item()
    assert rows == 300 * 420
    assert many < few + 150
