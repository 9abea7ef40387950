"""Rewinding: any tick of a run can be gone back to, live or ended, and what follows is as it would have been."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from ptp.errors import PtpError, UsageError
from ptp.runs import Run, list_runs, open_run
from ptp.runs.verification import verify
from ptp.snapshots.keys import KEYS, KeyFile
from ptp.worlds.gameboy.states import native_problem
from tests.steering import ask

WORLDS = [
    ("FrozenLake-v1", "random"),
    ("CartPole-v1", "random"),
    ("tallgrass", "explorer"),
    ("LunarLander-v3", "random"),  # can't save its state: the tape leads there
]


def commands(run: Run) -> list[tuple[str, str]]:
    return [(step.command, step.state_hash) for step in run.steps()]


def sound(run: Run) -> None:
    """Everything is as it was recorded, and the tape replays."""
    verdict = verify(run.directory)
    assert (verdict.faults, verdict.problems) == ([], [])
    assert run.replay().equal


@pytest.mark.parametrize(("world", "agent"), WORLDS)
def test_an_ended_run_that_is_rewound_and_resumed_plays_as_if_it_had_not_been(
    recorded: Callable[..., Path], ptp: Callable[..., tuple[int, str, str]], world: str, agent: str
) -> None:
    directory = recorded(world, "--agent", agent, ticks=260)
    run = open_run(directory.name, directory.parent.parent)
    whole, digest = commands(run), run.metadata.tape_digest
    for ticks in (1, 37, 150):
        assert ptp("rewind", str(ticks), run.id)[0] == 0
        assert commands(run) == whole[: 260 - ticks]
        assert ptp("resume", run.id, "--max-ticks", "260")[0] == 0
        assert commands(run) == whole
        assert run.metadata.tape_digest == digest
    assert run.metadata.rewinds == 3
    sound(run)


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Callable[..., Run]]:
    started: list[subprocess.Popen[bytes]] = []

    def start(world: str, agent: str, *flags: str) -> Run:
        pace = ("--tick-rate-base", "100", "--tick-rate-battle", "100", "--tick-rate-timeout", "0")
        words = ("run", "--world", world, "--agent", agent, *pace, "--data-dir", str(tmp_path), "-q", *flags)
        started.append(subprocess.Popen([sys.executable, "-m", "ptp", *words]))
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            for run in list_runs(tmp_path):
                with suppress(PtpError):
                    if ask(run.directory, "status")["tick"] > 120:
                        return run
            time.sleep(0.05)
        raise AssertionError("the run does not begin")

    yield start
    for process in started:
        process.terminate()
        process.wait()


@pytest.mark.parametrize(("world", "agent"), WORLDS)
def test_a_live_run_goes_back_and_plays_on_from_there(live: Callable[..., Run], world: str, agent: str) -> None:
    run = live(world, agent)
    run.pause()
    before = ask(run.directory, "status")["tick"]
    for ticks in (1, 5, 60):
        assert run.rewind(ticks).tick == before - ticks
        before -= ticks
    assert run.restore(tick=20).tick == 20
    assert run.step(3).tick <= 23
    while not (now := ask(run.directory, "status"))["paused"]:
        time.sleep(0.02)
    assert now["tick"] == 23
    assert ask(run.directory, "status")["queued"] == 0
    run.stop()
    while run.is_live:
        time.sleep(0.05)
    assert len(commands(run)) == 23
    assert [back.to_tick for back in run.rewinds()][-1] == 20
    sound(run)


def test_key_states_are_neither_listed_nor_counted_as_snapshots(live: Callable[..., Run]) -> None:
    run = live("tallgrass", "random", "--snapshot-disk", "0")
    assert run.snapshots() == []
    with pytest.raises(PtpError, match="can't go back 1 snapshots; 0 are in memory"):
        run.rollback(1)


@pytest.mark.parametrize("ticks", [100_000, 0])
def test_what_lies_before_the_start_is_refused_in_one_line(
    recorded: Callable[..., Path], ptp: Callable[..., tuple[int, str, str]], ticks: int
) -> None:
    directory = recorded(ticks=30)
    code, _, error = ptp("rewind", str(ticks), directory.name)
    assert code != 0
    assert "can't go back" in error
    assert len(commands(open_run(directory.name, directory.parent.parent))) == 30


def test_a_tick_of_another_episode_can_be_gone_back_to(
    recorded: Callable[..., Path], ptp: Callable[..., tuple[int, str, str]]
) -> None:
    directory = recorded("CartPole-v1", ticks=200)
    run = open_run(directory.name, directory.parent.parent)
    first = next(iter(run.episodes()))
    run.restore(tick=first.tick - 2)
    assert [episode.episode for episode in run.episodes()] == []
    assert ptp("resume", run.id, "--max-ticks", "200")[0] == 0
    sound(run)


def test_one_names_a_snapshot_or_a_tick(recorded: Callable[..., Path]) -> None:
    directory = recorded(ticks=30)
    run = open_run(directory.name, directory.parent.parent)
    with pytest.raises(UsageError, match="--tick N"):
        run.restore()
    with pytest.raises(UsageError, match="--tick N"):
        run.restore("latest", tick=3)


def test_no_tick_of_a_game_boy_run_is_far_from_a_key_state_on_disk(recorded: Callable[..., Path]) -> None:
    directory = recorded("tallgrass", ticks=400)
    ticks = [head.tick for head in KeyFile(directory / "snapshots" / KEYS).heads()]
    assert ticks[0] == 0
    most = 50 if native_problem() is None else 400  # without the native part they would cost the run too much
    assert max(after - before for before, after in zip(ticks, [*ticks[1:], 400], strict=True)) <= most


def test_a_damaged_key_file_costs_time_but_nothing_else(
    recorded: Callable[..., Path], ptp: Callable[..., tuple[int, str, str]]
) -> None:
    directory = recorded("tallgrass", "--agent", "explorer", "--snapshot-disk", "0", ticks=150)
    run = open_run(directory.name, directory.parent.parent)
    whole: Any = commands(run)
    keys = directory / "snapshots" / KEYS
    keys.write_bytes(keys.read_bytes()[:3000] + b"nonsense" * 500)
    for snapshot in (directory / "snapshots").glob("*.ptpsnap"):
        snapshot.unlink()
    assert ptp("rewind", "20", run.id)[0] == 0
    assert ptp("resume", run.id, "--max-ticks", "150")[0] == 0
    assert commands(run) == whole
