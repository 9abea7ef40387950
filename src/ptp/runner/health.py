"""Measurements of the run itself, once a second."""

from __future__ import annotations

import os
from pathlib import Path

from ptp.engine import Engine
from ptp.recording import Recorder

EVERY = 1.0  # seconds between two measurements


class Health:
    """Takes tick rate, memory and cost, and keeps them."""

    def __init__(self, engine: Engine, recorder: Recorder) -> None:
        self._clock = engine.clock
        self._engine = engine
        self._recorder = recorder
        self._at = self._clock.monotonic()
        self._ticks = 0

    def measure(self, ticks: int) -> bool:
        """Measure, if the last measurement is a second old; return whether it was."""
        now = self._clock.monotonic()
        passed = now - self._at
        if passed < EVERY:
            return False
        at = self._clock.time()
        rate = (ticks - self._ticks) / passed
        self._recorder.add_metric(at, ticks, "tick_rate", round(rate, 3), "ticks/s")
        self._recorder.add_metric(at, ticks, "cost", self._engine.progress.cost, "dollars")
        for kind, value in self._engine.world.measurements().items():
            self._recorder.add_metric(at, ticks, kind, value, "")
        memory = resident_megabytes()
        if memory is not None:
            self._recorder.add_metric(at, ticks, "memory", round(memory, 3), "MB")
        self._at, self._ticks = now, ticks
        return True


def resident_megabytes() -> float | None:
    """Return the memory that this process holds, where the system tells it."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except (OSError, IndexError, ValueError):
        return None
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6
