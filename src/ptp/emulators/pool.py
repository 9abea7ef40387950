"""Many emulators that work in parallel: lent one by one, checked, and replaced when they fail.

    from ptp.emulators import EmulatorPool

    with EmulatorPool(size=4) as pool:
        for result in pool.execute_many(["PRESS START", "PRESS A 3"]):
            print(result.success, result.state)

A script begins at a checkpoint, in a snapshot, or with a seed. When its emulator fails, another one plays it from the
same beginning, so that the result is the same.
"""

from __future__ import annotations

import base64
import logging
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from ptp.emulators.backends import Backend, Processes
from ptp.emulators.choice import make_choice
from ptp.emulators.health import Limits
from ptp.emulators.lending import Lending, NoEmulator
from ptp.emulators.member import Member
from ptp.emulators.outcome import Execution, Outcome
from ptp.emulators.pooled import PooledClient
from ptp.emulators.results import ExecutionResult, Metadata, Task, Timing, finished, given_up
from ptp.emulators.starting import Checkpoints, load_start
from ptp.emulators.status import PoolStatus
from ptp.emulators.supervision import Supervisor
from ptp.emulators.tally import Tally
from ptp.errors import EmulatorError, UsageError

PORTS = range(8081, 8085)
MOST = 256  # emulators
ATTEMPTS = 6
log = logging.getLogger("ptp.pool")


