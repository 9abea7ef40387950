"""`ptp train`, `ptp eval`, and what they leave behind."""

from __future__ import annotations

import csv
import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars
import pytest

from ptp.recording import RunDirectory
from ptp.runner import resume
from ptp.runs import Run
from ptp.runs.settings import read_config
from ptp.runs.verification import verify

Ptp = Callable[..., tuple[int, str, str]]
LAKE = ("--world", "FrozenLake-v1", "--world-option", "is_slippery=false", "--random-seed", "5")


@pytest.fixture
def trained(ptp_json: Callable[..., Any]) -> Path:
    return Path(ptp_json("train", *LAKE, "--episodes", "250", "--statistics-episodes", "50")["directory"])


def statistics(directory: Path) -> list[dict[str, str]]:
    with open(directory / "episodes" / "statistics.csv", newline="") as file:
        return list(csv.DictReader(file))


def test_training_is_a_run_of_the_learner_as_fast_as_it_can(trained: Path) -> None:
    config = read_config(RunDirectory(trained))
    assert (config.agent.name, config.tick_rate.normal) == ("bdi", 0)


def test_what_is_given_outranks_what_training_would_choose(ptp_json: Callable[..., Any]) -> None:
    result = ptp_json("train", *LAKE, "--agent", "random", "--max-ticks", "5", "--tick-rate-base", "1000")
    assert result["agent"] == "random"
    assert read_config(RunDirectory(Path(result["directory"]))).tick_rate.normal == 1000


def test_an_evaluation_is_a_greedy_run_of_its_own_that_names_the_other(
    trained: Path, ptp: Ptp, ptp_json: Callable[..., Any]
) -> None:
    result = ptp_json("eval", trained.name, "--episodes", "10")
    run = Run(RunDirectory(Path(result["directory"])))
    assert (result["episodes"], result["total_reward"]) == (10, 10.0)
    assert run.metadata.evaluates is not None
    assert run.metadata.evaluates.run_id == trained.name
    assert run.metadata.evaluates.tick == Run(RunDirectory(trained)).last_tick
    assert all((it.reasoning or "").startswith("exploit") for it in run.decisions())
    assert list(run.transitions()) == []
    assert trained.name in ptp("show", run.id)[1]
    assert run.replay().equal


def test_an_evaluation_that_was_stopped_is_resumed(trained: Path, ptp_json: Callable[..., Any]) -> None:
    stopped = ptp_json("eval", trained.name, "--max-ticks", "30", "--random-seed", "9")
    whole = ptp_json("eval", trained.name, "--max-ticks", "60", "--random-seed", "9")
    assert ptp_json("resume", stopped["run_id"], "--max-ticks", "60")["ticks"] == 60
    digests = [Run(RunDirectory(Path(it["directory"]))).metadata.tape_digest for it in (stopped, whole)]
    assert digests[0] == digests[1]


def test_only_a_run_that_learns_can_be_evaluated(recorded: Callable[..., Path], ptp: Ptp) -> None:
    code, _, said = ptp("eval", recorded().name)
    assert code == 2
    assert "agent 'random'" in said
    assert "ptp train" in said


def test_an_evaluation_has_the_world_of_what_has_learnt(trained: Path, ptp: Ptp) -> None:
    code, _, said = ptp("eval", trained.name, "--world", "Taxi-v4")
    assert code == 2
    assert "--world is that of the run that has learnt" in said


def test_each_episode_has_its_metrics_and_statistics_come_every_few(trained: Path) -> None:
    metrics = json.loads((trained / "episodes" / "episode_250" / "metrics.json").read_text())
    assert len(list((trained / "episodes").glob("episode_*/metrics.json"))) == 250
    assert metrics["episode"] == 250
    assert 0 < metrics["epsilon"] < 0.05
    assert {"alpha", "convergence", "td_error", "success_rate"} <= metrics.keys()
    lines = statistics(trained)
    assert [line["episode"] for line in lines] == ["50", "100", "150", "200", "250"]
    assert float(lines[-1]["average_reward"]) == metrics["average_reward"]
    measured = [it.value for it in Run(RunDirectory(trained)).metrics() if it.name == "average_reward"]
    assert measured == [float(line["average_reward"]) for line in lines]


