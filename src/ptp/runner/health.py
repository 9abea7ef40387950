"""Measurements of the run itself, once a second."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from ptp.records import Record
from ptp.sinks import RunContext, Sink

EVERY = 1.0  # seconds between two measurements


class Health(Sink):
    """Measures tick rate, memory and cost, and what the world says of itself."""

    inline = True

    def began(self, run: RunContext) -> None:
        """Know the run."""
        self._run = run
        self._at = run.clock.monotonic()
        self._ticks = run.tick

    def took(self, records: Sequence[Record]) -> None:
        """Measure, if the last measurement is a second old."""
        run, now = self._run, self._run.clock.monotonic()
        passed = now - self._at
        if passed < EVERY:
            return
        ticks = run.tick
        run.measure("tick_rate", round((ticks - self._ticks) / passed, 3), "ticks/s")
        run.measure("cost", run.play.progress.cost, "$")
        for name, value in run.play.world.measurements().items():
            run.measure(name, value, "")
        memory = resident_megabytes()
        if memory is not None:
            run.measure("memory", round(memory, 3), "MB")
        self._at, self._ticks = now, ticks


def resident_megabytes() -> float | None:
    """Return the memory that this process holds, where the system tells it."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except (OSError, IndexError, ValueError):
        return None
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6