class EmulatorPool:
    """Emulators that are ready when this returns; closing it ends them, and so does the end of this process.

    *ports* are those of the first emulators, more of them follow the last one. *choice* is round-robin, least-busy,
    weighted (by speed) or health-aware. *checkpoints* is where a `checkpoint_id` is looked up. A task waits *patience*
    seconds for an emulator, and a script may play for *script_timeout*.
    """

    def __init__(
        self,
        size: int = 4,
        ports: Sequence[int] = PORTS,
        backend: Backend | None = None,
        *,
        choice: str = "health-aware",
        checkpoints: Checkpoints | None = None,
        limits: Limits | None = None,
        script_timeout: float = 120.0,
        patience: float = 300.0,
    ) -> None:
        self.backend: Backend = backend or Processes()
        self.script_timeout, self.patience = script_timeout, patience
        self._ports, self._checkpoints, self._limits = ports, checkpoints, limits or Limits()
        self._made = 0
        self._everyone: list[Member] = []
        self._scaling = threading.Lock()
        self._tally = Tally()
        self._lending = Lending(make_choice(choice))
        self._check_size(size)
        self.backend.prepare()
        self._supervisor = Supervisor(self._lending, self._limits)
        try:
            self.scale(size)
        except BaseException:
            self.close(0)
            raise

    def __enter__(self) -> EmulatorPool:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()

    # -- lending -----------------------------------------------------------------------------------------------

    @contextmanager
    def acquire_emulator(self, timeout: float | None = None) -> Iterator[PooledClient]:
        """Lend an emulator for as long as the block takes; wait for one, *timeout* seconds at most."""
        client = self.acquire(timeout)
        try:
            yield client
        finally:
            self.release(client)

    def acquire(self, timeout: float | None = None) -> PooledClient:
        """Lend an emulator until it is given to `release`."""
        return self._lending.acquire(timeout)

    def release(self, client: PooledClient) -> None:
        """Take an emulator back; what goes wrong with it is logged, and never raised."""
        try:
            retired = self._lending.release(client)
            if retired is not None:
                self._supervisor.end_later(retired)
        except Exception as problem:  # noqa: BLE001 - whoever gives it back has its own work, and its own errors
            log.warning("%s could not be given back: %r", client.name, problem)

    # -- working -----------------------------------------------------------------------------------------------

    def execute_script(
        self,
        text: str,
        checkpoint_id: str | None = None,
        *,
        snapshot: bytes | None = None,
        seed: int = 0,
        keep: bool = False,
    ) -> ExecutionResult:
        """Play a script from a checkpoint, from a snapshot, or from the beginning of an episode with a seed."""
        return self.execute(Task(text, checkpoint_id, snapshot, seed, keep))

    def execute_many(self, tasks: Iterable[Task | str]) -> list[ExecutionResult]:
        """Do tasks in parallel, and return their results in the order of the tasks; text is a script."""
        whole = [Task(task) if isinstance(task, str) else task for task in tasks]
        if not whole:
            return []
        # twice as many threads as emulators: whenever one becomes free, the next task waits already
        with ThreadPoolExecutor(min(len(whole), 2 * max(1, self.size)), "pool-task") as threads:
            return list(threads.map(self.execute, whole))

    def execute(self, task: Task) -> ExecutionResult:
        """Do one task; when its emulator fails, another one does it from its beginning."""
        began, waited = time.monotonic(), 0.0
        execution = _execution(task, load_start(task, self._checkpoints))
        problems: list[str] = []
        while len(problems) < ATTEMPTS:
            asked = time.monotonic()
            try:
                client = self.acquire(self.patience)
            except NoEmulator as problem:
                problems.append(str(problem))
                break
            waited += time.monotonic() - asked
            try:
                outcome = self._play(client, execution)
            except EmulatorError as problem:
                problems.append(str(problem))
                continue
            timing = Timing(time.monotonic() - began, waited, outcome.seconds)
            return self._noted(finished(outcome, timing, _metadata(task, client, problems, outcome)))
        timing = Timing(time.monotonic() - began, waited, 0.0)
        return self._noted(given_up(problems[-1], timing, _metadata(task, None, problems, None)))

    def _play(self, client: PooledClient, execution: Execution) -> Outcome:
        member = self._lending.member_of(client)
        try:
            outcome = client.execute(execution, self.script_timeout)
            member.note(outcome)
            return outcome
        except EmulatorError as problem:
            self._supervisor.blame(member, client, problem)
            raise
        finally:
            self.release(client)

    def _noted(self, result: ExecutionResult) -> ExecutionResult:
        self._tally.note(result)
        return result

    # -- the pool itself ---------------------------------------------------------------------------------------

    @property
    def size(self) -> int:
        """How many emulators there are, with those that are being replaced."""
        return len(self._lending.members)

    def scale(self, size: int) -> None:
        """Grow or shrink; a busy emulator that is too many ends when its work is done."""
        self._check_size(size)
        with self._scaling:
            missing = size - self.size
            if missing > 0:
                numbers = range(self._made, self._made + missing)
                members = [Member(number + 1, self._port(number), self.backend, self._limits) for number in numbers]
                self._everyone += members
                self._supervisor.start(members)
                self._made += missing
                self._lending.members += members
            elif missing < 0:
                self._supervisor.end(self._lending.retire(-missing))

    def _port(self, number: int) -> int:
        ports = self._ports
        return ports[number] if number < len(ports) else ports[-1] + number - len(ports) + 1

    def _check_size(self, size: int) -> None:
        most = min(MOST, self.backend.most() or MOST)
        if not 1 <= size <= most:
            raise UsageError(f"a pool of {size} is not possible; give a size from 1 to {most}")
        if not self._ports or not all(0 < port < 65536 for port in self._ports):
            raise UsageError(f"ports {list(self._ports)} are not allowed; give some from 1 to 65535, such as 8081-8084")

    def status(self) -> PoolStatus:
        """Return how the pool and its emulators are."""
        lending, tally = self._lending, self._tally
        busy = lending.busy
        median, p95 = tally.times()
        members = tuple(member.status(member.name in busy) for member in list(lending.members))
        return PoolStatus(
            backend=self.backend.name, size=len(members), busy=len(busy), waiting=lending.waiting,
            executed=tally.executed, unsuccessful=tally.unsuccessful, retried=tally.retried,
            replaced=self._supervisor.replaced, median_ms=median, p95_ms=p95,
            commands_per_second=round(sum(it.speed or 0.0 for it in members), 1),
            alerts=tuple(self._supervisor.alerts), members=members,
        )  # fmt: skip

    def close(self, timeout: float = 30.0) -> None:
        """Wait for what is being done, *timeout* seconds at most, and end every emulator; errors are logged."""
        self._lending.close(timeout)
        self._supervisor.close(self._everyone)
        self.backend.close()


def _execution(task: Task, start: bytes | None) -> Execution:
    if start is None:
        return Execution(text=task.text, seed=task.seed, keep=task.keep)
    return Execution(text=task.text, snapshot=base64.b64encode(start).decode(), keep=task.keep)


def _metadata(task: Task, client: PooledClient | None, problems: list[str], outcome: Outcome | None) -> Metadata:
    return Metadata(
        emulator=client.name if client else None,
        url=client.base_url if client else None,
        attempts=len(problems) + (outcome is not None),
        world=outcome.world if outcome else None,
        seed=outcome.seed if outcome else None,
        checkpoint_id=task.checkpoint_id,
        commands=outcome.commands if outcome else 0,
        problems=tuple(problems),
    )
