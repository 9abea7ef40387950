"""Runs that are started from here; each is a process of its own and outlives the dashboard."""

from __future__ import annotations

import threading
from pathlib import Path

from ptp._util.ids import uuid7
from ptp.errors import PtpError
from ptp.recording import RunDirectory
from ptp.runner.launcher import Child


class Children:
    """Starts runs, so many at once, and waits until they are there."""

    def __init__(self, data_dir: Path, most: int) -> None:
        self._data_dir = data_dir
        self._most = most
        self._children: list[Child] = []
        self._lock = threading.Lock()

    def fork(self, parent: RunDirectory, tick: int, flags: dict[str, str]) -> str:
        """Start a run that shares another's history up to a tick, and return its id as soon as it can be read."""
        changed = [argument for flag, value in flags.items() for argument in (flag, value)]
        child = self._start("fork", parent.run_id, "--at-tick", str(tick), *changed)
        child.wait_until_begun()
        return child.run_id

    def _start(self, *arguments: str) -> Child:
        with self._lock:  # however many ask at once, the bound holds
            self._children = [child for child in self._children if not child.has_ended()]
            if len(self._children) >= self._most:
                raise PtpError(f"{self._most} runs that were started here are still live; stop one first")
            child = Child(uuid7(), str(self._data_dir), arguments)
            self._children.append(child)
        threading.Thread(target=child.process.wait, name="child", daemon=True).start()  # so that it leaves no zombie
        return child
