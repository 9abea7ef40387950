"""How long a server takes: timings, promises that it breaks, and whether it gets slower."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from statistics import median

import msgspec

from ptp._util.clock import Clock

SLA: Mapping[str, float] = {
    "action": 1.0, "state": 1.0, "status": 1.0, "evaluate": 1.0, "snapshot": 1.0, "restore": 1.0,
}  # fmt: skip
"""The seconds in which each critical operation is to be done: all take less than a second."""
KEPT = 1000  # timings per operation
OPERATIONS = 64  # more are counted together, so that names made up by a caller can't fill the memory
OTHERS = "others"
RECENT, EARLIER = 20, 40  # timings that are compared: the newest ones with those before
WORSE, NOTICEABLE = 1.5, 0.005  # times as slow, and seconds more, to count as slower


class Timing(msgspec.Struct, frozen=True):
    """One operation in figures; times are in seconds, of the newest calls."""

    count: int
    """Calls since the beginning, those that failed too."""
    errors: int
    mean: float
    median: float
    p95: float
    p99: float
    slowest: float
    per_second: float | None
    """Calls per second between the oldest and the newest of these."""


class Breach(msgspec.Struct, frozen=True):
    """An operation that takes longer than promised: 5 calls in 100, or more."""

    operation: str
    limit: float
    p95: float

    def __str__(self) -> str:
        return f"{self.operation} takes {self.p95:.3f} s (95th percentile), and {self.limit:g} s were promised"


class Degradation(msgspec.Struct, frozen=True):
    """An operation that got slower."""

    operation: str
    before: float
    now: float

    def __str__(self) -> str:
        return f"{self.operation} takes {self.now:.3f} s, and took {self.before:.3f} s before"


class _Series:
    def __init__(self) -> None:
        self.seconds: deque[float] = deque(maxlen=KEPT)
        self.ends: deque[float] = deque(maxlen=KEPT)
        self.count = self.errors = 0
        self.degraded = False


class PerformanceMonitor:
    """Takes the time of operations; memory is bounded, and any thread may ask.

    *alert* hears of a degradation once, when it begins.
    """

    def __init__(
        self,
        sla: Mapping[str, float] = SLA,
        clock: Clock | None = None,
        alert: Callable[[Degradation], None] = lambda _: None,
    ) -> None:
        self.sla = sla
        self._now = (clock or Clock()).monotonic
        self._alert = alert
        self._lock = threading.Lock()
        self._series: dict[str, _Series] = {}

    @contextmanager
    def measure(self, operation: str) -> Iterator[None]:
        """Take the time of what is done within; an error is counted, and raised."""
        began = self._now()
        try:
            yield
        except Exception:
            self.record(operation, self._now() - began, failed=True)
            raise
        self.record(operation, self._now() - began)

    def record(self, operation: str, seconds: float, failed: bool = False) -> None:
        """Count one call; a failed one is no measure of speed."""
        with self._lock:
            if operation not in self._series and len(self._series) >= OPERATIONS:
                operation = OTHERS
            series = self._series.setdefault(operation, _Series())
            series.count += 1
            series.errors += failed
            if failed:
                return
            series.seconds.append(seconds)
            series.ends.append(self._now())
            found = _degradation(operation, series)
            begins = found is not None and not series.degraded
            series.degraded = found is not None
        if found is not None and begins:
            self._alert(found)

    def check_sla(self) -> list[Breach]:
        """Return the operations that take longer than promised."""
        figures = self.summary()
        return [
            Breach(name, limit, figures[name].p95)
            for name, limit in self.sla.items()
            if name in figures and figures[name].p95 > limit
        ]

    def degradations(self) -> list[Degradation]:
        """Return the operations that are slower now than they were before."""
        with self._lock:
            found = [_degradation(name, series) for name, series in self._series.items()]
        return [each for each in found if each is not None]

    def summary(self) -> dict[str, Timing]:
        """Return the figures of every operation that succeeded at least once."""
        with self._lock:
            return {name: _timing(series) for name, series in self._series.items() if series.seconds}

    def errors(self) -> int:
        """Return how many calls failed."""
        with self._lock:
            return sum(series.errors for series in self._series.values())


def _degradation(operation: str, series: _Series) -> Degradation | None:
    """Compare the newest calls with those before; chance alone rarely lifts a median above most of them."""
    if len(series.seconds) < RECENT + EARLIER:
        return None
    newest = list(series.seconds)[-(RECENT + EARLIER) :]
    earlier, now = newest[:EARLIER], median(newest[EARLIER:])
    before = median(earlier)
    if now > max(WORSE * before, before + NOTICEABLE, _percentile(earlier, 0.9)):
        return Degradation(operation, before, now)
    return None


def _timing(series: _Series) -> Timing:
    seconds, span = list(series.seconds), series.ends[-1] - series.ends[0]
    return Timing(
        count=series.count,
        errors=series.errors,
        mean=sum(seconds) / len(seconds),
        median=median(seconds),
        p95=_percentile(seconds, 0.95),
        p99=_percentile(seconds, 0.99),
        slowest=max(seconds),
        per_second=(len(seconds) - 1) / span if span > 0 else None,
    )


def _percentile(seconds: list[float], part: float) -> float:
    return sorted(seconds)[min(len(seconds) - 1, int(part * len(seconds)))]
