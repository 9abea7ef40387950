"""Rewinding: any tick of a run can be gone back to, live or ended, and what follows is as it would have been."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import pytest

from ptp.errors import PtpError, UsageError
from ptp.recording.packed import is_packed
from ptp.retention.rollup import roll_up_runs
from ptp.runs import Run, list_runs, open_run
from ptp.runs.verification import verify
from ptp.snapshots.keys import KEYS, KeyFile
from ptp.worlds.gameboy.states import native_problem
from ptp.worlds.toy_text import ToyTextWorld
from tests.steering import ask

WORLDS = [
    ("FrozenLake-v1", "random"),
    ("CartPole-v1", "random"),
    ("tallgrass", "explorer"),
    ("LunarLander-v3", "random"),  # can't save its state: the tape leads there
]


def commands(run: Run) -> list[tuple[str, str]]:
    return [(step.command, step.state_hash) for step in run.steps()]


def wait_until(done: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not done():
        assert time.monotonic() < deadline
        time.sleep(0.02)


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

    start.started = started  # type: ignore[attr-defined]
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


@pytest.mark.parametrize(
    ("ticks", "said"),
    [
        (100_000, "can't go back to tick -99970; the run is at tick 30, and it can go back 1 to 30 ticks"),
        (31, "can't go back to tick -1; the run is at tick 30, and it can go back 1 to 30 ticks"),
        (0, "can't go back 0 ticks; give 1 or more"),
    ],
)
def test_what_lies_before_the_start_is_refused_in_one_line_that_says_how_far_one_can_go(
    recorded: Callable[..., Path], ptp: Callable[..., tuple[int, str, str]], ticks: int, said: str
) -> None:
    directory = recorded(ticks=30)
    code, _, error = ptp("rewind", str(ticks), directory.name)
    assert (code != 0, error) == (True, f"ptp: {said}\n")
    assert len(commands(open_run(directory.name, directory.parent.parent))) == 30
    assert ptp("rewind", "30", directory.name)[0] == 0
    assert "the run is at tick 0, and there is nothing before it" in ptp("rewind", "1", directory.name)[2]


def test_a_live_run_says_how_far_it_can_go_back_and_plays_on(live: Callable[..., Run]) -> None:
    run = live("CartPole-v1", "random")
    run.pause()
    now = ask(run.directory, "status")["tick"]
    with pytest.raises(PtpError, match=f"is at tick {now}, and it can go back 1 to {now} ticks"):
        run.rewind(now + 1)
    with pytest.raises(PtpError, match=f"is at tick {now}, and it can go back 1 to {now} ticks"):
        run.restore(tick=now)
    assert run.rewind(now).tick == 0  # through every episode to the first
    run.step(1)


def test_a_live_run_without_key_states_names_what_would_help(live: Callable[..., Run]) -> None:
    run = live("tallgrass", "random", "--rewind-memory", "0", "--rewind-disk", "0")
    with pytest.raises(PtpError, match=r"no key state leads to tick .*; choose a snapshot, or raise --rewind-memory"):
        run.rewind(5)
    assert not (run.path / "snapshots" / KEYS).exists()


def test_a_crashed_run_is_rewound_and_resumed(
    live: Callable[..., Run], ptp: Callable[..., tuple[int, str, str]]
) -> None:
    run = live("tallgrass", "explorer")
    run.pause()
    (process,) = live.started  # type: ignore[attr-defined]
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    wait_until(lambda: not run.is_live)
    assert run.status == "crashed"
    there = run.last_tick
    assert run.rewind(50).tick == there - 50
    run.resume(max_ticks=there, tick_rate_base=0)
    assert len(commands(run)) == there
    sound(run)


def test_an_archived_run_is_brought_back_when_it_is_rewound(
    recorded: Callable[..., Path], ptp: Callable[..., tuple[int, str, str]]
) -> None:
    directory = recorded("CartPole-v1", "--snapshot-name", "end", ticks=120)
    run = open_run(directory.name, directory.parent.parent)
    whole = commands(run)
    ways: list[Callable[[], object]] = [lambda: run.rewind(30), lambda: run.restore("end")]
    for go_back in ways:
        assert roll_up_runs([directory])[1] == []
        assert is_packed(run.directory.database)
        with pytest.raises(PtpError, match="it can go back 1 to"):
            run.rewind(500)
        assert is_packed(run.directory.database)
        go_back()
        assert not is_packed(run.directory.database)
    assert ptp("rewind", "20", run.id)[0] == 0
    assert ptp("resume", run.id, "--max-ticks", "120")[0] == 0
    assert commands(run) == whole
    sound(run)


@pytest.mark.parametrize(
    ("flag", "value", "said"),
    [
        ("--rewind-memory", "-1", "-1 is not allowed; allowed: a whole number, 0 or more"),
        ("--rewind-memory", "lots", "'lots' is not allowed; allowed: a whole number, 0 or more"),
        ("--rewind-memory", "1.5", "'1.5' is not allowed; allowed: a whole number, 0 or more"),
        ("--rewind-disk", "-0.1", "-0.1 is not allowed; allowed: a number, 0 or more"),
        ("--rewind-disk", "nan", "nan is not allowed; allowed: a number, 0 or more"),
    ],
)
def test_room_that_can_not_be_is_refused(
    ptp: Callable[..., tuple[int, str, str]], flag: str, value: str, said: str
) -> None:
    code, _, error = ptp("run", "--world", "CartPole-v1", "--max-ticks", "5", flag, value)
    assert (code, error) == (2, f"ptp: {flag}: {said}\n")


class Heavy(ToyTextWorld):
    """A world whose state takes more than a megabyte, however it is packed."""

    environment = "FrozenLake-v1"
    ballast = Random(1).randbytes(1_200_000)

    def save(self) -> bytes:
        return self.ballast + super().save()

    def load(self, data: bytes) -> None:
        super().load(data[len(self.ballast) :])


def test_a_budget_smaller_than_one_state_is_said_once_and_the_disk_serves(recorded: Callable[..., Path]) -> None:
    directory = recorded("tests.runner.test_rewinding:Heavy", "--rewind-memory", "1", ticks=300)
    run = open_run(directory.name, directory.parent.parent)
    (notice,) = [it.message for it in run.notices() if it.kind == "rewind"]
    assert "and --rewind-memory holds none; raise it, or go back from those on disk" in notice
    assert KeyFile(directory / "snapshots" / KEYS).heads()
    assert run.rewind(40).tick == 260
    run.resume(max_ticks=300)
    sound(run)


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
