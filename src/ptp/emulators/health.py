"""How an emulator is: healthy, degraded or failed, from what its checks found."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from statistics import median
from typing import Literal

from msgspec import Struct

Level = Literal["healthy", "degraded", "failed"]
KEPT = 20  # checks


class Vitals(Struct, frozen=True, kw_only=True):
    """What its process, container or address tells of an emulator; None where nobody can know."""

    running: bool
    condition: str
    """In the words of whoever runs it: running, sleeping, stopped, exited (137), ..."""
    uptime: float | None = None
    """Seconds."""
    cpu: float | None = None
    """Share of one core since the last check."""
    memory: int | None = None
    """Bytes."""
    memory_limit: int | None = None
    disk_bytes: int | None = None
    """Read and written."""
    disk_free: int | None = None
    network_bytes: int | None = None
    """Received and sent."""
    restarts: int = 0
    """How often it was restarted by whoever runs it."""
    problem: str | None = None
    """What a test inside it, such as a command in its container, found wrong."""


class Check(Struct, frozen=True, kw_only=True):
    """One look at an emulator."""

    at: float
    """Seconds of the monotonic clock."""
    vitals: Vitals
    answer_ms: float | None
    """How long it took to answer; None when it did not."""
    problem: str | None = None
    """Why it did not."""


class Limits(Struct, frozen=True, kw_only=True):
    """When an emulator is no longer healthy, and how often it is looked at."""

    interval: float = 2.0
    """Seconds between the checks of a healthy one."""
    degraded_interval: float = 0.5
    timeout: float = 5.0
    """Seconds in which it has to answer."""
    slow_ms: float = 500.0
    """It is degraded when half of its last answers took longer."""
    misses: int = 3
    """It has failed after so many checks in a row without an answer."""
    bad_answers: int = 3
    """It has failed after so many damaged answers in a row."""
    memory_share: float = 0.9
    """It is degraded above this share of its memory limit."""
    disk_free: int = 256 << 20
    """It is degraded with fewer free bytes."""
    loop_restarts: int = 5
    """So many restarts ..."""
    loop_seconds: float = 120.0
    """... within so many seconds are a restart loop."""


class Verdict(Struct, frozen=True):
    """How an emulator is, and why."""

    level: Level
    reasons: tuple[str, ...] = ()
    is_worsening: bool = False
    """Whether its answers take longer from check to check, or its memory runs out."""


class History:
    """The last checks of one emulator, and what follows from them."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._checks: deque[Check] = deque(maxlen=KEPT)
        self._restarts: deque[float] = deque(maxlen=KEPT)
        self.bad_answers = 0
        """Damaged answers since the last good one."""

    @property
    def last(self) -> Check | None:
        """The newest check."""
        return self._checks[-1] if self._checks else None

    def note(self, check: Check) -> Verdict:
        """Remember a check, and return how the emulator is."""
        previous = self.last
        if previous is not None and check.vitals.restarts > previous.vitals.restarts:
            self._restarts.extend([check.at] * (check.vitals.restarts - previous.vitals.restarts))
        self._checks.append(check)
        return self.judge(check.at)

    def restarted(self, at: float) -> None:
        """Begin anew: it was replaced."""
        self._restarts.append(at)
        self._checks.clear()
        self.bad_answers = 0

    def is_looping(self, now: float) -> bool:
        """Whether it is restarted again and again."""
        since = now - self._limits.loop_seconds
        return sum(at >= since for at in self._restarts) >= self._limits.loop_restarts

    def judge(self, now: float) -> Verdict:
        """Return how the emulator is."""
        failed = tuple(self._fatal(now))
        if failed:
            return Verdict("failed", failed)
        degraded = tuple(self._doubts())
        return Verdict("degraded" if degraded else "healthy", degraded, bool(degraded) and self._worsens())

    def _fatal(self, now: float) -> list[str]:
        limits, found = self._limits, []
        last = self.last
        if last is not None and not last.vitals.running:
            found.append(last.vitals.condition)
        recent = list(self._checks)[-limits.misses :]
        if len(recent) == limits.misses and all(check.answer_ms is None for check in recent):
            found.append(f"no answer to {limits.misses} checks in a row: {recent[-1].problem}")
        if len(recent) == limits.misses and all(check.vitals.problem for check in recent):
            found.append(f"{limits.misses} tests in a row failed: {recent[-1].vitals.problem}")
        if self.bad_answers >= limits.bad_answers:
            found.append(f"{self.bad_answers} damaged answers in a row")
        if self.is_looping(now) and last is not None and last.vitals.restarts:
            found.append(f"restarted {limits.loop_restarts} times within {limits.loop_seconds:.0f} s")
        return found

    def _doubts(self) -> list[str]:
        limits, last = self._limits, self.last
        if last is None:
            return []
        found, vitals = [], last.vitals
        if last.answer_ms is None:
            found.append(f"no answer to the last check: {last.problem}")
        if vitals.problem:
            found.append(vitals.problem)
        if self.bad_answers:
            found.append(f"{self.bad_answers} damaged answers")
        times = self._times()[-5:]
        if times and median(times) > limits.slow_ms:
            found.append(f"answers take {median(times):.0f} ms; at most {limits.slow_ms:.0f} are normal")
        if vitals.memory and vitals.memory_limit and vitals.memory > limits.memory_share * vitals.memory_limit:
            found.append(f"{vitals.memory / vitals.memory_limit:.0%} of its memory is taken")
        if vitals.disk_free is not None and vitals.disk_free < limits.disk_free:
            found.append(f"its disk has {vitals.disk_free >> 20} MB left")
        if len(self._restarts) >= 2 and self.is_looping(last.at):
            found.append("it was restarted again and again")
        return found

    def _times(self) -> list[float]:
        return [check.answer_ms for check in self._checks if check.answer_ms is not None]

    def _worsens(self) -> bool:
        shares = [
            check.vitals.memory / check.vitals.memory_limit
            for check in self._checks
            if check.vitals.memory and check.vitals.memory_limit
        ]
        return _rises(self._times()[-8:]) or (_rises(shares[-8:]) and shares[-1] > self._limits.memory_share)


def _rises(values: Sequence[float]) -> bool:
    """Whether the newer half of some values is clearly above the older half."""
    half = len(values) // 2
    return half >= 2 and median(values[half:]) > 1.25 * median(values[:half])
