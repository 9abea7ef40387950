"""Ctrl-C and SIGTERM end every verb cleanly: one line, the exit code of the signal, and nothing half done."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ptp.cli.main import Terminated, hearing
from ptp.cli.play import Silent, explaining_stop

CODES = [(signal.SIGINT, 130), (signal.SIGTERM, 143)]


def start(*words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "ptp", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def wait_for(happened: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.parametrize(("number", "code"), CODES)
def test_a_verb_that_is_stopped_says_one_line(number: signal.Signals, code: int, recorded: Callable[..., Path]) -> None:
    process = start("replay", str(recorded(ticks=20_000)))
    assert process.stdout is not None
    process.stdout.readline()
    process.send_signal(number)
    _, err = process.communicate(timeout=30)
    assert process.returncode == code
    assert err == "ptp: interrupted; nothing is left half done, and the same command can be run again\n"


@pytest.mark.parametrize(("number", "code"), CODES)
def test_a_video_that_is_stopped_leaves_no_file(
    number: signal.Signals, code: int, recorded: Callable[..., Path]
) -> None:
    directory = recorded("tallgrass", "--agent", "explorer", ticks=400)
    process = start("video", str(directory))
    wait_for(lambda: any((directory / "video").glob("*")) or any((directory / "video").glob(".*")))
    process.send_signal(number)
    _, err = process.communicate(timeout=30)
    assert process.returncode == code
    assert err.count("\n") == 1
    assert list((directory / "video").iterdir()) == []


@pytest.mark.parametrize(("number", "code"), CODES)
def test_a_dashboard_that_is_stopped_says_that_runs_continue(number: signal.Signals, code: int, tmp_path: Path) -> None:
    process = start("dashboard", "--port", "0", "--data-dir", str(tmp_path))
    assert process.stderr is not None
    process.stderr.readline()
    time.sleep(0.5)
    process.send_signal(number)
    _, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (code, "ptp: the dashboard has stopped; runs continue\n")


class Swallower:
    """Raises where nobody can catch it, as compiled code does."""

    def __init__(self, problem: type[BaseException]) -> None:
        self._problem = problem

    def __del__(self) -> None:
        raise self._problem


@pytest.mark.parametrize("problem", [KeyboardInterrupt, Terminated])
def test_a_signal_that_compiled_code_swallowed_comes_again(
    problem: type[BaseException], capsys: pytest.CaptureFixture[str]
) -> None:
    def swallow_and_go_on() -> None:
        Swallower(problem)
        time.sleep(5)

    with pytest.raises(problem) as raised, hearing():
        swallow_and_go_on()
    assert raised.type is problem
    assert capsys.readouterr().err == ""


def test_signals_are_as_they_were_afterwards() -> None:
    before = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGALRM), sys.excepthook, sys.unraisablehook
    with hearing():
        assert signal.getsignal(signal.SIGTERM) is not before[0]
    assert before == (
        signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGALRM), sys.excepthook, sys.unraisablehook,
    )  # fmt: skip


def test_a_run_that_is_stopped_outside_of_its_play_says_what_is_kept() -> None:
    watcher = Silent()
    with pytest.raises(KeyboardInterrupt, match="before anything was played"), explaining_stop(watcher):
        raise KeyboardInterrupt
    watcher.directory = Path("var/records/01a1e290")
    with pytest.raises(Terminated, match="`ptp resume 01a1e290` resumes it"), explaining_stop(watcher):
        raise Terminated
