"""What the routes work with: runs, pictures, streams and started runs, one set for each app."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

from starlette.concurrency import run_in_threadpool

from ptp.recording import RunDirectory
from ptp.records import Metadata
from ptp.runs.actions import ActionLog
from ptp.runs.drawing import Painter
from ptp.runs.library import Library
from ptp.runs.run import Run
from ptp.runs.shots import Album
from ptp.runs.status import Status, read_status
from ptp.web.children import Children
from ptp.web.live import Hub

FRESH = 0.1  # seconds for which a status is not read again; the run itself commits five times a second


class Services:
    """Everything that the routes work with."""

    def __init__(self, data_dir: Path, most_runs: int) -> None:
        self.library = Library(data_dir)
        self.painter = Painter()
        self.album = Album(self.painter.draw)
        self.actions = ActionLog()
        self.hub = Hub()
        self.children = Children(data_dir, most_runs)
        self.statuses = Statuses(self)

    def open(self, name: str | None) -> Run:
        """Return a run as one object."""
        return Run(self.find(name)[0])

    def find(self, name: str | None) -> tuple[RunDirectory, Metadata]:
        """Return a run with its header."""
        directory = self.library.find(name)
        return directory, self.library.metadata(directory)

    async def close(self) -> None:
        """End what was begun, but not the runs that were started from here."""
        await self.hub.close()
        self.painter.close()


class Statuses:
    """The newest statuses, each read at most ten times a second however many ask."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._known: dict[str | None, tuple[float, Status]] = {}
        self._lock = asyncio.Lock()

    async def get(self, name: str | None) -> Status:
        """Return the status of a run."""
        found = self._fresh(name)
        if found is None:
            async with self._lock:
                found = self._fresh(name) or await self._read(name)
        return found

    def _fresh(self, name: str | None) -> Status | None:
        known = self._known.get(name)
        return known[1] if known is not None and time.monotonic() - known[0] < FRESH else None

    async def _read(self, name: str | None) -> Status:
        status = await run_in_threadpool(lambda: read_status(*self._services.find(name)))
        if len(self._known) > 100:
            self._known.clear()
        self._known[name] = (time.monotonic(), status)
        return status
