"""A run of a script: its checkpoints are snapshots, its failures are notices, and it continues from any tick."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from ptp.recording import RunDirectory
from ptp.runner import fork, resume, run
from ptp.runs import Run
from ptp.runs.steering import restore_snapshot, store_of
from tests.runner.test_going_back import config, hashes, rows, verified

GAME = """
DEFINE tap(button, times) {
    REPEAT times { PRESS button; WAIT 20 }
}
UNTIL screen == "overworld" MAX 60 { tap(START, 1); tap(A, 2) }
CHECKPOINT "home"
HOLD B
REPEAT 3 {
    MOVE DOWN 2
    IF y > 3 AND [0xD361] > 3 { WAIT 5 } ELSE { PRESS A 3 }
    CHECKPOINT "round"
}
RELEASE B
a:10/130
WAIT 7
"""
POLE = """
DEFINE push(side, times) { PRESS side times }
REPEAT 12 {
    IF observation.2 > 0 { push(right, 2) } ELSE { push(left, 2) }
    HOLD left
    WHILE observation.0 > 0.01 MAX 3 { WAIT 1 }
    RELEASE left
}
CHECKPOINT "end"
"""


def script_of(tmp_path: Path, text: str) -> dict[str, Any]:
    path = tmp_path / "script.ptp"
    path.write_text(text)
    return {"agent": "script", "script": str(path), "agent_option": {"on_fail": "continue"}}


def commands(directory: Path) -> list[str]:
    return [value for (value,) in rows(directory, "SELECT command FROM steps ORDER BY tick")]


def test_a_checkpoint_is_a_snapshot_of_its_moment_and_a_timed_command_is_one_tick(tmp_path: Path) -> None:
    result = run(config(tmp_path, world="tallgrass", **script_of(tmp_path, GAME)))
    path = Path(result.directory)
    assert result.stop is not None
    assert (result.status, result.stop.message) == ("completed", "the agent has finished")
    names = {header.name: header.tick for header in store_of(RunDirectory(path)).headers() if header.name}
    played = commands(path)
    home = next(tick for name, tick in names.items() if name.startswith("home"))
    assert f"home-{home}" in names
    assert played[home] == "b+down:8/24"
    assert len(names) == 4
    assert "a:10/130" in played
    assert played[-1] == "none/7"
    assert verified(path) == len(played)
    notices = rows(path, "SELECT tick, message FROM notices WHERE kind = 'checkpoint' ORDER BY tick")
    assert notices[0] == (home, "reached checkpoint home")
    assert len(notices) == 4


@pytest.mark.parametrize(("world", "text"), [("tallgrass", GAME), ("CartPole-v1", POLE)])
def test_a_script_is_resumed_and_forked_at_any_tick_as_if_nothing_had_happened(
    tmp_path: Path, world: str, text: str
) -> None:
    flags = {"world": world, **script_of(tmp_path, text)}
    whole = run(config(tmp_path, **flags))
    expected = hashes(Path(whole.directory))
    for tick in (1, 7, len(expected) // 2, len(expected) - 6, len(expected) - 1):
        half = run(config(tmp_path, max_ticks=tick, **flags))
        assert half.ticks == tick
        resumed = resume(RunDirectory(Path(half.directory)), config(tmp_path, **flags))
        assert resumed.status == "completed"
        assert hashes(Path(resumed.directory)) == expected
        forked = fork(RunDirectory(Path(whole.directory)), tick, config(tmp_path, **flags))
        assert hashes(Path(forked.directory)) == expected
        assert commands(Path(forked.directory)) == commands(Path(whole.directory))


def test_a_run_goes_back_to_a_checkpoint_and_plays_the_rest_again(tmp_path: Path) -> None:
    flags = {"world": "tallgrass", **script_of(tmp_path, GAME)}
    whole = run(config(tmp_path, **flags))
    directory, expected = RunDirectory(Path(whole.directory)), hashes(Path(whole.directory))
    for name in ("round", "home"):
        restore_snapshot(directory, name)
        assert len(hashes(directory.path)) < len(expected)
        assert resume(directory, config(tmp_path, **flags)).status == "completed"
        assert hashes(directory.path) == expected
    assert Run(directory).rewind(9).tick == len(expected) - 9
    resume(directory, config(tmp_path, **flags))
    assert hashes(directory.path) == expected
    assert verified(directory.path) == len(expected)


def test_a_failed_expectation_is_recorded_and_ends_the_run(tmp_path: Path) -> None:
    flags = {**script_of(tmp_path, "PRESS A\nEXPECT badges == 8\nPRESS B"), "agent_option": {}}
    result = run(config(tmp_path, world="tallgrass", **flags))
    assert result.stop is not None
    said = "EXPECT badges == 8 failed: badges is not known"
    assert (result.ticks, result.stop.message) == (1, f"the script failed in line 2: {said}")
    found = rows(Path(result.directory), "SELECT tick, level, message FROM notices WHERE kind = 'script_failed'")
    assert found == [(1, "error", f"line 2: {said}")]


def test_a_script_that_was_changed_is_not_resumed_in_its_middle(tmp_path: Path) -> None:
    flags = {"world": "tallgrass", **script_of(tmp_path, "MOVE UP 9")}
    half = run(config(tmp_path, max_ticks=4, **flags))
    (tmp_path / "script.ptp").write_text("MOVE DOWN 9")
    before = os.listdir(tmp_path / "records")
    with pytest.raises(Exception, match="has changed since the snapshot was taken"):
        resume(RunDirectory(Path(half.directory)), config(tmp_path, **flags))
    assert os.listdir(tmp_path / "records") == before
    assert len(hashes(Path(half.directory))) == 4


def test_a_fork_with_another_script_plays_it_from_its_start(tmp_path: Path) -> None:
    flags = {"world": "tallgrass", **script_of(tmp_path, "MOVE UP 9")}
    parent = run(config(tmp_path, **flags))
    other = tmp_path / "other.ptp"
    other.write_text("PRESS A; PRESS B")
    result = fork(RunDirectory(Path(parent.directory)), 5, config(tmp_path, **{**flags, "script": str(other)}))
    assert commands(Path(result.directory)) == ["up"] * 5 + ["a", "b"]
