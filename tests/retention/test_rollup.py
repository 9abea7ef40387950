"""Old runs made small, and brought back bit for bit."""

from __future__ import annotations

import gzip
import json
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars
import pytest

from ptp.errors import RecordingError, RunUnreadable
from ptp.recording import RunDirectory
from ptp.recording.database import Database, open_for_writing
from ptp.recording.packed import readable
from ptp.retention.rollup import roll_up, unpack_run


def rows(path: Path, sql: str) -> list[Any]:
    connection = sqlite3.connect(path / "game_data.db")
    found = connection.execute(sql).fetchall()
    connection.close()
    return found


def test_a_rolled_up_run_is_small_listed_and_brought_back(
    recorded: Callable[..., Path], ptp: Callable[..., tuple[int, str, str]], ptp_json: Any
) -> None:
    path = recorded("LunarLander-v3", ticks=2000)
    steps = rows(path, "SELECT * FROM steps ORDER BY tick")
    listed = ptp_json("runs")
    (done,) = ptp_json("prune", "--max-sessions", "0", "--roll-up")["rolled_up"]
    assert done["after"] < done["before"] / 2
    assert not (path / "game_data.db").exists()
    assert ptp_json("runs") == listed
    assert ptp_json("prune", "--max-sessions", "0", "--roll-up")["rolled_up"] == []
    assert ptp_json("prune", "--restore", "latest") == {"restored": path.name}
    assert rows(path, "SELECT * FROM steps ORDER BY tick") == steps
    assert ptp("replay", "latest", "--verify")[0] == 0


def test_the_steps_are_in_parquet_as_they_were(recorded: Callable[..., Path]) -> None:
    path = recorded("LunarLander-v3", ticks=500)
    expected = rows(path, "SELECT tick, command, reward, terminated, state_hash FROM steps ORDER BY tick")
    roll_up(RunDirectory(path), "parquet")
    table = polars.read_parquet(path / "episodes" / "steps.parquet")
    assert table.select("tick", "command", "reward", "terminated", "state_hash").rows() == expected
    assert table.schema["terminated"] == polars.Boolean


def test_the_index_has_the_figures_of_every_episode(recorded: Callable[..., Path]) -> None:
    path = recorded(ticks=300)
    expected = rows(path, "SELECT episode, steps, reward FROM episodes ORDER BY episode")
    roll_up(RunDirectory(path), "compress")
    index = json.loads((path / "episodes" / "episode_index.json").read_text())
    assert [(each["episode"], each["steps"], each["reward"]) for each in index["episodes"]] == expected
    assert not (path / "episodes" / "steps.parquet").exists()


def test_a_crashed_run_is_still_listed_with_its_figures(recorded: Callable[..., Path], ptp_json: Any) -> None:
    path = recorded(ticks=100)
    header = json.loads((path / "metadata.json").read_text())
    header.update(status="running", ticks=None, episodes=None, total_reward=None)
    (path / "metadata.json").write_text(json.dumps(header))
    (before,) = ptp_json("runs")
    roll_up(RunDirectory(path), "compress")
    (after,) = ptp_json("runs")
    assert (after["status"], after["ticks"]) == ("crashed", 100)
    assert after == before


def test_a_damaged_database_is_left_as_it_is(recorded: Callable[..., Path], ptp_json: Any) -> None:
    path = recorded(ticks=100)
    data = bytearray((path / "game_data.db").read_bytes())
    data[100:4000] = bytes(3900)
    (path / "game_data.db").write_bytes(bytes(data))
    done = ptp_json("prune", "--max-sessions", "0", "--roll-up")
    assert done["rolled_up"] == []
    assert path.name in done["failed"][0]
    assert (path / "game_data.db").read_bytes() == bytes(data)


def test_a_damaged_packed_database_is_refused(recorded: Callable[..., Path]) -> None:
    path = recorded(ticks=50)
    directory = RunDirectory(path)
    with pytest.raises(RunUnreadable, match="not rolled up"):
        unpack_run(directory)
    roll_up(directory, "compress")
    packed = path / "game_data.db.gz"
    packed.write_bytes(packed.read_bytes()[:-200])
    with pytest.raises(RunUnreadable, match="restore it from a copy"):
        unpack_run(directory)
    assert packed.exists()
    assert not (path / "game_data.db").exists()


def test_the_packed_database_opens_with_common_tools(recorded: Callable[..., Path]) -> None:
    path = recorded(ticks=50)
    roll_up(RunDirectory(path), "compress")
    with gzip.open(path / "game_data.db.gz") as file:
        assert file.read(16) == b"SQLite format 3\0"


def test_a_live_run_is_not_rolled_up(recorded: Callable[..., Path], ptp_json: Any) -> None:
    path = recorded(ticks=50)
    owner = RunDirectory(path)
    owner.acquire()
    assert ptp_json("prune", "--max-sessions", "0", "--roll-up")["rolled_up"] == []
    assert (path / "game_data.db").exists()
    owner.release()


