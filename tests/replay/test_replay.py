"""Every run replays, or the first tick that differs is named."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from ptp.errors import RunUnreadable, UsageError
from ptp.recording import RunDirectory
from ptp.replay import Replay, Replayed, Tape


def replayed(directory: Path, from_tick: int = 1) -> Replayed:
    replay = Replay(Tape(RunDirectory(directory)), from_tick)
    for _ in replay:
        pass
    replay.close()
    return replay.result


def change(directory: Path, sql: str, *values: Any) -> None:
    connection = sqlite3.connect(directory / "game_data.db")
    connection.execute(sql, values)
    connection.commit()
    connection.close()


@pytest.mark.parametrize(
    "world",
    ["FrozenLake-v1", "CliffWalking-v1", "Taxi-v4", "Blackjack-v1", "CartPole-v1", "MountainCarContinuous-v0",
     "LunarLander-v3", "BipedalWalker-v3"],
)  # fmt: skip
def test_a_run_replays_with_every_hash_equal(recorded: Callable[..., Path], world: str) -> None:
    result = replayed(recorded(world, ticks=400))
    assert result.equal
    assert result.ticks == 400


def test_a_replay_can_begin_at_any_tick(recorded: Callable[..., Path]) -> None:
    directory = recorded(ticks=100)
    for tick in (1, 2, 37, 100):
        result = replayed(directory, tick)
        assert result.equal
        assert result.ticks == 101 - tick


@pytest.mark.parametrize("tick", [0, -3, 101])
def test_a_tick_that_is_not_on_the_tape_is_refused(recorded: Callable[..., Path], tick: int) -> None:
    with pytest.raises(UsageError, match="it has ticks 1 to 100"):
        replayed(recorded(ticks=100), tick)


def test_a_changed_command_is_found(recorded: Callable[..., Path]) -> None:
    directory = recorded("CliffWalking-v1", ticks=100)
    hashes = sqlite3.connect(directory / "game_data.db")
    (expected,) = hashes.execute("SELECT state_hash FROM steps WHERE tick = 60").fetchone()
    hashes.close()
    change(directory, "UPDATE steps SET command = (command + 2) % 4 WHERE tick = 60")
    result = replayed(directory)
    if result.difference is None or result.difference.tick != 60:
        pytest.fail(f"the change at tick 60 was not found there: {result}")
    assert result.difference.expected == expected
    assert result.difference.actual != expected
    assert result.ticks == 60


def test_a_changed_hash_is_found_at_its_tick(recorded: Callable[..., Path]) -> None:
    directory = recorded(ticks=100)
    change(directory, "UPDATE steps SET state_hash = 'beef' WHERE tick = 42")
    result = replayed(directory)
    assert not result.equal
    assert result.difference is not None
    assert (result.difference.tick, result.difference.expected) == (42, "beef")
    assert result.difference.why == ["the same versions gave another result; the world itself is not deterministic"]
    assert replayed(directory, 43).equal


def test_a_difference_names_the_versions_that_changed(recorded: Callable[..., Path]) -> None:
    directory = recorded(ticks=20)
    change(directory, "UPDATE steps SET state_hash = 'beef' WHERE tick = 5")
    path = directory / "metadata.json"
    metadata = msgspec.json.decode(path.read_bytes())
    metadata["facts"]["origin"]["numpy"] = "0.1"
    metadata["facts"]["version"] = "0"
    path.write_bytes(msgspec.json.encode(metadata))
    result = replayed(directory)
    assert result.difference is not None
    assert any(reason.startswith("numpy was 0.1, is ") for reason in result.difference.why)
    assert "the world's version was 0, is 1" in result.difference.why


def test_an_empty_tape_says_so(recorded: Callable[..., Path]) -> None:
    directory = recorded(ticks=5)
    change(directory, "DELETE FROM steps")
    with pytest.raises(RunUnreadable, match="nothing to replay"):
        replayed(directory)
    change(directory, "INSERT INTO steps VALUES (3, 1, 3, '1', 0, 0, 0, 0, 'x', NULL, NULL, NULL, NULL)")
    with pytest.raises(RunUnreadable, match="the tape has no tick 1"):
        replayed(directory)


@pytest.mark.parametrize("world", ["CartPole-v1", "tallgrass"])
def test_an_exported_file_of_episodes_replays_wherever_it_lies(
    world: str, recorded: Callable[..., Path], ptp: Callable[..., tuple[int, str, str]], tmp_path: Path
) -> None:
    directory = recorded(world, ticks=60)
    exported = directory / "episodes" / "episode_000001.jsonl"
    code, out, _ = ptp("replay", str(exported), "--verify")
    assert code == 0
    assert out.startswith("equal: 60 ticks of ")
    lines = exported.read_text().splitlines(keepends=True)
    copy = tmp_path / "mine.jsonl"
    copy.write_text("".join(lines[30:]))
    code, out, _ = ptp("replay", str(copy), "--verify")
    assert out.startswith("equal: 30 ticks from tick 31 of ")
    lines[49] = lines[49].replace(json.loads(lines[49])["state_hash"], "0" * 16)
    copy.write_text("".join(lines))
    code, _, err = ptp("replay", str(copy), "--verify")
    assert (code, err) == (1, "ptp: the replay differs from the tape at tick 50\n")


STEP = (
    '{"tick":1,"episode":1,"step":1,"command":"0","reward":0,"terminated":false,"truncated":false,'
    '"state_hash":"ab","state":null}\n'
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file has no steps"),
        ("{}\n", "mine.jsonl:1: not a step of an exported episode"),
        (STEP * 2, "tick 1 does not follow"),
        (STEP, "no run in "),
    ],
)
def test_a_file_that_is_no_exported_episode_is_refused(
    text: str, message: str, ptp: Callable[..., tuple[int, str, str]], tmp_path: Path
) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text(text)
    code, _, err = ptp("replay", str(path))
    assert code == 2
    assert message in err
