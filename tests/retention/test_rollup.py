"""Old runs made small, and brought back bit for bit."""

from __future__ import annotations

import gzip
import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars
import pytest

from ptp.errors import RunUnreadable
from ptp.recording import RunDirectory
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
