"""What a pool has done, and how it is."""

from __future__ import annotations

import threading
from collections import deque
from statistics import quantiles

from msgspec import Struct

from ptp.emulators.member import MemberStatus
from ptp.emulators.results import ExecutionResult

LAST = 1000  # tasks that the times are made of


class PoolStatus(Struct, frozen=True, kw_only=True):
    """A pool as others see it."""

    backend: str
    size: int
    busy: int
    waiting: int
    """Tasks that wait for an emulator."""
    executed: int
    """Tasks that were done."""
    unsuccessful: int
    """Those of them that did not succeed."""
    retried: int
    """Attempts that failed because of an emulator, and were made again."""
    replaced: int
    """Emulators that were replaced."""
    median_ms: float | None
    """Of the last thousand tasks; null before the first."""
    p95_ms: float | None
    commands_per_second: float
    """What the emulators play together at their latest speed."""
    alerts: tuple[str, ...]
    """What somebody should look at, newest last."""
    members: tuple[MemberStatus, ...]


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
