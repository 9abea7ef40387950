"""What to do when a game server fails: when to try again, when to stop asking, and how to get another server."""

from __future__ import annotations

import random
import threading
from collections import deque
from collections.abc import Callable
from typing import Literal, Protocol, TypeVar

import msgspec

from ptp._util.clock import Clock
from ptp.emulators.diagnosis import Diagnosis, Remedy, diagnose
from ptp.errors import CircuitOpen, EmulatorError, PtpError

T = TypeVar("T")
KEPT = 100  # incidents


class Incident(msgspec.Struct, frozen=True):
    """An error that was met, and when."""

    at: float
    diagnosis: Diagnosis
    error: str
    attempt: int


class Rescue(Protocol):
    """What the owner of a server can do for it; both return the address where it is ready."""

    def restart(self) -> str:
        """Start the server anew."""

    def reallocate_port(self) -> str:
        """Start the server on another port."""


class Backoff(msgspec.Struct, frozen=True):
    """How long to wait before the next attempt: longer each time, and never just as long as others wait."""

    first: float = 0.1
    factor: float = 2.0
    most: float = 5.0
    jitter: float = 0.5
    """The part of each wait that is left to chance."""

    def delay(self, attempt: int, chance: random.Random) -> float:
        """Return the seconds to wait after the *attempt*-th failure, counted from 1."""
        whole = min(self.most, self.first * self.factor ** min(attempt - 1, 64))
        return whole * (1 - self.jitter * chance.random())


class CircuitBreaker:
    """Keeps a server that fails from being asked.

    It is closed while all is well, open for *cooldown* seconds after *threshold* failures in a row, and then half-open:
    one call may try, and the others are refused until it is known how that went.
    """

    def __init__(self, threshold: int = 10, cooldown: float = 30.0, clock: Clock | None = None) -> None:
        self.threshold, self.cooldown = threshold, cooldown
        self._now = (clock or Clock()).monotonic
        self._lock = threading.Lock()
        self._failures = 0
        self._opened: float | None = None
        self._trying: float | None = None
        self._why = ""

    @property
    def state(self) -> Literal["closed", "open", "half_open"]:
        """Whether calls pass, are refused, or one may try."""
        with self._lock:
            return self._state()

    def _state(self) -> Literal["closed", "open", "half_open"]:
        if self._opened is None:
            return "closed"
        return "open" if self._now() - self._opened < self.cooldown else "half_open"

    def check(self) -> None:
        """Refuse a call while the circuit is open."""
        with self._lock:
            state, now = self._state(), self._now()
            if state == "closed":
                return
            tried = self._trying is not None and now - self._trying < self.cooldown
            if state == "half_open" and not tried:
                self._trying = now
                return
            since = self._trying if tried and self._trying is not None else self._opened
            wait = self.cooldown - (now - (since or now))
        raise CircuitOpen(f"the server failed {self._failures} times; try again in {wait:.1f} s: {self._why}")

    def succeeded(self) -> None:
        """Close the circuit."""
        with self._lock:
            self._failures, self._opened, self._trying = 0, None, None

    def failed(self, problem: BaseException) -> None:
        """Count a failure; enough of them in a row, or one while half-open, open the circuit."""
        with self._lock:
            self._failures += 1
            self._why = str(problem)
            if self._failures >= self.threshold or self._opened is not None:
                self._opened, self._trying = self._now(), None


class ErrorRecoveryHandler:
    """Tries again what failed, as long as there is hope; a server is restarted or moved by its owner, if it has one.

    *rescue* is that owner, and *moved* hears where the server is then and the last snapshot to go on from.
    """

    def __init__(
        self,
        *,
        attempts: int = 8,
        backoff: Backoff | None = None,
        breaker: CircuitBreaker | None = None,
        rescue: Rescue | None = None,
        moved: Callable[[str, bytes | None], None] = lambda url, snapshot: None,
        catches: tuple[type[Exception], ...] = (PtpError, OSError, MemoryError),
        clock: Clock | None = None,
        seed: int | None = None,
    ) -> None:
        self.attempts = attempts
        self.backoff = backoff or Backoff()
        self.clock = clock or Clock()
        self.breaker = breaker or CircuitBreaker(clock=self.clock)
        self.rescue, self.moved, self.catches = rescue, moved, catches
        self.last_snapshot: bytes | None = None
        """What an emergency restart goes on from."""
        self.incidents: deque[Incident] = deque(maxlen=KEPT)
        """The newest errors that were met."""
        self.restarts = self.reallocations = 0
        self._chance = random.Random(seed)

    def run(self, operation: Callable[[], T]) -> T:
        """Return what an operation returns, however often it has to be tried; the last error is raised."""
        attempt, remedy = 0, None
        while True:
            self.breaker.check()
            attempt += 1
            try:
                self._treat(remedy)
                result = operation()
            except self.catches as problem:
                remedy = self._judge(problem, attempt)
                self.clock.sleep(self.backoff.delay(attempt, self._chance))
            else:
                self.breaker.succeeded()
                return result

    def _judge(self, problem: Exception, attempt: int) -> Remedy:
        """Return what to try next; an error that nothing helps against is raised."""
        diagnosis = diagnose(problem)
        self.incidents.append(Incident(self.clock.time(), diagnosis, str(problem), attempt))
        if diagnosis.kind != "fatal":
            self.breaker.failed(problem)
        if diagnosis.kind == "fatal" or attempt >= self.attempts:
            raise problem
        return diagnosis.remedy

    def _treat(self, remedy: Remedy | None) -> None:
        if self.rescue is not None and remedy == "restart":
            self.emergency_restart()
        elif self.rescue is not None and remedy == "reallocate_port":
            self.reallocations += 1
            self.moved(self.rescue.reallocate_port(), self.last_snapshot)

    def emergency_restart(self) -> None:
        """Have the server started anew by its owner, and go on from the last snapshot."""
        if self.rescue is None:
            raise EmulatorError("nobody can restart this server; start it by hand")
        self.restarts += 1
        self.moved(self.rescue.restart(), self.last_snapshot)
