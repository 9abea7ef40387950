"""A run goes on, and replays, whatever happens to the server and its answers."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ptp
from ptp.emulators import ErrorRecoveryHandler, PokemonGymAdapter
from ptp.emulators.recovery import Backoff, CircuitBreaker
from ptp.errors import BadAnswer, CircuitOpen, GameLost, ServerRefused, ServerTimeout, ServerUnreachable, WorldError
from ptp.worlds.registry import find_world
from tests.emulators.foreign import Foreign, serving
from tests.web.parts import wait_for

ROOT = Path(__file__).parents[2]
WAY = [5, 6, 7, 8, 1, 0] * 4


def quick(attempts: int = 8, threshold: int = 100, most: float = 0.05) -> ErrorRecoveryHandler:
    """A handler that does not wait long."""
    return ErrorRecoveryHandler(attempts=attempts, breaker=CircuitBreaker(threshold), backoff=Backoff(0.01, most=most))


@contextmanager
def world_on(url: str, recovery: ErrorRecoveryHandler | None = None, **options: Any) -> Iterator[PokemonGymAdapter]:
    spec = find_world(url)
    world = PokemonGymAdapter(
        ptp.records.WorldSpec(spec.name, spec.entry, spec.options | options), recovery=recovery or quick()
    )
    try:
        yield world
    finally:
        world.close()


def play(
    world: PokemonGymAdapter, commands: list[int] = WAY, before: Mapping[int, Callable[[], object]] = {}
) -> list[str]:
    """Play from the beginning, and return the hashes of what came of each command; something may happen before one."""
    world.reset(None)
    hashes = []
    for number, command in enumerate(commands):
        before.get(number, lambda: None)()
        outcome = world.step(command)
        hashes.append(world.state_hash(outcome.observation, outcome.reward, outcome.terminated, outcome.truncated))
    return hashes


def play_again(world: PokemonGymAdapter, before: Mapping[int, Callable[[], object]]) -> list[str]:
    """Play with a warning that the game was lost and played again."""
    with pytest.warns(UserWarning, match="lost the game; it was played again up to here"):
        return play(world, WAY, before)


@pytest.fixture(scope="module")
def calm() -> list[str]:
    """The hashes of a game without faults."""
    with serving() as server, world_on(server.url) as world:
        return play(world, WAY)


def garbage(answer: Any) -> bytes:
    return b"\x00\xff" * 20


def fine(answer: Any) -> Any:
    return answer


def ill_typed(answer: Any) -> Any:
    return answer | {"money": "much"}


@pytest.mark.parametrize("fault", ["cut", "drop", "late_500", garbage, ill_typed])
def test_an_answer_that_is_lost_after_the_input_was_applied_costs_nothing(
    foreign: Foreign, calm: list[str], fault: str | Callable[[Any], Any]
) -> None:
    with world_on(foreign.url) as world:
        assert play_again(world, {10: lambda: foreign.faults.append(fault)}) == calm
    assert foreign.game is not None
    assert foreign.game.steps == len(WAY)


def test_an_input_that_was_not_applied_is_sent_again_and_nothing_is_played_twice(
    foreign: Foreign, calm: list[str]
) -> None:
    with world_on(foreign.url) as world:
        foreign.faults += [500, 503]
        assert play(world, WAY) == calm
    assert [path for path, _ in foreign.seen].count("/initialize") == 1


def test_an_input_that_takes_too_long_and_is_applied_after_all_is_not_applied_twice(
    foreign: Foreign, calm: list[str]
) -> None:
    with world_on(foreign.url, timeout=2.0) as world:
        assert play_again(world, {5: lambda: foreign.faults.append("hang")}) == calm


def test_a_session_that_ends_is_begun_again(foreign: Foreign, calm: list[str]) -> None:
    with world_on(foreign.url) as world:
        assert play_again(world, {7: lambda: foreign.faults.append("session_over")}) == calm


def test_a_server_that_lost_its_game_between_two_inputs_is_brought_back(foreign: Foreign, calm: list[str]) -> None:
    with world_on(foreign.url) as world:
        assert play_again(world, {7: lambda: setattr(foreign, "game", None)}) == calm


def test_a_game_that_is_lost_again_while_it_is_played_again_is_brought_back_all_the_same(
    foreign: Foreign, calm: list[str]
) -> None:
    faults: list[Any] = ["drop", fine, fine, garbage, fine, fine, fine, fine, fine, "drop", 500, fine, "session_over"]
    with world_on(foreign.url, quick(attempts=20)) as world:
        assert play_again(world, {10: lambda: foreign.faults.extend(faults)}) == calm
    assert not foreign.faults


FAULTS = st.sampled_from([fine, fine, "cut", "drop", "late_500", "session_over", 500, 503, garbage, ill_typed])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*it was played again up to here:UserWarning")
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(FAULTS, max_size=25))
def test_whatever_faults_come_in_whatever_order_the_game_is_the_same(calm: list[str], faults: list[Any]) -> None:
    with serving() as server, world_on(server.url, quick(attempts=60)) as world:
        assert play(world, WAY, {2: lambda: server.faults.extend(faults)}) == calm


def test_somebody_else_who_plays_there_is_noticed(foreign: Foreign) -> None:
    with world_on(foreign.url, quick(attempts=1)) as world:
        play(world, WAY[:3])
        assert foreign.game is not None
        foreign.game.steps += 1
        with pytest.raises(GameLost, match=r"is at input 5, 'PALLET TOWN', right after input 3.*its own server"):
            world.step(1)


def test_a_server_that_comes_back_to_another_game_ends_the_run(foreign: Foreign) -> None:
    with world_on(foreign.url) as world:
        play(world, WAY[:3])
        foreign.faults += ["drop", lambda answer: answer, lambda answer: answer, lambda answer: answer | {"money": 1}]
        foreign.faults.append(lambda answer: answer | {"money": 1})
        with pytest.raises(WorldError, match="did not come back to it after 3 inputs: it is not deterministic"):
            world.step(1)


def test_a_server_that_answers_garbage_for_ever_is_given_up(foreign: Foreign) -> None:
    with world_on(foreign.url, quick(attempts=4)) as world:
        play(world, WAY[:3])
        foreign.faults += [garbage] * 100
        with pytest.raises(BadAnswer, match="answered no JSON"):
            world.step(1)


def test_a_server_that_fails_too_often_is_not_asked_any_more(foreign: Foreign) -> None:
    with world_on(foreign.url, quick(attempts=4, threshold=2)) as world:
        play(world, WAY[:3])
        foreign.faults += [garbage] * 100
        with pytest.raises(CircuitOpen, match="failed 2 times"):
            world.step(1)


def test_a_refused_input_is_not_tried_again(foreign: Foreign) -> None:
    with world_on(foreign.url) as world:
        play(world, WAY[:3])
        foreign.faults.append(422)
        before = len(foreign.seen)
        with pytest.raises(ServerRefused, match="422: Failed to take action; correct the request"):
            world.step(1)
        assert [path for path, _ in foreign.seen[before:]] == ["/action"]


# -- servers in processes --------------------------------------------------------------------------------------


class Process:
    """A foreign server in a process, and its owner."""

    def __init__(self, port: int = 0) -> None:
        self._stack = ExitStack()
        self.calls: list[str] = []
        self.start(port)

    def start(self, port: int) -> str:
        self.url = wait_for(lambda: self._try(port))
        return self.url

    def _try(self, port: int) -> str:
        """Return the address of a new process; nothing when somebody has the port just now."""
        words = [sys.executable, "-m", "tests.emulators.foreign", str(port)]
        self.process = subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        self._stack.callback(self._end, self.process)
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    @staticmethod
    def _end(process: subprocess.Popen[str]) -> None:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()

    def kill(self) -> None:
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def restart(self) -> str:
        self.calls.append("restart")
        return self.start(0)

    def revive(self) -> str:
        return self.start(int(self.url.rpartition(":")[2]))

    def reallocate_port(self) -> str:
        self.calls.append("reallocate_port")
        return self.start(0)

    def close(self) -> None:
        self._stack.close()


@pytest.fixture
def process() -> Iterator[Process]:
    server = Process()
    yield server
    server.close()


@pytest.mark.slow
def test_a_server_that_is_killed_is_restarted_by_its_owner_and_the_game_goes_on(
    process: Process, calm: list[str]
) -> None:
    recovery = quick()
    recovery.rescue = process
    with world_on(process.url, recovery) as world:
        assert play_again(world, {5: process.kill, 15: process.kill}) == calm
    assert process.calls == ["restart", "restart"]


class Mover(Process):
    """An owner who can't have the same port again."""

    def restart(self) -> str:
        port = int(self.url.rpartition(":")[2])
        with socket.create_server(("127.0.0.1", port)):  # somebody else has it now
            raise OSError(98, "Address already in use")


