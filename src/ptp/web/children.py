"""Runs that are started from here; each is a process of its own and outlives the dashboard."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import IO

from ptp.errors import PtpError, UsageError
from ptp.recording import RunDirectory
from ptp.recording.directory import run_paths

PATIENCE = 30.0  # seconds in which a new run must have begun
MOST = 8  # runs started from here that play at once


class Children:
    """Starts forks and waits until they are there."""

    def __init__(self, data_dir: Path) -> None:
        self._data_dir = data_dir
        self._processes: list[subprocess.Popen[bytes]] = []
        self._lock = threading.Lock()

    def fork(self, parent: RunDirectory, tick: int, flags: dict[str, str]) -> str:
        """Begin a run that shares another's history up to a tick, and return its id."""
        known = {path.name for path in run_paths(self._data_dir)}
        words = [word for flag, value in flags.items() for word in (flag, value)]
        command = [sys.executable, "-m", "ptp", "fork", parent.run_id, "--at-tick", str(tick), *words,
                   "--data-dir", str(self._data_dir), "--quiet"]  # fmt: skip
        with tempfile.TemporaryFile() as errors:
            process = self._start(command, errors)
            threading.Thread(target=process.wait, name="fork", daemon=True).start()  # so that it leaves no zombie
            return self._wait(process, known, parent.run_id, errors)

    def _start(self, command: list[str], errors: IO[bytes]) -> subprocess.Popen[bytes]:
        with self._lock:
            self._processes = [process for process in self._processes if process.poll() is None]
            if len(self._processes) >= MOST:
                raise PtpError(f"{MOST} runs that were forked from here still play; stop one first")
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors, start_new_session=True
            )
            self._processes.append(process)
        return process

    def _wait(self, process: subprocess.Popen[bytes], known: set[str], parent: str, errors: IO[bytes]) -> str:
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            ended = process.poll()
            for path in run_paths(self._data_dir):
                if path.name not in known and _parent_of(path) == parent:
                    return path.name
            if ended is not None:
                errors.seek(0)
                reason = errors.read().decode("utf-8", "replace").strip().splitlines()
                raise UsageError(reason[-1].removeprefix("ptp: ") if reason else "the fork ended before it began")
            time.sleep(0.05)
        raise PtpError(f"the fork has not begun within {PATIENCE:.0f} s; see `ptp runs`")


def _parent_of(path: Path) -> str | None:
    try:
        metadata = RunDirectory(path).read_metadata()
    except PtpError:
        return None  # not written yet
    return metadata.parent.run_id if metadata.parent else None