def test_statistics_of_episodes_that_were_discarded_are_cut_off(trained: Path) -> None:
    whole, run = statistics(trained), Run(RunDirectory(trained))
    run.restore(tick=int(whole[2]["tick"]))
    config = read_config(run.directory)
    resume(run.directory, config)
    assert statistics(trained) == whole


def test_transitions_are_exported_as_a_database(trained: Path, ptp: Ptp, tmp_path: Path) -> None:
    file = tmp_path / "transitions.sqlite"
    assert ptp("export", trained.name, "--what", "transitions", "--format", "sqlite", "--output", str(file))[0] == 0
    connection = sqlite3.connect(file)
    found = connection.execute("SELECT tick, state, action, reward, next_state, td_error, q_delta FROM transitions")
    exported = found.fetchall()
    connection.close()
    kept = [(it.tick, it.state, it.action, it.reward, it.next_state, it.td_error, it.q_delta)
            for it in Run(RunDirectory(trained)).transitions()]  # fmt: skip
    assert [(tick, int(state), *rest[:2], int(rest[2]), *rest[3:]) for tick, state, *rest in exported] == kept


def test_a_status_is_no_table_of_a_database(trained: Path, ptp: Ptp) -> None:
    code, _, said = ptp("export", trained.name, "--format", "sqlite")
    assert code == 2
    assert "choose one with --what" in said


def test_a_roll_up_merges_old_episodes_and_keeps_key_events(
    trained: Path, ptp: Ptp, ptp_json: Callable[..., Any]
) -> None:
    run = Run(RunDirectory(trained))
    before, digest = list(run.transitions()), run.metadata.tape_digest
    words = ("cleanup", "transitions", trained.name, "--keep-episodes", "50")
    planned = ptp_json(*words, "--dry-run")["rolled_up"]
    assert list(run.transitions()) == before
    assert ptp_json(*words)["rolled_up"] == planned
    after = {it.tick for it in run.transitions()}
    gone = [it for it in before if it.tick not in after]
    assert (len(gone), len(after)) == (planned[0]["removed"], planned[0]["kept"])
    assert gone
    assert all(abs(it.td_error) < 0.01 and it.episode <= 200 and not it.terminated for it in gone)
    merged = json.loads((trained / "episodes" / "episode_rollup.json").read_text())["episodes"]
    assert [(it["first_episode"], it["last_episode"]) for it in merged] == [(1, 100), (101, 200)]
    assert sum(it["episodes"] * it["mean_reward"] for it in merged) == pytest.approx(
        sum(it.reward for it in run.learning() if it.episode <= 200)
    )
    assert verify(run.directory).faults == []
    assert run.metadata.tape_digest == digest
    assert ptp_json(*words)["rolled_up"][0]["removed"] == 0
    assert ptp("replay", trained.name, "--verify")[0] == 0


def test_a_profile_with_parquet_keeps_what_a_roll_up_removes(ptp_json: Callable[..., Any]) -> None:
    folder = Path(ptp_json("train", "--world", "CartPole-v1", "--max-ticks", "1500", "--random-seed", "5")["directory"])
    before = list(Run(RunDirectory(folder)).transitions())
    rolled = ptp_json("cleanup", "transitions", folder.name, "--keep-episodes", "0", "--least-error", "0.5")[
        "rolled_up"
    ]
    kept = polars.read_parquet(folder / "episodes" / "transitions.parquet")
    assert rolled[0]["removed"] > 100
    assert kept["tick"].to_list() == [it.tick for it in before]
    assert kept["td_error"].to_list() == [it.td_error for it in before]


def test_commands_keep_their_distance(ptp_json: Callable[..., Any]) -> None:
    result = ptp_json("train", *LAKE, "--max-ticks", "6", "--agent-step-interval-ms", "50")
    assert result["elapsed_seconds"] >= 0.2
