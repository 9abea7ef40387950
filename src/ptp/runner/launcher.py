"""Where a run is played: in this process, or in one of its own. Its id is known before it begins."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO

import msgspec

from ptp._util.files import write_atomic
from ptp.config import RunConfig
from ptp.config.files import dump
from ptp.errors import PtpError, UsageError
from ptp.recording import RunDirectory
from ptp.records import RunResult
from ptp.runner.run import run

PATIENCE = 30.0  # seconds in which a run must have begun


Launcher = Callable[[str, RunConfig], RunResult]
"""Plays the run of an id somewhere, from start to end, and returns how it ended."""


def in_process(run_id: str, config: RunConfig) -> RunResult:
    """Play a run in this process."""
    return run(config, run_id=run_id)


def in_child(run_id: str, config: RunConfig) -> RunResult:
    """Play a run in a process of its own, and wait for it."""
    folder = Path(config.system.data_dir) / "tmp"
    folder.mkdir(parents=True, exist_ok=True)
    settings = folder / f"{run_id}.yaml"
    write_atomic(settings, dump(config).encode())
    try:
        return Child(run_id, config.system.data_dir, ["run", "--config-file", str(settings)]).result()
    finally:
        settings.unlink(missing_ok=True)


class Child:
    """A run that a process of its own plays; it outlives this one."""

    def __init__(self, run_id: str, data_dir: str, arguments: Sequence[str]) -> None:
        self.run_id = run_id
        self._directory = RunDirectory(Path(data_dir) / "records" / run_id)
        self._output: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - read when the process has ended
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115
        command = [sys.executable, "-m", "ptp", *arguments, "--run-id", run_id, "--data-dir", data_dir, "--json"]
        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=self._output, stderr=self._errors, start_new_session=True
        )

    def wait_until_begun(self) -> RunDirectory:
        """Return the run's directory as soon as it is there; a run that can't begin says why."""
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            ended = self.process.poll() is not None
            if (self._directory.path / "metadata.json").exists():
                return self._directory
            if ended:
                raise UsageError(self._reason() or "the run ended before it began")
            time.sleep(0.02)
        raise PtpError(f"run {self.run_id} has not begun within {PATIENCE:.0f} s; see `ptp runs`")

    def result(self) -> RunResult:
        """Wait for the run's end, and return how it ended."""
        self.process.wait()
        self._output.seek(0)
        try:
            return msgspec.json.decode(self._output.read(), type=RunResult)
        except msgspec.DecodeError:
            code = self.process.returncode
            raise PtpError(self._reason() or f"the process of run {self.run_id} ended with {code}") from None
        finally:
            self.close()

    def close(self) -> None:
        """Listen no longer to what the process says; it plays on."""
        self._output.close()
        self._errors.close()

    def _reason(self) -> str:
        self._errors.seek(0)
        lines = self._errors.read().decode("utf-8", "replace").strip().splitlines()
        return lines[-1].removeprefix("ptp: ") if lines else ""
