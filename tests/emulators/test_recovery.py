"""Errors are told apart, tried again with patience, and cost no more than they must."""

from __future__ import annotations

import errno
import random
from collections.abc import Callable

import docker.errors
import pytest
import requests

from ptp.emulators import Backoff, CircuitBreaker, ErrorRecoveryHandler
from ptp.emulators.diagnosis import Diagnosis, diagnose
from ptp.errors import (
    BadAnswer,
    BadCommand,
    CircuitOpen,
    EmulatorError,
    GameLost,
    ServerRefused,
    ServerTimeout,
    ServerUnreachable,
    SnapshotError,
)
from ptp.testing import ManualClock


def refused_by_docker(status: int, said: str) -> docker.errors.APIError:
    response = requests.Response()
    response.status_code = status
    return docker.errors.APIError(said, response, said)


@pytest.mark.parametrize(
    ("problem", "source", "kind", "remedy"),
    [
        (ServerUnreachable("x"), "http", "recoverable", "restart"),
        (ConnectionRefusedError(errno.ECONNREFUSED, "x"), "http", "recoverable", "restart"),
        (BrokenPipeError(errno.EPIPE, "x"), "http", "recoverable", "restart"),
        (ServerTimeout("x"), "http", "transient", "retry"),
        (TimeoutError("x"), "http", "transient", "retry"),
        (OSError(errno.ENETUNREACH, "x"), "http", "transient", "retry"),
        (BadAnswer("x"), "http", "transient", "retry"),
        (ServerRefused("x", 503), "http", "transient", "retry"),
        (ServerRefused("x", 429), "http", "transient", "retry"),
        (ServerRefused("x", 422), "application", "fatal", "give_up"),
        (GameLost("x"), "application", "recoverable", "retry"),
        (SnapshotError("x"), "application", "recoverable", "restart"),
        (MemoryError(), "application", "recoverable", "restart"),
        (BadCommand("x"), "application", "fatal", "give_up"),
        (OSError(errno.ENOSPC, "x"), "application", "fatal", "give_up"),
        (PermissionError(errno.EACCES, "x"), "application", "fatal", "give_up"),
        (OSError(errno.EADDRINUSE, "x"), "container", "recoverable", "reallocate_port"),
        (
            refused_by_docker(500, "port is already allocated"),
            "container",
            "recoverable",
            "reallocate_port",
        ),
        (docker.errors.NotFound("no such container"), "container", "recoverable", "restart"),
        (docker.errors.ContainerError("c", 137, "serve", "image", b"killed"), "container", "recoverable", "restart"),
        (refused_by_docker(500, "no space left on device"), "container", "fatal", "give_up"),
        (docker.errors.ImageNotFound("pokemon-gym:latest"), "container", "fatal", "give_up"),
        (docker.errors.DockerException("no daemon"), "container", "fatal", "give_up"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else str(value),
)
def test_an_error_has_a_source_a_class_and_a_remedy(problem: Exception, source: str, kind: str, remedy: str) -> None:
    found = diagnose(problem)
    assert (found.source, found.kind, found.remedy) == (source, kind, remedy)


def test_waits_grow_up_to_a_limit_and_depend_on_the_seed_alone() -> None:
    backoff = Backoff(first=1.0, factor=2.0, most=10.0, jitter=0.5)
    waits = [backoff.delay(attempt, random.Random(3)) for attempt in (1, 2, 3, 4, 5, 5000)]
    assert waits == [backoff.delay(attempt, random.Random(3)) for attempt in (1, 2, 3, 4, 5, 5000)]
    assert [round(wait / waits[0], 6) for wait in waits] == [1, 2, 4, 8, 10, 10]
    assert all(0.5 * 2**number <= wait <= 2**number for number, wait in enumerate(waits[:4]))
    many = {backoff.delay(1, random.Random(seed)) for seed in range(50)}
    assert len(many) == 50


class Flaky:
    """An operation that fails with given errors first."""

    def __init__(self, *problems: Exception) -> None:
        self.problems = list(problems)
        self.calls = 0

    def __call__(self) -> str:
        self.calls += 1
        if self.problems:
            raise self.problems.pop(0)
        return "done"


def handler_with(clock: ManualClock | None = None, attempts: int = 8, threshold: int = 100) -> ErrorRecoveryHandler:
    clock = clock or ManualClock()
    return ErrorRecoveryHandler(attempts=attempts, breaker=CircuitBreaker(threshold, 30, clock), clock=clock, seed=1)


def test_a_transient_error_is_tried_again_after_a_wait() -> None:
    clock = ManualClock()
    handler, operation = handler_with(clock), Flaky(ServerTimeout("late"), BadAnswer("cut off"))
    assert handler.run(operation) == "done"
    assert (operation.calls, len(clock.slept)) == (3, 2)
    assert 0.05 <= clock.slept[0] <= 0.1 <= clock.slept[1] <= 0.2
    assert [(it.attempt, it.error, it.diagnosis.kind) for it in handler.incidents] == [
        (1, "late", "transient"), (2, "cut off", "transient"),
    ]  # fmt: skip


def test_a_fatal_error_is_raised_at_once() -> None:
    clock = ManualClock()
    handler, operation = handler_with(clock), Flaky(ServerRefused("wrong key", 422))
    with pytest.raises(ServerRefused, match="wrong key"):
        handler.run(operation)
    assert (operation.calls, clock.slept, handler.breaker.state) == (1, [], "closed")
    assert handler.incidents[0].diagnosis == Diagnosis("application", "fatal", "give_up")


def test_the_last_error_is_raised_when_nothing_helped() -> None:
    operation = Flaky(*[ServerTimeout(str(number)) for number in range(9)])
    with pytest.raises(ServerTimeout, match="2"):
        handler_with(attempts=3).run(operation)
    assert operation.calls == 3


def test_an_error_that_is_a_bug_is_not_caught() -> None:
    handler = handler_with()
    with pytest.raises(ZeroDivisionError):
        handler.run(lambda: 1 // 0)
    assert not handler.incidents


class Owner:
    """Somebody who can restart a server, and writes down that it was asked."""

    def __init__(self, *problems: Exception) -> None:
        self.problems = list(problems)
        self.asked: list[str] = []

    def _do(self, what: str) -> str:
        self.asked.append(what)
        if self.problems:
            raise self.problems.pop(0)
        return f"http://127.0.0.1:{8081 + len(self.asked)}"

    def restart(self) -> str:
        return self._do("restart")

    def reallocate_port(self) -> str:
        return self._do("reallocate_port")


def rescued(owner: Owner) -> tuple[ErrorRecoveryHandler, list[tuple[str, bytes | None]]]:
    handler, heard = handler_with(), []
    handler.rescue = owner
    handler.moved = lambda url, snapshot: heard.append((url, snapshot))
    handler.last_snapshot = b"saved"
    return handler, heard


def test_a_dead_server_is_restarted_by_its_owner_from_the_last_snapshot() -> None:
    owner = Owner()
    handler, heard = rescued(owner)
    assert handler.run(Flaky(ServerUnreachable("dead"))) == "done"
    assert (owner.asked, heard, handler.restarts) == (["restart"], [("http://127.0.0.1:8082", b"saved")], 1)


def test_a_port_that_is_taken_is_given_up_for_another() -> None:
    owner = Owner()
    handler, heard = rescued(owner)
    assert handler.run(Flaky(OSError(errno.EADDRINUSE, "in use"))) == "done"
    assert (owner.asked, len(heard), handler.reallocations) == (["reallocate_port"], 1, 1)


def test_a_transient_error_restarts_nothing() -> None:
    owner = Owner()
    handler, heard = rescued(owner)
    assert handler.run(Flaky(ServerTimeout("late"))) == "done"
    assert (owner.asked, heard) == ([], [])


def test_a_restart_that_fails_counts_as_an_attempt() -> None:
    owner, operation = Owner(OSError(errno.EADDRINUSE, "in use")), Flaky(ServerUnreachable("dead"))
    handler, _ = rescued(owner)
    assert handler.run(operation) == "done"
    assert owner.asked == ["restart", "reallocate_port"]
    assert operation.calls == 2


def test_a_server_that_nobody_owns_can_not_be_restarted() -> None:
    with pytest.raises(EmulatorError, match="nobody can restart this server; start it by hand"):
        handler_with().emergency_restart()


def state_of(breaker: CircuitBreaker) -> str:
    return breaker.state


def failing(handler: ErrorRecoveryHandler) -> Callable[[], None]:
    def call() -> None:
        with pytest.raises(ServerTimeout):
            handler.run(Flaky(ServerTimeout("late")))

    return call


def test_the_circuit_opens_after_failures_in_a_row_half_opens_after_a_while_and_closes_again() -> None:
    clock = ManualClock()
    handler = handler_with(clock, attempts=1, threshold=3)
    fail, breaker = failing(handler), handler.breaker
    for _ in range(2):
        fail()
    assert handler.run(Flaky()) == "done"
    for _ in range(3):
        assert state_of(breaker) == "closed"
        fail()
    assert state_of(breaker) == "open"
    untouched = Flaky()
    clock.turn(10)
    with pytest.raises(CircuitOpen, match=r"the server failed 3 times; try again in 20\.0 s: late"):
        handler.run(untouched)
    assert untouched.calls == 0
    clock.turn(20)
    assert state_of(breaker) == "half_open"
    fail()
    assert state_of(breaker) == "open"
    clock.turn(30)
    assert handler.run(Flaky()) == "done"
    assert state_of(breaker) == "closed"


def test_only_one_call_tries_while_the_circuit_is_half_open_and_one_that_vanished_is_replaced() -> None:
    clock = ManualClock()
    breaker = CircuitBreaker(1, 30, clock)
    breaker.failed(ServerTimeout("late"))
    clock.turn(30)
    breaker.check()
    with pytest.raises(CircuitOpen, match=r"try again in 30\.0 s"):
        breaker.check()
    clock.turn(30)
    breaker.check()


def test_the_circuit_opens_in_the_middle_of_attempts() -> None:
    operation = Flaky(*[ServerTimeout("late")] * 10)
    with pytest.raises(CircuitOpen, match="failed 3 times"):
        handler_with(threshold=3).run(operation)
    assert operation.calls == 3


def test_the_memory_of_incidents_is_bounded() -> None:
    handler = handler_with(attempts=1, threshold=10_000)
    fail = failing(handler)
    for _ in range(300):
        fail()
    assert len(handler.incidents) == 100
