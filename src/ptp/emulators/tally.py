"""Counting what a pool has done."""

from __future__ import annotations

import threading
from collections import deque
from statistics import quantiles

from ptp.emulators.results import ExecutionResult

LAST = 1000  # tasks that the times are made of


class Tally:
    """Counts tasks and their times; used by many threads."""

    def __init__(self) -> None:
        self.executed = self.unsuccessful = self.retried = 0
        self._times: deque[float] = deque(maxlen=LAST)
        self._lock = threading.Lock()

    def note(self, result: ExecutionResult) -> None:
        """Count a task."""
        with self._lock:
            self.executed += 1
            self.unsuccessful += not result.success
            self.retried += len(result.metadata.problems)
            self._times.append(result.timing.total * 1000)

    def times(self) -> tuple[float | None, float | None]:
        """Return the median and the 95th percentile of the last tasks, in milliseconds."""
        with self._lock:
            taken = [*self._times]
        if not taken:
            return None, None
        if len(taken) == 1:
            return round(taken[0], 1), round(taken[0], 1)
        parts = quantiles(taken, n=20, method="inclusive")
        return round(parts[9], 1), round(parts[18], 1)
