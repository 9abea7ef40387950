"""docs/tutorial.md works, command by command."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import av
import pytest

TUTORIAL = Path(__file__).parents[1] / "docs" / "tutorial.md"
PORT = 8650


def commands() -> list[str]:
    """Return the lines of every shell block."""
    blocks = re.findall(r"```sh\n(.*?)```", TUTORIAL.read_text(), re.DOTALL)
    return [line for block in blocks for line in block.splitlines()]


def wait_for(happened: Callable[[], bool], what: str) -> None:
    """Wait until something is so; fail after a while."""
    deadline = time.monotonic() + 30
    while not happened():
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(0.05)


class Terminal:
    """A shell in an empty folder, in which a reader types."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
        self._behind: list[subprocess.Popen[bytes]] = []

    def type(self, line: str) -> str:
        """Run one line and return what it printed; a line that ends in & goes on behind."""
        if line.endswith("&"):
            self._start(line.removesuffix("&"))
            return ""
        line = line.replace("$!", str(self._behind[-1].pid)) if self._behind else line
        done = subprocess.run(["bash", "-c", line], cwd=self._folder, env=self._environment, capture_output=True,
                              text=True, timeout=120)  # fmt: skip
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
        assert "Traceback" not in done.stderr
        return done.stdout

    def _start(self, line: str) -> None:
        sockets = self._sockets()
        self._behind.append(
            subprocess.Popen(
                ["bash", "-c", f"exec {line}"],
                cwd=self._folder,
                env=self._environment,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        )
        if "dashboard" in line:
            wait_for(_serves, "the dashboard")
        else:
            wait_for(lambda: bool(self._sockets() - sockets), "the run")

    def _sockets(self) -> set[Path]:
        return set(self._folder.glob("var/records/*/control.sock"))

    def close(self) -> None:
        """End what goes on behind."""
        for process in self._behind:
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
        for process in self._behind:
            process.wait(30)


def _serves() -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", PORT)) == 0


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    opened = Terminal(tmp_path)
    yield opened
    opened.close()


def test_the_tutorial_works_from_the_first_command_to_the_last(terminal: Terminal, tmp_path: Path) -> None:
    told: dict[str, str] = {}
    for line in commands():
        told[line] = terminal.type(line)
        if line.startswith("ptp dashboard"):
            page = urllib.request.urlopen(f"http://127.0.0.1:{PORT}/", timeout=10)
            assert b"<html" in page.read()
    assert "crossroads" in told["ptp snapshot list"]
    assert "crashed" in told["ptp runs --limit 1"]
    with av.open(str(tmp_path / "walk.mp4")) as film:
        assert sum(1 for _ in film.decode(video=0)) >= 200


def test_the_tutorial_covers_what_it_promises() -> None:
    verbs = {line.split()[1] for line in commands() if line.startswith("ptp ")}
    assert {"run", "dashboard", "snapshot", "fork", "replay", "video", "resume"} <= verbs
