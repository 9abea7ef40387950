"""A fork plays at once, whatever its parent's length: the history that it takes over is copied beside it."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from ptp.errors import RecordingError
from ptp.recording import RunDirectory, history, recorder
from ptp.recording.directory import run_paths
from ptp.runner import fork, resume, run
from ptp.sinks import Sink
from tests.runner.test_going_back import config, hashes, verified

KILLED = """
import os, sys
from ptp.cli import main
from ptp.recording import recorder
recorder.copy_history = lambda *_: os.kill(os.getpid(), 9)
sys.argv = ["ptp", "fork", sys.argv[1], "--at-tick", "60", "--data-dir", sys.argv[2]]
main()
"""


class FirstTick(Sink):
    """Lets go of the history when the first tick was played."""

    inline = True
    each_tick = True

    def __init__(self, played: threading.Event) -> None:
        self._played = played

    def took(self, records: Any) -> None:
        self._played.set()


def parent_in(folder: Path, world: str) -> RunDirectory:
    return RunDirectory(Path(run(config(folder, world=world, max_ticks=120)).directory))


@pytest.mark.parametrize("world", ["CartPole-v1", "tallgrass"])
def test_a_fork_plays_its_first_tick_before_the_history_is_copied(
    tmp_path: Path, world: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    parent, played, copy = parent_in(tmp_path, world), threading.Event(), history.copy_history

    def copy_later(*words: Any) -> None:
        assert played.wait(60)
        copy(*words)

    monkeypatch.setattr(recorder, "copy_history", copy_later)
    result = fork(parent, 100, config(tmp_path, world=world, max_ticks=120), sinks=[FirstTick(played)])
    assert hashes(Path(result.directory)) == hashes(parent.path)
    assert verified(Path(result.directory)) == 120


def test_a_fork_whose_history_cannot_be_copied_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*words: Any) -> None:
        raise UnicodeDecodeError("utf-8", b"\xff", 0, 1, "damaged")

    parent = parent_in(tmp_path, "CartPole-v1")
    monkeypatch.setattr(recorder, "copy_history", fail)
    result = fork(parent, 100, config(tmp_path, world="CartPole-v1", max_ticks=120))
    assert result.status == "crashed"
    assert f"the history of {parent.run_id} can't be copied" in str(result.error)


def test_a_fork_that_was_killed_while_history_was_copied_says_how_to_fork_again(tmp_path: Path) -> None:
    parent = parent_in(tmp_path, "CartPole-v1")
    killed = subprocess.run([sys.executable, "-c", KILLED, parent.run_id, str(tmp_path)], capture_output=True)
    assert killed.returncode == -9, killed.stderr
    (left,) = [RunDirectory(path) for path in run_paths(tmp_path) if path != parent.path]
    with pytest.raises(RecordingError, match=rf"fork it again with `ptp fork {parent.run_id} --at-tick 60`"):
        resume(left, config(tmp_path, world="CartPole-v1", max_ticks=120))
