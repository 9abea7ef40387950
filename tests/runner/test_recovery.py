"""Errors with --rollback-on-error: the run goes back to its newest good state, from the first tick on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, ClassVar

import gymnasium
import pytest
from gymnasium.envs.classic_control import CartPoleEnv

from ptp.agents import registry
from ptp.errors import SnapshotError
from ptp.recording import RunDirectory
from ptp.records import RunResult
from ptp.runner import resume, run, steering
from ptp.runner.rewinding import LEAST
from ptp.runs.verification import verify
from ptp.testing import FakeAgent
from tests.runner.test_going_back import config, hashes, rows, verified

WORLDS = ["tallgrass", "CartPole-v1", "LunarLander-v3"]  # the last two can't save their state: the tape leads there
NO_KEYS = {"rewind_memory": 0, "rewind_disk": 0}


class Clumsy(FakeAgent):
    """Fails at some ticks, each as often as it is told to; chooses by the tick, so that every way is the same."""

    repeatable = False
    failures: ClassVar[dict[int, int]] = {}
    words: ClassVar[list[str]] = []

    def __init__(self, world: Any, options: Any) -> None:
        super().__init__(world)

    def decide(self, observation: Any) -> Any:
        if Clumsy.failures.get(observation.tick, 0):
            Clumsy.failures[observation.tick] -= 1
            raise ValueError(Clumsy.words.pop() if Clumsy.words else "tripped")
        return super().decide(observation)


@pytest.fixture(autouse=True)
def _clumsy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry.AGENTS, "clumsy", "tests.runner.test_recovery:Clumsy")
    monkeypatch.setattr(Clumsy, "words", [])


def play(tmp_path: Path, failures: dict[int, int], **flags: Any) -> RunResult:
    Clumsy.failures = dict(failures)
    return run(config(tmp_path, agent="clumsy", max_ticks=300, rollback_on_error=True, **{"snapshot_disk": 0} | flags))


def rewinds(result: RunResult) -> list[tuple[int, int]]:
    return rows(Path(result.directory), "SELECT from_tick, to_tick FROM rewinds ORDER BY rewind")


def sound(result: RunResult) -> None:
    assert (result.status, result.ticks, verified(Path(result.directory))) == ("completed", 300, 300)
    verdict = verify(RunDirectory(Path(result.directory)))
    assert (verdict.faults, verdict.problems) == ([], [])


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("tick", [0, 1, 7, 130])
def test_an_error_is_undone_from_the_first_tick_on_and_the_run_is_as_it_would_have_been(
    tmp_path: Path, world: str, tick: int
) -> None:
    calm = play(tmp_path, {}, world=world)
    result = play(tmp_path, {tick: 1}, world=world)
    sound(result)
    assert hashes(Path(result.directory)) == hashes(Path(calm.directory))
    ((from_tick, to_tick),) = rewinds(result)
    assert from_tick == tick
    assert to_tick == 0 if tick < LEAST else LEAST <= to_tick <= tick  # the first key states


@pytest.mark.parametrize("world", WORLDS)
def test_the_same_error_goes_one_state_further_and_the_third_time_ends_the_run(tmp_path: Path, world: str) -> None:
    result = play(tmp_path, {130: 9}, world=world)
    assert (result.status, result.exit_code, result.ticks) == ("crashed", 1, 130)
    (_, first), (_, second) = rewinds(result)
    assert second < first
    assert rows(Path(result.directory), "SELECT error_type, recovered, recovery_action FROM errors") == [
        ("AgentError", 1, f"rolled back to tick {first}"),
        ("AgentError", 1, f"rolled back to tick {second}"),
        ("AgentError", 0, None),
    ]
    assert verified(Path(result.directory)) == 130


def test_no_more_states_than_the_grace_are_gone_back(tmp_path: Path) -> None:
    (_, first), (_, second) = rewinds(play(tmp_path, {130: 9}, world="tallgrass", rollback_grace=1))
    assert first == second


def test_errors_of_ever_new_words_at_one_tick_are_the_same_error(tmp_path: Path) -> None:
    Clumsy.words = [f"token {number} is bad" for number in range(9)]
    result = play(tmp_path, {130: 9})
    assert result.status == "crashed"
    assert len(rewinds(result)) == 2


def test_different_errors_at_different_ticks_each_go_back_one_state(tmp_path: Path) -> None:
    Clumsy.words = ["fourth", "third", "second", "first"]
    result = play(tmp_path, {20: 1, 60: 1, 140: 1, 250: 1}, world="tallgrass")
    sound(result)
    assert [from_tick for from_tick, _ in rewinds(result)] == [20, 60, 140, 250]


@pytest.mark.parametrize("world", WORLDS)
def test_without_key_states_snapshots_serve_and_before_the_first_the_start(tmp_path: Path, world: str) -> None:
    result = play(tmp_path, {50: 1, 250: 1}, world=world, snapshot_disk=100, **NO_KEYS)
    assert rewinds(result) == [(50, 0), (250, 200)]
    sound(result)


def test_a_resumed_run_without_key_states_goes_back_to_its_snapshots_on_disk(tmp_path: Path) -> None:
    flags = {"agent": "clumsy", "snapshot_disk": 100, "rollback_on_error": True, **NO_KEYS}
    Clumsy.failures = {230: 2}
    half = run(config(tmp_path, max_ticks=220, **flags))
    result = resume(RunDirectory(Path(half.directory)), config(tmp_path, max_ticks=300, **flags))
    assert rewinds(result) == [(230, 220), (230, 200)]
    sound(result)


class Slippery(gymnasium.Wrapper[Any, Any, Any, Any]):
    """A pole whose world fails once in the middle of a step."""

    metadata = {"render_modes": ["rgb_array"]}
    left: ClassVar[int] = 0

    def __init__(self, render_mode: str | None = None) -> None:
        super().__init__(CartPoleEnv(render_mode=render_mode))
        self._steps = 0

    def step(self, action: Any) -> Any:
        answer = super().step(action)
        self._steps += 1
        if self._steps == 40 and Slippery.left:
            Slippery.left -= 1
            raise RuntimeError("slipped")  # the pole has moved, and nobody knows
        return answer


def test_a_world_that_fails_in_the_middle_of_a_step_is_put_back(tmp_path: Path) -> None:
    name = "tests.runner.test_recovery:Slippery"
    Slippery.left = 1
    result = play(tmp_path, {}, world=name)
    sound(result)
    ((from_tick, to_tick),) = rewinds(result)
    assert to_tick <= from_tick == 39


def test_what_can_not_be_taken_back_ends_the_run_with_the_first_error_and_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        raise SnapshotError("the tape is torn")

    monkeypatch.setattr(steering, "go_back", fail)
    result = play(tmp_path, {30: 1})
    assert result.error is not None
    assert "tripped" in result.error
    lines = [json.loads(line) for line in (Path(result.directory) / "run.log").read_text().splitlines()]
    assert "can't roll back after an error: the tape is torn" in [line["message"] for line in lines]