def copies(data: Path) -> list[Path]:
    return sorted((data / "cache" / "databases").glob("*"))


@pytest.mark.parametrize(
    "words",
    [
        ("show", "latest"),
        ("replay", "latest", "--verify"),
        ("replay", "latest", "--from-tick", "90"),
        ("export", "--run", "latest", "--what", "steps", "--format", "ndjson"),
        ("actions", "--run", "latest"),
        ("metrics", "--run", "latest"),
        ("status", "--run", "latest"),
        ("screenshot", "list", "--run", "latest"),
    ],
    ids=" ".join,
)
def test_an_archived_run_is_read_as_before_and_told_once(
    recorded: Callable[..., Path], ptp: Callable[..., tuple[int, str, str]], words: tuple[str, ...]
) -> None:
    path = recorded(ticks=100)
    before = ptp(*words)
    roll_up(RunDirectory(path), "compress")
    code, out, error = ptp(*words)
    assert (code, out) == before[:2]
    assert code == 0
    assert error.count("is archived") == 1
    assert f"`ptp prune --restore {path.name}`" in error
    assert not (path / "game_data.db").exists()


def test_an_archived_run_makes_the_same_video(recorded: Callable[..., Path], ptp_json: Any, tmp_path: Path) -> None:
    path = recorded("LunarLander-v3", ticks=60)
    whole = ptp_json("video", "latest", "-o", str(tmp_path / "a.mp4"))
    roll_up(RunDirectory(path), "parquet")
    again = ptp_json("video", "latest", "--overlay", "-o", str(tmp_path / "b.mp4"))
    assert again["frames"] == whole["frames"] == 60


def test_an_archived_run_can_be_forked_and_gone_on_with(recorded: Callable[..., Path], ptp_json: Any) -> None:
    path = recorded(ticks=60)
    roll_up(RunDirectory(path), "compress")
    fork = ptp_json("fork", path.name, "--at-tick", "40", "--max-ticks", "50")
    assert (fork["status"], fork["ticks"]) == ("completed", 50)
    assert not (path / "game_data.db").exists()
    resumed = ptp_json("resume", path.name, "--max-ticks", "80")
    assert (resumed["status"], resumed["ticks"]) == ("completed", 80)
    assert not (path / "game_data.db.gz").exists()
    assert ptp_json("replay", path.name, "--verify")["equal"]


def test_an_archived_run_is_not_written_to(recorded: Callable[..., Path]) -> None:
    path = recorded(ticks=20)
    roll_up(RunDirectory(path), "compress")
    with pytest.raises(RecordingError, match=f"archived; before it is changed, `ptp prune --restore {path.name}`"):
        open_for_writing(path / "game_data.db")


def test_copies_of_archived_runs_make_room_for_each_other(recorded: Callable[..., Path], tmp_path: Path) -> None:
    databases = [recorded(ticks=50) / "game_data.db" for _ in range(3)]
    for database in databases:
        roll_up(RunDirectory(database.parent), "compress")
    first = readable(databases[0])
    second = readable(databases[1], most=2 * first.stat().st_size)
    assert copies(tmp_path / "var") == sorted([first, second])
    os.utime(first, (1, 1))
    os.utime(second, (2, 2))
    assert readable(databases[0]) == first  # asked for again, so the other is the older one
    third = readable(databases[2], most=2 * first.stat().st_size)
    assert copies(tmp_path / "var") == sorted([first, third])
    assert copies(tmp_path / "var") == sorted([first, readable(databases[2], most=0)])


def test_a_copy_that_is_out_of_date_is_not_read(recorded: Callable[..., Path], ptp_json: Any, tmp_path: Path) -> None:
    path = recorded(ticks=50)
    roll_up(RunDirectory(path), "compress")
    assert ptp_json("show", "latest")["steps"] == 50
    ptp_json("resume", "latest", "--max-ticks", "70")
    assert copies(tmp_path / "var") == []
    roll_up(RunDirectory(path), "compress")
    assert ptp_json("show", "latest")["steps"] == 70
    assert len(copies(tmp_path / "var")) == 1
    ptp_json("prune", "--max-sessions", "0")
    assert copies(tmp_path / "var") == []


def test_an_archived_run_that_was_put_elsewhere_is_read_there(recorded: Callable[..., Path], tmp_path: Path) -> None:
    path = recorded(ticks=50)
    roll_up(RunDirectory(path), "compress")
    moved = path.rename(tmp_path / "mine")
    with Database(moved / "game_data.db") as database:
        assert database.row("SELECT count(*) FROM steps") == (50,)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["mine", "var"]


def test_a_damaged_archive_is_named(recorded: Callable[..., Path], ptp: Callable[..., tuple[int, str, str]]) -> None:
    path = recorded(ticks=50)
    roll_up(RunDirectory(path), "compress")
    packed = path / "game_data.db.gz"
    packed.write_bytes(packed.read_bytes()[:-200])
    code, _, error = ptp("show", "latest")
    assert code == 1
    assert "game_data.db.gz is damaged" in error