@pytest.mark.slow
def test_a_server_whose_port_is_taken_goes_on_at_another(calm: list[str]) -> None:
    server = Mover()
    recovery = quick()
    recovery.rescue = server
    first = server.url
    try:
        with world_on(first, recovery) as world:
            assert play_again(world, {8: server.kill}) == calm
            assert world.client.base_url == server.url != first
    finally:
        server.close()
    assert (recovery.restarts, recovery.reallocations) == (1, 1)


@pytest.mark.slow
def test_a_server_that_nobody_owns_is_waited_for(process: Process, calm: list[str]) -> None:
    recovery, dead = quick(attempts=10_000, threshold=100_000), threading.Event()

    def end() -> None:
        process.kill()
        dead.set()

    def revive() -> None:
        dead.wait()
        process.revive()

    starter = threading.Thread(target=revive)
    starter.start()
    with world_on(process.url, recovery) as world:
        assert play_again(world, {8: end}) == calm
    starter.join()


@pytest.mark.slow
def test_a_server_that_stays_dead_ends_the_run_with_its_address(process: Process) -> None:
    with world_on(process.url, quick(attempts=3)) as world:
        play(world, WAY[:3])
        process.kill()
        with pytest.raises(ServerUnreachable, match=f"{process.url}/status: nothing answers"):
            world.step(1)


@pytest.mark.slow
def test_a_server_that_hangs_ends_the_run_with_the_timeout(process: Process) -> None:
    with world_on(process.url, quick(attempts=1), timeout=2.0) as world:
        play(world, WAY[:3])
        os.kill(process.process.pid, signal.SIGSTOP)
        os.waitpid(process.process.pid, os.WUNTRACED)  # until it has stopped
        with pytest.raises(ServerTimeout, match=r"no answer within 2 s"):
            world.step(1)
