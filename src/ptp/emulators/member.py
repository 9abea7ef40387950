"""One place in a pool: the emulator that has it now, how it is, and what it has done."""

from __future__ import annotations

import time

from ptp.emulators.backends.contract import Backend, Running
from ptp.emulators.health import Check, History, Level, Limits, Verdict
from ptp.emulators.outcome import Outcome
from ptp.emulators.pooled import PooledClient
from ptp.emulators.status import MemberStatus
from ptp.errors import EmulatorError

START_TIMEOUT = 60.0  # seconds in which a new emulator has to answer
STEADY = 0.3  # how much the newest measurement counts for the speed


class Member:
    """A place in the pool; the emulator there may be replaced, its name and port stay."""

    def __init__(self, number: int, port: int, backend: Backend, limits: Limits) -> None:
        self.name = f"emulator-{number:02d}"
        self.port = port
        self.history = History(limits)
        self.verdict = Verdict("failed", ("not started yet",))
        self.generation = 0
        """How often an emulator was started here."""
        self.is_retired = False
        self.is_replacing = True
        self.is_checking = False
        self.due = 0.0
        """When it is to be checked next."""
        self.served = self.bad = 0
        self.busy_seconds = 0.0
        self.speed: float | None = None
        self._backend, self._limits = backend, limits
        self._running: Running | None = None
        self._client: PooledClient | None = None

    @property
    def level(self) -> Level:
        """How it is."""
        return self.verdict.level

    @property
    def client(self) -> PooledClient | None:
        """The client of the emulator that is here now; None while there is none."""
        return self._client

    def start(self) -> None:
        """Start an emulator here, and return when it was seen to answer."""
        running = self._backend.start(self.port)
        client = PooledClient(self.name, running.url, running.token)
        try:
            self._verify(running, client)
        except BaseException:
            client.close()
            running.stop()
            raise
        self._running, self._client = running, client
        self.generation += 1

    def _verify(self, running: Running, client: PooledClient) -> None:
        until = time.monotonic() + START_TIMEOUT
        while True:
            vitals = running.vitals()
            if not vitals.running:
                raise EmulatorError(f"{self.name} did not start: {vitals.condition}")
            try:
                answered = client.check_health(self._limits.timeout)
                break
            except EmulatorError as problem:
                if time.monotonic() > until:
                    raise EmulatorError(f"{self.name} did not answer within {START_TIMEOUT:.0f} s: {problem}") from None
            time.sleep(0.05)
        self.verdict = self.history.note(Check(at=time.monotonic(), vitals=vitals, answer_ms=answered))

    def check(self) -> Verdict:
        """Look at the emulator: its process or container first, then what it answers."""
        running, client = self._running, self._client
        assert running is not None
        assert client is not None
        vitals = running.vitals()
        answered, problem = None, None
        if vitals.running:
            try:
                answered = client.check_health(self._limits.timeout)
            except EmulatorError as refusal:
                problem = str(refusal)
        return self.history.note(Check(at=time.monotonic(), vitals=vitals, answer_ms=answered, problem=problem))

    def note(self, outcome: Outcome) -> None:
        """Remember a task that was done."""
        self.served += 1
        self.history.bad_answers = 0
        if outcome.commands and outcome.seconds:
            newest = outcome.commands / outcome.seconds
            self.speed = newest if self.speed is None else self.speed + STEADY * (newest - self.speed)

    def is_alive(self) -> bool:
        """Whether its process or container runs."""
        running = self._running
        return running is not None and running.vitals().running

    def end(self) -> None:
        """End the emulator; whoever still waits for its answer hears that there is none, and closes the client."""
        running, self._running, self._client = self._running, None, None
        if running is not None:
            running.stop()

    def status(self, is_busy: bool) -> MemberStatus:
        """Return how it is now."""
        last, client = self.history.last, self._client
        return MemberStatus(
            name=self.name, url=client.base_url if client else None, is_busy=is_busy,
            level=self.level, reasons=self.verdict.reasons,
            served=self.served, bad=self.bad, restarts=max(0, self.generation - 1),
            busy_seconds=round(self.busy_seconds, 3), speed=self.speed,
            answer_ms=last.answer_ms if last else None, vitals=last.vitals if last else None,
        )  # fmt: skip
