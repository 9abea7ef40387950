"""Somebody's own loop, recorded: it behaves as before, and becomes a run like any other."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from ptp.errors import UsageError
from ptp.recording import RunDirectory
from ptp.recording.database import Database
from ptp.replay import Replay, Tape
from ptp.runner.record import Record, RecordVector
from tests.steering import ask


def replayed(path: Path) -> int:
    """Replay a run, every tick compared, and return how many they were."""
    replay = Replay(Tape(RunDirectory(path)))
    for _ in replay:
        pass
    replay.close()
    assert replay.result.equal, replay.result.difference
    return replay.result.ticks


def rows(path: Path, sql: str) -> list[tuple[Any, ...]]:
    with Database(path / "game_data.db") as database:
        return list(database.rows(sql))


def loop(env: gym.Env[Any, Any], steps: int, seed: int | None = None) -> list[tuple[bytes, float]]:
    """Play as people do: one seed at the beginning, if any, and none afterwards."""
    env.action_space.seed(5)
    env.reset(seed=seed)
    seen = []
    for _ in range(steps):
        observation, reward, terminated, truncated, _ = env.step(env.action_space.sample())
        seen.append((np.asarray(observation).tobytes(), float(reward)))
        if terminated or truncated:
            env.reset()
    env.close()
    return seen


@pytest.mark.parametrize("name", ["CartPole-v1", "FrozenLake-v1", "Blackjack-v1", "MountainCarContinuous-v0"])
def test_a_loop_sees_the_same_with_and_without_recording(name: str, tmp_path: Path) -> None:
    assert loop(Record(gym.make(name), data_dir=tmp_path), 300, seed=11) == loop(gym.make(name), 300, seed=11)


@pytest.mark.parametrize("name", ["CartPole-v1", "FrozenLake-v1", "Taxi-v4", "Pendulum-v1"])
@pytest.mark.parametrize("seed", [None, 7])
def test_a_recorded_loop_replays_with_seeded_and_unseeded_resets(name: str, seed: int | None, tmp_path: Path) -> None:
    env = Record(gym.make(name), data_dir=tmp_path)
    loop(env, 300, seed)
    assert replayed(env.run_directory) == 300


def test_what_a_reset_was_given_is_kept(tmp_path: Path) -> None:
    env = Record(gym.make("CartPole-v1"), data_dir=tmp_path)
    env.reset(seed=3, options={"low": -0.01, "high": 0.01})
    env.step(0)
    env.reset()
    env.step(1)
    env.close()
    starts = rows(env.run_directory, "SELECT episode, tick, seed, options FROM episode_starts ORDER BY episode")
    assert starts == [(1, 0, 3, '{"low":-0.01,"high":0.01}'), (2, 1, None, None)]
    assert rows(env.run_directory, "SELECT episode, steps, terminated FROM episodes") == [(1, 1, 0)]
    assert replayed(env.run_directory) == 2


def test_a_wrapped_environment_is_replayed_with_its_wrappers(tmp_path: Path) -> None:
    wrapped = gym.wrappers.RescaleObservation(
        gym.make("MountainCar-v0", max_episode_steps=50), np.float32(-1), np.float32(1)
    )
    env = Record(wrapped, data_dir=tmp_path)
    loop(env, 120, seed=2)
    assert replayed(env.run_directory) == 120
    assert len(rows(env.run_directory, "SELECT * FROM episodes")) == 2


def test_wrappers_that_cant_be_made_again_stay_outside_of_what_is_recorded(tmp_path: Path) -> None:
    class Counting(gym.Wrapper[Any, Any, Any, Any]):
        steps = 0

        def step(self, action: Any) -> Any:
            self.steps += 1
            return super().step(action)

    plain = gym.wrappers.RescaleObservation(gym.make("MountainCar-v0"), np.float32(-1), np.float32(1))
    doubled = gym.wrappers.TransformObservation(plain, lambda it: 2 * it, plain.observation_space)
    counting = Counting(doubled)
    env = Record(counting, data_dir=tmp_path)
    loop(env, 80, seed=2)
    assert counting.steps == 80
    assert replayed(env.run_directory) == 80
    assert "TransformObservation can't be made again" in (env.run_directory / "run.log").read_text()


def test_infos_and_measurements_are_kept(tmp_path: Path) -> None:
    env = Record(gym.make("FrozenLake-v1"), data_dir=tmp_path)
    env.reset(seed=1)
    env.step(2)
    env.log({"loss": 0.25})
    env.close()
    ((info,),) = rows(env.run_directory, "SELECT info FROM steps")
    assert "prob" in json.loads(info)
    assert rows(env.run_directory, "SELECT tick, value FROM performance_metrics WHERE metric_type = 'loss'") == [
        (1, 0.25)
    ]


@pytest.mark.parametrize("mode", ["sync", "async"])
@pytest.mark.parametrize("autoreset", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_every_lane_of_a_vector_is_a_run_that_replays(mode: str, autoreset: AutoresetMode, tmp_path: Path) -> None:
    kwargs = {"autoreset_mode": autoreset}
    plain = gym.make_vec("CartPole-v1", num_envs=3, vectorization_mode=mode, vector_kwargs=kwargs)
    envs = RecordVector(plain, data_dir=tmp_path)
    envs.reset()
    envs.action_space.seed(1)
    for _ in range(150):
        envs.step(envs.action_space.sample())
    envs.close()
    for run_id in envs.run_ids:
        assert replayed(tmp_path / "records" / run_id) > 130
    metadata = [RunDirectory(tmp_path / "records" / run_id).read_metadata() for run_id in envs.run_ids]
    assert [it.group for it in metadata] == [None, envs.run_ids[0], envs.run_ids[0]]


def test_lanes_that_share_their_dice_are_refused(tmp_path: Path) -> None:
    envs = gym.make_vec("CartPole-v1", num_envs=2, vectorization_mode="vector_entry_point")
    with pytest.raises(UsageError, match='make it with vectorization_mode="sync"'):
        RecordVector(envs, data_dir=tmp_path)


def test_a_person_can_pause_step_and_stop_a_loop(tmp_path: Path) -> None:
    env = Record(gym.make("CartPole-v1"), data_dir=tmp_path)
    directory = RunDirectory(env.run_directory)
    ended: list[str] = []

    def play() -> None:
        env.reset(seed=1)
        try:
            while True:
                _, _, terminated, truncated, _ = env.step(0)
                if terminated or truncated:
                    env.reset()
        except KeyboardInterrupt as stop:
            ended.append(str(stop))

    thread = threading.Thread(target=play)
    thread.start()
    ask(directory, "pause")
    at = ask(directory, "status")["tick"]
    time.sleep(0.2)
    assert ask(directory, "status") | {"at": 0} == ask(directory, "status") | {"at": 0, "tick": at}
    ask(directory, "step", ticks=3)
    wait_for(lambda: ask(directory, "status")["paused"])
    assert ask(directory, "status")["tick"] == at + 3
    ask(directory, "stop")
    thread.join(5)
    assert ended == ["stopped by request"]
    env.close()
    assert replayed(env.run_directory) == at + 3


def wait_for(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 10
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.parametrize(("end", "status"), [("", "manual_stop"), ("raise ValueError('oh')", "crashed")])
def test_a_program_that_forgets_to_close_leaves_a_whole_run(end: str, status: str, tmp_path: Path) -> None:
    program = f"""
import gymnasium, ptp
env = ptp.Record(gymnasium.make("CartPole-v1"), data_dir={str(tmp_path)!r})
env.reset(seed=1)
env.step(1)
print(env.run_directory)
{end}
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    path = Path(done.stdout.strip())
    assert RunDirectory(path).read_metadata().status == status
    assert replayed(path) == 1


def test_the_example_learns_and_every_lane_replays(tmp_path: Path) -> None:
    example = Path(__file__).parents[2] / "examples" / "learn_cartpole.py"
    command = [sys.executable, str(example), "--updates", "8", "--data-dir", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "a pole stood" in done.stdout
    paths = list((tmp_path / "records").iterdir())
    assert len(paths) == 4
    for path in paths:
        assert replayed(path) > 8 * 200
