"""Runs that are started from here; each is a process of its own and outlives the dashboard."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import IO

from ptp._util.ids import uuid7
from ptp.errors import PtpError, UsageError
from ptp.recording import RunDirectory

PATIENCE = 30.0  # seconds in which a new run must have begun


class Children:
    """Starts runs, so many at once, and waits until they are there."""

    def __init__(self, data_dir: Path, most: int) -> None:
        self._data_dir = data_dir
        self._most = most
        self._processes: list[subprocess.Popen[bytes]] = []
        self._lock = threading.Lock()

    def fork(self, parent: RunDirectory, tick: int, flags: dict[str, str]) -> str:
        """Start a run that shares another's history up to a tick, and return its id."""
        changed = [argument for flag, value in flags.items() for argument in (flag, value)]
        return self.launch("fork", parent.run_id, "--at-tick", str(tick), *changed)

    def launch(self, *arguments: str) -> str:
        """Start a verb of ptp that makes a run, and return the run's id as soon as the run can be read."""
        run_id = uuid7(time.time())
        command = [sys.executable, "-m", "ptp", *arguments, "--run-id", run_id, "--data-dir", str(self._data_dir), "-q"]
        with tempfile.TemporaryFile() as errors:
            process = self._start(command, errors)
            threading.Thread(target=process.wait, name="child", daemon=True).start()  # so that it leaves no zombie
            self._wait(process, RunDirectory(self._data_dir / "records" / run_id), errors)
        return run_id

    def _start(self, command: list[str], errors: IO[bytes]) -> subprocess.Popen[bytes]:
        with self._lock:  # however many ask at once, the bound holds
            self._processes = [process for process in self._processes if process.poll() is None]
            if len(self._processes) >= self._most:
                raise PtpError(f"{self._most} runs that were started here are still live; stop one first")
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors, start_new_session=True
            )
            self._processes.append(process)
        return process

    def _wait(self, process: subprocess.Popen[bytes], directory: RunDirectory, errors: IO[bytes]) -> None:
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            ended = process.poll() is not None
            if (directory.path / "metadata.json").exists():
                return
            if ended:
                errors.seek(0)
                reason = errors.read().decode("utf-8", "replace").strip().splitlines()
                raise UsageError(reason[-1].removeprefix("ptp: ") if reason else "the run ended before it began")
            time.sleep(0.05)
        raise PtpError(f"the run has not begun within {PATIENCE:.0f} s; see `ptp runs`")
