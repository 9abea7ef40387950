"""The run directory: what is committed is kept, and what is wrong is named."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pytest

from ptp.errors import RecordingError, RunLocked, RunUnreadable
from ptp.recording import RunDirectory
from ptp.recording import writer as writer_module
from ptp.recording.database import Database, check_sqlite, create_database
from ptp.recording.figures import make_report
from ptp.recording.seal import Seal
from ptp.recording.writer import Writer
from ptp.records import DecisionEnded, DecisionMade, EpisodeEnded, Event, Notice, Step
from ptp.runs import list_runs
from ptp.versioning import RUN_SCHEMAS, SCHEMA_VERSION
from ptp.worlds.knowledge import Knowledge, Row

RUN = "01a1e142-559b-7db3-8bf0-c635104f2b91"


def rows(directory: Path, sql: str) -> list[tuple[Any, ...]]:
    connection = sqlite3.connect(f"file:{directory / 'game_data.db'}?mode=ro", uri=True)
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


def step(tick: int, **fields: Any) -> Step:
    given = {"episode": 1, "step": tick, "command": "1", "reward": -1.0, "terminated": False, "truncated": False,
             "elapsed": 0.5, "state_hash": "0123456789abcdef", "state": {"observation": 1}}  # fmt: skip
    return Step(tick, **{**given, **fields})


@pytest.fixture
def connection(tmp_path: Path) -> apsw.Connection:
    return create_database(tmp_path / "game_data.db")


# -- the schema ----------------------------------------------------------------------------------------------------

SPECIFIED_TABLES = {
    "_schema_version", "sessions", "runs", "pokemon_party", "battles", "battle_turns", "action_history",
    "navigation_events", "inventory_transactions", "objectives", "errors", "performance_metrics",
    "ai_model_configurations", "screenshots", "steps",
}  # fmt: skip


def test_a_new_database_has_every_table_of_the_specification(connection: apsw.Connection) -> None:
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    assert tables >= SPECIFIED_TABLES
    assert connection.execute("SELECT version FROM _schema_version").fetchall() == [(SCHEMA_VERSION,)]
    assert connection.pragma("journal_mode") == "wal"


def test_a_sqlite_that_can_corrupt_is_refused() -> None:
    with pytest.raises(RecordingError, match=r"SQLite 3\.40\.1 can corrupt"):
        check_sqlite("3.40.1")
    check_sqlite("3.51.3")
    check_sqlite()


# -- the writer ----------------------------------------------------------------------------------------------------


def test_every_kind_of_record_reaches_its_table_exactly(connection: apsw.Connection) -> None:
    writer = Writer(Seal(connection), RUN, Knowledge())
    decision = DecisionMade(
        7, 1_700_000_000.25, 3, {"a": "é"}, "MOVE", {"x": 1}, 'he said "go"\nnow', 0.875, 12.5, 450, 0.045, "m-1",
        "pending", None, None,
    )  # fmt: skip
    writer.add([step(1, reward=0.1 + 0.2, terminated=True), decision, EpisodeEnded(1, 1, 1, 2.5, 0.5, True)])
    writer.add([DecisionEnded(7, "partial", "dropped", 31.0), Notice(0.0, 1, "info", "x", "words")])
    writer.close()
    assert connection.execute("SELECT * FROM steps").fetchall() == [
        (1, 1, 1, "1", 0.1 + 0.2, 1, 0, 0.5, "0123456789abcdef", '{"observation":1}', None, None, None)
    ]
    assert connection.execute("SELECT * FROM episodes").fetchall() == [(1, 1, 1, 2.5, 0.5, 1)]
    assert connection.execute("SELECT * FROM action_history").fetchall() == [
        (f"{RUN[:24]}000000000007", RUN, "2023-11-14T22:13:20.250Z", 3, '{"a":"é"}', "MOVE", '{"x":1}',
         'he said "go"\nnow', 0.875, 12.5, 450, 0.045, "m-1", "partial", "dropped", "2.2", 31)
    ]  # fmt: skip


def test_a_state_that_is_no_json_ends_the_run_and_is_named(connection: apsw.Connection) -> None:
    writer = Writer(Seal(connection), RUN, Knowledge())
    writer.add([step(1)])
    with pytest.raises(RecordingError, match=r"can't be recorded: Encoding objects .*kept; resume the run"):
        writer.add([step(tick, state=object()) for tick in range(2, 1000)])
    with pytest.raises(RecordingError, match="is kept; resume the run"):
        writer.close()


def test_rows_are_committed_within_a_quarter_of_a_second_while_the_run_waits(connection: apsw.Connection) -> None:
    writer = Writer(Seal(connection), RUN, Knowledge())
    writer.add([step(1)])
    deadline = time.monotonic() + 5
    while not writer.committed and time.monotonic() < deadline:
        time.sleep(0.01)
    assert writer.committed == 1
    assert writer_module.INTERVAL <= 0.25
    assert writer_module.IDLE <= 0.25
    writer.close()


def test_a_slow_disk_slows_the_run_and_loses_nothing(
    connection: apsw.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer_module, "LOT", 10)
    monkeypatch.setattr(writer_module, "MOST", 50)
    writer = Writer(Seal(connection), RUN, Knowledge())
    commit, waiting = writer._commit, []

    def slow() -> None:
        time.sleep(0.02)
        commit()

    monkeypatch.setattr(writer, "_commit", slow)
    monkeypatch.setattr(writer_module, "INTERVAL", 0.0)
    for tick in range(1, 501):
        writer.add([step(tick)])
        waiting.append(len(writer._fresh))
    writer.close()
    assert max(waiting) <= 50
    assert connection.execute("SELECT count(*), max(tick) FROM steps").fetchall() == [(500, 500)]


def test_a_busy_disk_does_not_hold_up_a_run_until_many_records_wait(
    connection: apsw.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer_module, "LOT", 10)
    monkeypatch.setattr(writer_module, "MOST", 50)
    writer = Writer(Seal(connection), RUN, Knowledge())
    with writer._database:  # as it is while the other thread commits
        for tick in range(1, 50):
            writer.add([step(tick)])
        assert len(writer._fresh) == 49
        held_up = threading.Thread(target=writer.add, args=([step(50)],))
        held_up.start()
        held_up.join(0.1)
        assert held_up.is_alive()
    held_up.join(5)
    assert not held_up.is_alive()
    writer.close()
    assert connection.execute("SELECT count(*), max(tick) FROM steps").fetchall() == [(50, 50)]


@pytest.mark.parametrize("count", [1, 19, 20, 21, 399, 400, 421, 900])
def test_blocks_and_single_rows_are_written_alike(connection: apsw.Connection, count: int) -> None:
    writer = Writer(Seal(connection), RUN, Knowledge())
    writer.add([step(tick, reward=tick / 7) for tick in range(1, count + 1)])
    writer.close()
    rows = connection.execute("SELECT tick, reward FROM steps ORDER BY tick").fetchall()
    assert rows == [(tick, tick / 7) for tick in range(1, count + 1)]


def test_a_job_finds_everything_committed_that_came_before(connection: apsw.Connection) -> None:
    writer = Writer(Seal(connection), RUN, Knowledge())
    seen = []
    writer.add([step(1), step(2)])
    writer.later(lambda: seen.append(writer.committed))
    assert writer.do(lambda database: database.execute("SELECT count(*) FROM steps").fetchall()) == [(2,)]
    assert seen == [2]
    writer.close()


def test_what_can_only_be_written_in_part_is_not_written(connection: apsw.Connection) -> None:
    class Broken(Knowledge):
        def rows(self, run_id: str, event: Event) -> list[Row]:
            return [Row("INSERT INTO nowhere VALUES (1)", ())]

    writer = Writer(Seal(connection), RUN, Broken())
    writer.add([step(1)])
    writer.do(lambda _: None)
    writer.add([step(2), Event(0.0, 2, 0, "Something", "something", {})])
    with pytest.raises(RecordingError, match="no such table: nowhere; what was committed is kept"):
        writer.close()
    assert connection.execute("SELECT tick FROM steps").fetchall() == [(1,)]


def test_a_job_that_fails_is_raised_by_the_run(connection: apsw.Connection) -> None:
    writer = Writer(Seal(connection), RUN, Knowledge())

    def fail() -> None:
        raise OSError("no space left")

    writer.later(fail)
    with pytest.raises(RecordingError, match="no space left"):
        writer.do(lambda _: None)
    with pytest.raises(RecordingError, match="no space left"):
        writer.add([step(1)])


def test_a_full_disk_is_told_and_what_was_committed_is_kept(tmp_path: Path) -> None:
    connection = create_database(tmp_path / "game_data.db")
    pages: Any = connection.pragma("page_count")
    connection.pragma("max_page_count", pages + 4)
    writer = Writer(Seal(connection), RUN, Knowledge())
    writer.add([step(1)])
    while not writer.committed:
        time.sleep(0.01)

    def write_on() -> None:
        for tick in range(2, 100_000):
            writer.add([step(tick)])

    with pytest.raises(RecordingError, match="full; what was committed is kept; free some space"):
        write_on()
    with pytest.raises(RecordingError):
        writer.close()
    connection.close()
    kept = Database(tmp_path / "game_data.db")
    assert kept.row("SELECT count(*) FROM steps WHERE tick = 1") == (1,)


# -- the directory -------------------------------------------------------------------------------------------------


def test_a_run_leaves_every_file_it_should(recorded: Callable[..., Path]) -> None:
    directory = recorded(ticks=50)
    names = {path.name for path in directory.iterdir()}
    assert {
        "metadata.json",
        "config.yaml",
        "game_data.db",
        "run.log",
        "report.json",
        "report.html",
        "episodes",
    } <= names
    assert rows(directory, "SELECT count(*), max(tick) FROM steps") == [(50, 50)]
    assert rows(directory, "SELECT status, random_seed FROM sessions") == [("completed", 7)]
    assert rows(directory, "SELECT status, duration_ticks, model_name FROM runs") == [("completed", 50, None)]
    assert rows(directory, "SELECT count(*) FROM action_history WHERE execution_status = 'success'") == [(50,)]


def test_two_owners_of_one_directory_are_refused(tmp_path: Path) -> None:
    directory = RunDirectory.create(tmp_path, RUN)
    with pytest.raises(RunLocked, match="belongs to another process"):
        RunDirectory(directory.path).acquire()
    assert RunDirectory(directory.path).is_alive()
    directory.release()
    assert not RunDirectory(directory.path).is_alive()
    directory.acquire()
    directory.release()


def test_a_data_directory_that_cant_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RecordingError, match=r"can't write to .*file: .*; choose another folder with --data-dir"):
        RunDirectory.create(tmp_path / "file", RUN)


# -- the report ----------------------------------------------------------------------------------------------------


def test_the_report_of_a_game_tells_its_story(recorded: Callable[..., Path], buttons: Path) -> None:
    directory = recorded("tallgrass", "--agent", "script", "--script", str(buttons), ticks=100_000)
    report, page = make_report(RunDirectory(directory)), (directory / "report.html").read_text()
    told = {chapter.title: chapter.moments for chapter in report.story}
    assert {"Badges", "Party", "Trainers and defeats", "Levels", "Places"} == told.keys()
    assert rows(directory, "SELECT tick FROM events WHERE kind = 'Joined' LIMIT 1") == [(told["Party"][0].tick,)]
    assert len(told["Places"]) == len({moment.title for moment in told["Places"]}) > 2
    caught = [moment for moment in told["Party"] if moment.title.startswith("caught")]
    assert report.game["Caught"] == len(caught) == report.game["Species owned"] - 1
    assert {"Badges", "Highest level", "Battles won", "Battles lost"} <= report.game.keys()
    assert all(moment.title in page for moment in told["Party"])
    assert report.pictures
    assert page.count('<img src="data:image/') == len(report.pictures)


def test_the_report_of_a_world_without_reward_shows_none(recorded: Callable[..., Path]) -> None:
    directory = recorded("tallgrass", "--agent", "explorer", ticks=60)
    report, page = make_report(RunDirectory(directory)), (directory / "report.html").read_text()
    assert not report.has_reward
    assert [plot.title for plot in report.plots] == ["Decision latency"]
    assert "reward" not in page.replace("--reward", "")
    assert ">-<" not in page
    assert "$0" not in page


def test_the_report_of_episodes_tells_the_best_and_the_last(recorded: Callable[..., Path]) -> None:
    directory = recorded("CartPole-v1", ticks=600)
    report, page = make_report(RunDirectory(directory)), (directory / "report.html").read_text()
    (best,) = rows(directory, "SELECT max(reward) FROM episodes")[0]
    (last, count) = rows(directory, "SELECT reward, episode FROM episodes ORDER BY episode DESC LIMIT 1")[0]
    assert report.best_episode is not None
    assert report.last_episode is not None
    assert (report.best_episode.reward, report.last_episode.reward) == (best, last)
    assert report.plots[0].title == "Return of each episode"
    records = [float(moment.title.split(": ")[1].split()[0]) for moment in report.story[0].moments]
    assert records == sorted(set(records))
    assert records[-1] == best
    assert f"last return, episode {count}" in page


# -- damage --------------------------------------------------------------------------------------------------------


def test_a_missing_database_is_named(recorded: Callable[..., Path]) -> None:
    directory = recorded()
    (directory / "game_data.db").unlink()
    with pytest.raises(RunUnreadable, match=r"game_data\.db is missing"):
        Database(directory / "game_data.db")


@pytest.mark.parametrize("share", [0.0, 0.001, 0.1, 0.5, 0.9])
def test_a_truncated_database_is_named(recorded: Callable[..., Path], share: float) -> None:
    directory = recorded(ticks=2000)
    database = directory / "game_data.db"
    data = database.read_bytes()
    database.write_bytes(data[: int(len(data) * share)])
    with pytest.raises(RunUnreadable, match=r"game_data\.db"):
        make_report(RunDirectory(directory))


def test_a_database_of_another_schema_is_refused_by_version(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "game_data.db")
    connection.executescript(RUN_SCHEMAS.sql(SCHEMA_VERSION).replace(f"VALUES ('{SCHEMA_VERSION}')", "VALUES ('9.9')"))
    connection.close()
    with pytest.raises(RunUnreadable, match=r"has schema 9\.9, and this ptp knows 2\.2 at most"):
        Database(tmp_path / "game_data.db")


@pytest.mark.parametrize("text", ["", "{", '{"run_id": 3}'])
def test_damaged_metadata_is_named(recorded: Callable[..., Path], text: str) -> None:
    directory = recorded()
    (directory / "metadata.json").write_text(text)
    with pytest.raises(RunUnreadable, match=r"metadata\.json can't be read"):
        RunDirectory(directory).read_metadata()
    (directory / "metadata.json").unlink()
    with pytest.raises(RunUnreadable, match=r"has no metadata\.json"):
        RunDirectory(directory).read_metadata()


# -- death ---------------------------------------------------------------------------------------------------------


def test_a_run_that_is_killed_keeps_what_was_committed_and_is_known_as_crashed(tmp_path: Path) -> None:
    words = ["run", "--world", "CliffWalking-v1", "--tick-rate-base", "500", "--data-dir", str(tmp_path), "-q"]
    process = subprocess.Popen([sys.executable, "-m", "ptp", *words])
    try:
        deadline = time.monotonic() + 30
        ticks = 0
        while ticks < 50:
            assert time.monotonic() < deadline
            assert process.poll() is None
            time.sleep(0.1)
            for run in list_runs(tmp_path):
                if (run.path / "metadata.json").exists():
                    assert run.status == "running"
                    ticks = run.summary().ticks or 0
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    (run,) = list_runs(tmp_path)
    summary = run.summary()
    assert summary.status == "crashed"
    assert summary.ticks is not None
    assert summary.ticks >= ticks
    assert rows(run.path, "SELECT count(*), max(tick) FROM steps") == [(summary.ticks, summary.ticks)]
    assert rows(run.path, "PRAGMA integrity_check") == [("ok",)]


# -- exports and reports -------------------------------------------------------------------------------------------


def test_episodes_are_exported_as_lines_of_json(recorded: Callable[..., Path]) -> None:
    directory = recorded(ticks=100)
    lines = [
        json.loads(line)
        for path in sorted((directory / "episodes").iterdir())
        for line in path.read_text().splitlines()
    ]
    assert [line["tick"] for line in lines] == list(range(1, 101))
    assert lines[0].keys() >= {
        "episode",
        "step",
        "command",
        "reward",
        "terminated",
        "truncated",
        "elapsed",
        "state_hash",
    }
    assert lines[0]["command"] in {"0", "1", "2", "3"}
    assert lines[0]["terminated"] is False


def test_a_long_export_begins_a_new_file_between_episodes(
    recorded: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ptp.recording.episodes.STEPS_PER_FILE", 20)
    directory = recorded(ticks=100)
    paths = sorted((directory / "episodes").iterdir())
    assert len(paths) > 2
    seen: set[int] = set()
    for path in paths:
        episodes = {json.loads(line)["episode"] for line in path.read_text().splitlines()}
        assert path.name == f"episode_{min(episodes):06d}.jsonl"
        assert not episodes & seen
        seen |= episodes


def test_the_report_tells_the_run_in_figures(recorded: Callable[..., Path]) -> None:
    directory = recorded(ticks=300)
    report = json.loads((directory / "report.json").read_text())
    (total,) = rows(directory, "SELECT sum(reward) FROM steps")[0]
    assert report["steps"] == 300
    assert report["run"]["total_reward"] == total
    assert report["episode_reward"]["count"] == report["episodes"]
    assert {plot["title"] for plot in report["plots"]} == {"Return of each episode", "Decision latency"}
    page = (directory / "report.html").read_text()
    assert page.count("<polyline") == 2  # no model was paid, so there is no cost to plot
    assert "cost" not in page


def test_the_report_of_one_unfinished_episode_plots_the_total_reward(recorded: Callable[..., Path]) -> None:
    directory = recorded("CliffWalking-v1", ticks=30)
    report = json.loads((directory / "report.json").read_text())
    assert report["plots"][0]["title"] == "Total reward"
    assert report["plots"][0]["points"][-1][1] == report["run"]["total_reward"]


def test_the_log_is_lines_of_json(recorded: Callable[..., Path], tmp_path: Path) -> None:
    directory = recorded("FrozenLake-v1", "--log-file", str(tmp_path / "copy.log"), ticks=5)
    for path in (directory / "run.log", tmp_path / "copy.log"):
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        assert {line["event"] for line in lines} >= {"run_began", "run_ended"}
