"""Looking after the emulators of a pool: checks, alerts, and replacements that are verified before they serve."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from concurrent.futures import ThreadPoolExecutor

from ptp.emulators.diagnosis import diagnose
from ptp.emulators.health import Limits, Verdict
from ptp.emulators.lending import Lending
from ptp.emulators.member import Member
from ptp.emulators.pooled import PooledClient
from ptp.errors import BadAnswer, EmulatorError, ServerTimeout

THREADS = 32  # that start, check and end emulators
LOOK = 0.1  # seconds between two looks at whose check is due
LONGEST_PAUSE = 30.0  # seconds between two attempts to start an emulator that does not start
log = logging.getLogger("ptp.pool")


class Supervisor:
    """Starts, checks, replaces and ends emulators, on threads of its own.

    The threads live as long as it does: a process ends with the thread that started it.
    """

    def __init__(self, lending: Lending, limits: Limits) -> None:
        self.replaced = 0
        self.alerts: deque[str] = deque(maxlen=100)
        self._lending, self._limits = lending, limits
        self._stop = threading.Event()
        self._threads = ThreadPoolExecutor(THREADS, "pool")
        self._watcher = threading.Thread(target=self._watch, name="pool-health", daemon=True)
        self._watcher.start()

    def start(self, members: list[Member]) -> None:
        """Start emulators side by side; when one of them can't start, none of them stays."""
        started = [self._threads.submit(member.start) for member in members]
        problems = [problem for future in started if (problem := future.exception()) is not None]
        if problems:
            self.end(members)
            raise problems[0]
        for member in members:
            self._serve(member)

    def _serve(self, member: Member) -> None:
        member.due = time.monotonic() + self._limits.interval
        if not self._lending.offer(member):
            self._end(member)

    def end(self, members: list[Member]) -> None:
        """End emulators side by side; what goes wrong is logged."""
        for ended in [self._threads.submit(self._end, member) for member in members]:
            ended.result()

    def end_later(self, member: Member) -> None:
        """End an emulator without waiting for it."""
        self._threads.submit(self._end, member)

    def _end(self, member: Member) -> None:
        client = member.client
        try:
            member.end()
            if client is not None and not self._lending.is_lent(client):
                client.close()
        except Exception as problem:  # noqa: BLE001 - the edge of a thread; what is left over is named
            self._alert(f"{member.name} could not be ended cleanly: {problem}")

    # -- failures ----------------------------------------------------------------------------------------------

    def blame(self, member: Member, client: PooledClient, problem: EmulatorError) -> None:
        """Draw the conclusion from an error that an emulator caused while it worked."""
        member.bad += 1
        gone = diagnose(problem).remedy == "restart" or isinstance(problem, ServerTimeout) or not member.is_alive()
        if gone:
            self._fail(member, client, str(problem))
        elif isinstance(problem, BadAnswer):
            member.history.bad_answers += 1
            self._judge(member, client, member.history.judge(time.monotonic()))

    def _judge(self, member: Member, client: PooledClient, verdict: Verdict) -> None:
        if member.client is not client or member.is_replacing:
            return
        before, member.verdict = member.verdict, verdict
        if verdict.level == "failed":
            self._fail(member, client, verdict.reasons[0])
        elif verdict.level == "degraded" and before.level != "degraded":
            log.warning("%s is degraded: %s", member.name, "; ".join(verdict.reasons))
        if verdict.is_worsening and not before.is_worsening:
            self._alert(f"{member.name} is getting worse: {'; '.join(verdict.reasons)}")

    def _fail(self, member: Member, client: PooledClient, reason: str) -> None:
        if self._lending.withdraw(member, client):
            member.verdict = Verdict("failed", (reason,))
            self.replaced += 1
            log.warning("%s failed and is replaced: %s", member.name, reason)
            self._threads.submit(self._replace, member)

    def _replace(self, member: Member) -> None:
        self._end(member)
        member.history.restarted(time.monotonic())
        pause = 1.0
        if member.history.is_looping(time.monotonic()):
            self._alert(f"{member.name} fails again and again: {member.verdict.reasons[0]}")
            self._stop.wait(pause)
        while not (self._stop.is_set() or member.is_retired):
            try:
                member.start()
            except Exception as problem:  # noqa: BLE001 - the edge of a thread; it is shown, and tried again
                member.verdict = Verdict("failed", (str(problem),))
                self._alert(f"{member.name} could not be replaced: {problem}")
                self._stop.wait(pause)
                pause = min(2 * pause, LONGEST_PAUSE)
                continue
            self._serve(member)
            return

    def _alert(self, text: str) -> None:
        self.alerts.append(text)
        log.error(text)

    # -- checks ------------------------------------------------------------------------------------------------

    def _watch(self) -> None:
        while not self._stop.wait(LOOK):
            now = time.monotonic()
            for member in list(self._lending.members):
                if now >= member.due and not member.is_replacing and not member.is_checking:
                    member.is_checking = True
                    self._threads.submit(self._check, member)

    def _check(self, member: Member) -> None:
        try:
            client = member.client
            if client is not None:
                self._judge(member, client, member.check())
        finally:
            often = member.level == "healthy"
            member.due = time.monotonic() + (self._limits.interval if often else self._limits.degraded_interval)
            member.is_checking = False

    def close(self, members: list[Member]) -> None:
        """Stop watching, and end every emulator."""
        self._stop.set()
        self._watcher.join()
        self.end(members)
        self._threads.shutdown(wait=True)
