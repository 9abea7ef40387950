"""Emulators as processes of this machine: `ptp emulator serve`, each of which dies with the pool."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

import psutil

from ptp.emulators.backends.ports import HOST, Ports
from ptp.emulators.health import Vitals
from ptp.errors import UsageError

DEAD = (psutil.STATUS_STOPPED, psutil.STATUS_TRACING_STOP, psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD)
GRACE = 3.0  # seconds in which it may end by itself


class Process:
    """One such process."""

    token = None

    def __init__(self, arguments: Sequence[str], port: int, data_dir: Path, ports: Ports) -> None:
        self.url = f"http://{HOST}:{port}"
        self._port, self._ports = port, ports
        self._data_dir = data_dir
        self._began = time.monotonic()
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - read when the process has ended
        command = [sys.executable, "-m", "ptp.emulators.worker", str(os.getpid()), *arguments, "--port", str(port)]
        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=self._errors, start_new_session=True
        )
        self._seen = psutil.Process(self.process.pid)

    def vitals(self) -> Vitals:
        """Return how the process is."""
        code = self.process.poll()
        if code is not None:
            return Vitals(running=False, condition=f"its process ended with {code}{self._reason()}")
        try:
            with self._seen.oneshot():
                status = self._seen.status()
                cpu = self._seen.cpu_percent() / 100
                memory = self._seen.memory_info().rss
                disk = self._seen.io_counters() if hasattr(self._seen, "io_counters") else None
        except psutil.Error as problem:
            return Vitals(running=False, condition=f"its process can't be seen: {problem}")
        return Vitals(
            running=status not in DEAD,
            condition=f"its process is {status}" if status in DEAD else status,
            uptime=time.monotonic() - self._began,
            cpu=cpu,
            memory=memory,
            memory_limit=psutil.virtual_memory().total,
            disk_bytes=disk.read_bytes + disk.write_bytes if disk else None,
            disk_free=psutil.disk_usage(str(self._data_dir)).free,
        )

    def _reason(self) -> str:
        with suppress(ValueError):  # closed: it was stopped by us
            self._errors.seek(0)
            lines = self._errors.read().decode("utf-8", "replace").strip().splitlines()
            return f": {lines[-1].removeprefix('ptp: ')}" if lines else ""
        return ""

    def stop(self) -> None:
        """End the process, by force if it does not end by itself."""
        with suppress(ProcessLookupError):
            self.process.terminate()
        try:
            self.process.wait(GRACE if self._listens() else 0)
        except subprocess.TimeoutExpired:
            self.process.kill()  # also ends one that is stopped
            self.process.wait()
        self._errors.close()
        self._ports.give_back(self._port)

    def _listens(self) -> bool:
        """Whether it can hear that it should end; one that is stopped can't."""
        with suppress(psutil.Error):
            return self._seen.status() not in DEAD
        return False


class Processes:
    """Starts a process for each emulator."""

    name = "processes"

    def __init__(
        self, world: str | None = None, rom: str | None = None, data_dir: str | Path = "ptp-data", record: bool = False
    ) -> None:
        if world and rom:
            raise UsageError("--world and --rom exclude each other; leave one out")
        self._data_dir = Path(data_dir)
        self._ports = Ports()
        self._arguments = ["--data-dir", str(data_dir), "--quiet", "--json"]
        self._arguments += ["--world", world] if world else []
        self._arguments += ["--rom", str(rom)] if rom else []
        self._arguments += ["--record"] if record else []

    def prepare(self) -> None:
        """Make the data directory."""
        self._data_dir.mkdir(parents=True, exist_ok=True)

    def start(self, port: int) -> Process:
        """Start an emulator."""
        return Process(self._arguments, self._ports.take(port), self._data_dir, self._ports)

    def most(self) -> None:
        """Any number."""

    def close(self) -> None:
        """Nothing is left."""
