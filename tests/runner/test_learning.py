"""A learner's run: stopped, killed, forked or rewound, it learns on as if nothing had happened."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ptp.recording import RunDirectory
from ptp.runner import fork, resume, run
from ptp.runs import Run
from ptp.runs.verification import verify
from tests.runner.test_going_back import config, hashes, rows, verified

WORLDS = ["FrozenLake-v1", "CartPole-v1"]  # a table, and tiles past their warm-up
TICKS = 1500
KILLED = """
import os, sys
from ptp.engine import Engine
from ptp.cli import main
play = Engine.tick
def tick(self):
    if self.progress.ticks == 1250:
        os.kill(os.getpid(), 9)
    return play(self)
Engine.tick = tick
sys.argv = ["ptp", *sys.argv[1:]]
main()
"""


def learn(folder: Path, world: str, **flags: Any) -> Path:
    flags = {"max_ticks": TICKS, "snapshot_disk": 400, **flags}
    return Path(run(config(folder, world=world, agent="bdi", **flags)).directory)


def taught(directory: Path) -> list[tuple[Any, ...]]:
    return [
        *rows(directory, "SELECT * FROM transitions ORDER BY tick"),
        *rows(directory, "SELECT * FROM learning ORDER BY episode"),
    ]


@pytest.mark.parametrize("world", WORLDS)
def test_a_run_that_was_stopped_learns_on_as_if_it_never_was(tmp_path: Path, world: str) -> None:
    whole = learn(tmp_path / "whole", world)
    stopped = learn(tmp_path / "stopped", world, max_ticks=1250)
    resume(RunDirectory(stopped), config(tmp_path / "stopped", world=world, agent="bdi", max_ticks=TICKS))
    assert hashes(stopped) == hashes(whole)
    assert taught(stopped) == taught(whole)
    assert len(rows(whole, "SELECT tick FROM transitions")) == TICKS
    assert not verify(RunDirectory(stopped)).faults


@pytest.mark.parametrize("world", WORLDS)
def test_a_run_that_was_killed_learns_on_as_if_it_never_was(tmp_path: Path, world: str) -> None:
    whole = learn(tmp_path / "whole", world)
    words = ["run", "--world", world, "--agent", "bdi", "--tick-rate-base", "0", "--max-ticks", str(TICKS),
             "--random-seed", "3", "--snapshot-disk", "400", "--data-dir", str(tmp_path)]  # fmt: skip
    killed = subprocess.run([sys.executable, "-c", KILLED, *words], capture_output=True)
    assert killed.returncode == -9, killed.stderr
    (left,) = (tmp_path / "records").iterdir()
    resume(RunDirectory(left), config(tmp_path, world=world, agent="bdi", max_ticks=TICKS))
    assert hashes(left) == hashes(whole)
    assert taught(left) == taught(whole)


@pytest.mark.parametrize("world", WORLDS)
def test_a_fork_learns_as_its_parent_did(tmp_path: Path, world: str) -> None:
    whole = learn(tmp_path, world)
    again = fork(RunDirectory(whole), 1100, config(tmp_path, world=world, agent="bdi", max_ticks=TICKS))
    assert hashes(Path(again.directory)) == hashes(whole)
    assert taught(Path(again.directory)) == taught(whole)
    assert verified(Path(again.directory)) == TICKS


@pytest.mark.parametrize("world", WORLDS)
def test_a_run_that_was_rewound_forgets_and_learns_again(tmp_path: Path, world: str) -> None:
    whole = learn(tmp_path, world)
    before = taught(whole)
    Run(RunDirectory(whole)).rewind(300)
    assert rows(whole, "SELECT max(tick) FROM transitions") == [(TICKS - 300,)]
    resume(RunDirectory(whole), config(tmp_path, world=world, agent="bdi", max_ticks=TICKS))
    assert taught(whole) == before
    assert not verify(RunDirectory(whole)).faults
