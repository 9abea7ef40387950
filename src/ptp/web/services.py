"""What the routes work with: runs, pictures, streams and started runs, one set for each app."""

from __future__ import annotations

import asyncio
import threading
import time
from contextlib import closing
from pathlib import Path

from starlette.concurrency import run_in_threadpool

from ptp._util.ids import uuid7
from ptp.errors import PtpError
from ptp.recording import RunDirectory
from ptp.records import Metadata
from ptp.runner.launcher import Child
from ptp.runs.actions import ActionLog
from ptp.runs.drawing import Painter
from ptp.runs.library import Library
from ptp.runs.run import Run
from ptp.runs.shots import Album
from ptp.runs.status import Status, read_status
from ptp.web.live import Hub

FRESH = 0.1  # seconds for which a status is not read again; the run itself commits five times a second


class Services:
    """Everything that the routes work with."""

    def __init__(self, data_dir: Path, most_runs: int) -> None:
        self.data_dir = data_dir
        self.library = Library(data_dir)
        self.painter = Painter()
        self.album = Album(self.painter.draw)
        self.actions = ActionLog()
        self.hub = Hub()
        self.children = Children(data_dir, most_runs)
        self._statuses: dict[str | None, tuple[float, Status]] = {}
        self._reading = asyncio.Lock()

    def open(self, name: str | None) -> Run:
        """Return a run as one object."""
        return Run(self.find(name)[0])

    def find(self, name: str | None) -> tuple[RunDirectory, Metadata]:
        """Return a run with its header."""
        directory = self.library.find(name)
        return directory, self.library.metadata(directory)

    async def status(self, name: str | None) -> Status:
        """Return the status of a run, read at most ten times a second however many ask."""
        if (known := self._fresh_status(name)) is not None:
            return known
        async with self._reading:
            if (known := self._fresh_status(name)) is not None:
                return known
            status = await run_in_threadpool(lambda: read_status(*self.find(name)))
            if len(self._statuses) > 100:
                self._statuses.clear()
            self._statuses[name] = (time.monotonic(), status)
            return status

    def _fresh_status(self, name: str | None) -> Status | None:
        read_at, status = self._statuses.get(name, (0.0, None))
        return status if time.monotonic() - read_at < FRESH else None

    async def close(self) -> None:
        """End what was begun, but not the runs that were started from here."""
        await self.hub.close()
        self.painter.close()
        self.children.close()


class Children:
    """Starts runs, so many at once; each is a process of its own and outlives the dashboard."""

    def __init__(self, data_dir: Path, most: int) -> None:
        self._data_dir = data_dir
        self._most = most
        self._children: list[Child] = []
        self._lock = threading.Lock()

    def fork(self, parent: str, tick: int, flags: dict[str, str]) -> str:
        """Start a run that shares another's history up to a tick, and return its id as soon as it can be read."""
        changed = [argument for flag, value in flags.items() for argument in (flag, value)]
        with self._lock:  # however many ask at once, the bound holds
            self._children = [child for child in self._children if child.process.poll() is None]
            if len(self._children) >= self._most:
                raise PtpError(f"{self._most} runs that were started here are still live; stop one first")
            child = Child(uuid7(), str(self._data_dir), ("fork", parent, "--at-tick", str(tick), *changed))
            self._children.append(child)
        threading.Thread(target=child.process.wait, name="child", daemon=True).start()  # so that it leaves no zombie
        with closing(child):  # what it says later is in its own log
            child.wait_until_begun()
        return child.run_id

    def close(self) -> None:
        """Hear no more of the runs that were started; they play on."""
        for child in self._children:
            child.close()
