"""A pool of real emulators: lending, scripts from checkpoints and seeds, growing, shrinking and closing."""

from __future__ import annotations

import logging
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from benchmarks.chaos import free_ports, scripts

from ptp.emulators import EmulatorPool, Task
from ptp.emulators.backends import Processes, Urls
from ptp.emulators.lending import NoEmulator, PoolClosed
from ptp.emulators.pooled import PooledClient
from ptp.errors import EmulatorError, UsageError
from ptp.snapshots import CheckpointManager
from ptp.worlds import find_world, make_world
from tests.emulators import foreign as others
from tests.emulators.parts import serving
from tests.web.parts import wait_for

LOST = 'EXPECT map == "nowhere"'


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmulatorPool]:
    backend = Processes("tallgrass", data_dir=tmp_path_factory.mktemp("pool"))
    with EmulatorPool(2, free_ports(2), backend, choice="round-robin") as pool:
        yield pool


def pids(pool: EmulatorPool) -> list[int]:
    children = psutil.Process().children()
    ports = {int(it.url.rpartition(":")[2]) for it in pool.status().members if it.url}
    return [it.pid for it in children if any(str(port) in it.cmdline() for port in ports)]


def test_an_emulator_is_lent_as_a_client_that_plays(pool: EmulatorPool) -> None:
    with pool.acquire_emulator(timeout=30) as client:
        client.reset_game()
        assert client.send_input("A B START").step_number == 1
        assert pool.status().busy == 1
    assert pool.status().busy == 0


def test_whoever_waits_too_long_is_told_who_is_busy(pool: EmulatorPool) -> None:
    with (
        pool.acquire_emulator(), pool.acquire_emulator(),
        pytest.raises(NoEmulator, match=r"within 0\.05 s, 2 of 2 are busy"), pool.acquire_emulator(timeout=0.05),
    ):  # fmt: skip
        pass


def test_an_error_in_the_block_gives_the_emulator_back(pool: EmulatorPool) -> None:
    with pytest.raises(ZeroDivisionError), pool.acquire_emulator():
        raise ZeroDivisionError
    assert pool.status().busy == 0


def test_giving_back_what_was_not_lent_is_logged_and_not_raised(
    pool: EmulatorPool, caplog: pytest.LogCaptureFixture
) -> None:
    with PooledClient("stranger", "http://127.0.0.1:9", None) as stranger, caplog.at_level(logging.WARNING):
        pool.release(stranger)
    assert "stranger could not be given back" in caplog.text


def test_lending_takes_less_than_100_microseconds(pool: EmulatorPool) -> None:
    def once() -> float:
        began = time.perf_counter()
        for _ in range(200):
            with pool.acquire_emulator():
                pass
        return (time.perf_counter() - began) / 200

    assert min(once() for _ in range(20)) < 100e-6


def test_many_scripts_have_their_results_in_the_order_of_the_tasks(pool: EmulatorPool) -> None:
    tasks = [f'WAIT {10 + it}\nCHECKPOINT "number {it}"' for it in range(12)]
    results = pool.execute_many(tasks)
    assert [it.checkpoints for it in results] == [(f"number {it}",) for it in range(12)]
    assert all(it.success and it.error is None for it in results)
    assert {it.metadata.emulator for it in results} == {"emulator-01", "emulator-02"}
    assert all(it.timing.total >= it.timing.played > 0 and it.state["profile"] == "tallgrass" for it in results)
    assert pool.execute_many([]) == []


def test_the_same_script_comes_out_equal_on_every_emulator(pool: EmulatorPool) -> None:
    results = pool.execute_many(scripts(1) * 6)
    assert len({it.metadata.emulator for it in results}) == 2
    assert all(it.outcome == results[0].outcome for it in results)


def test_a_script_begins_where_another_ended(pool: EmulatorPool) -> None:
    half = pool.execute_script("PRESS START\nWAIT 90", keep=True)
    assert half.snapshot is not None
    rest = pool.execute_script("PRESS A 2\nWAIT 30", snapshot=half.snapshot, keep=True)
    whole = pool.execute_script("PRESS START\nWAIT 90\nPRESS A 2\nWAIT 30", keep=True)
    assert (rest.state, rest.step) == (whole.state, whole.step)


def test_what_is_wrong_with_a_script_is_in_its_result(pool: EmulatorPool) -> None:
    wrong, failed, broken = pool.execute_many(["PRESS Q", LOST, Task("PRESS A", snapshot=b"not one")])
    assert not wrong.success
    assert "no button named 'Q'" in str(wrong.error)
    assert failed.failures == (failed.error,)
    assert "line 1: EXPECT" in str(failed.error)
    assert not broken.success
    assert broken.metadata.attempts == 1


def test_a_script_begins_at_a_checkpoint_that_a_world_was_saved_at(tmp_path: Path) -> None:
    checkpoints = CheckpointManager(tmp_path / "checkpoints")
    world = make_world(find_world("tallgrass"))
    world.reset(0)
    for command in ("start", "none", "none"):
        world.step(world.parse(command))
    here = checkpoints.save(world, "in the menu")
    world.close()
    backend = Processes("tallgrass", data_dir=tmp_path)
    with EmulatorPool(1, free_ports(1), backend, checkpoints=checkpoints) as pool:
        whole = pool.execute_script("start\nnone\nnone\na\na")
        rest = pool.execute_script("a\na", here)
    assert rest.success
    assert rest.state == whole.state
    assert rest.metadata.checkpoint_id == here


def test_a_checkpoint_needs_a_place_where_it_is_kept(pool: EmulatorPool) -> None:
    with pytest.raises(UsageError, match="make it with checkpoints="):
        pool.execute_script("PRESS A", "0192d3f0-0000-7000-8000-000000000000")


def test_a_pool_grows_and_shrinks(tmp_path: Path) -> None:
    with EmulatorPool(1, free_ports(1), Processes("CartPole-v1", data_dir=tmp_path)) as pool:
        pool.scale(3)
        assert [it.name for it in pool.status().members] == ["emulator-01", "emulator-02", "emulator-03"]
        assert len(pids(pool)) == 3
        with pool.acquire_emulator(), pool.acquire_emulator():
            pool.scale(1)
            assert pool.size == 1
        wait_for(lambda: len(psutil.Process().children()) <= 1 or len(pids(pool)) == 1)
        assert pool.execute_script("1\n0").success
        with pytest.raises(UsageError, match="a size from 1 to 256"):
            pool.scale(0)


def test_a_taken_port_is_not_waited_for(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with EmulatorPool(1, [port], Processes("CartPole-v1", data_dir=tmp_path)) as pool:
            url = pool.status().members[0].url
    assert url is not None
    assert int(url.rpartition(":")[2]) > port


def test_a_pool_that_cannot_start_says_why_and_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(EmulatorError, match=r"emulator-0. did not start: .*no world named 'tallgras'"):
        EmulatorPool(2, free_ports(2), Processes("tallgras", data_dir=tmp_path))
    assert not [it for it in psutil.Process().children() if "tallgras" in it.cmdline()]


def test_a_closed_pool_has_ended_everything(tmp_path: Path) -> None:
    before = set(threading.enumerate())
    pool = EmulatorPool(2, free_ports(2), Processes("CartPole-v1", data_dir=tmp_path))
    threads = set(pool._supervisor._threads._threads) | {pool._supervisor._watcher}
    processes = pids(pool)
    pool.close()
    assert len(processes) == 2
    assert not any(map(psutil.pid_exists, processes))
    assert len(threads - before) >= 3
    assert not any(thread.is_alive() for thread in threads)
    with pytest.raises(PoolClosed):
        pool.acquire(1)


KILLED = """
import sys, time
from ptp.emulators import EmulatorPool
from ptp.emulators.backends import Processes

pool = EmulatorPool(2, [int(port) for port in sys.argv[2:]], Processes("CartPole-v1", data_dir=sys.argv[1]))
print("ready", flush=True)
time.sleep(600)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a stopped process with its parent")
def test_emulators_die_with_the_pool_whatever_kills_it_even_one_that_is_stopped(tmp_path: Path) -> None:
    command = [sys.executable, "-c", KILLED, str(tmp_path), *map(str, free_ports(2))]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"ready\n"
        children = psutil.Process(parent.pid).children()
        os.kill(children[0].pid, signal.SIGSTOP)
        parent.kill()
    assert len(children) == 2
    wait_for(lambda: not any(it.is_running() and it.status() != psutil.STATUS_ZOMBIE for it in children))


def test_servers_that_somebody_else_runs_are_a_pool_too(tmp_path: Path) -> None:
    with serving("CartPole-v1", tmp_path / "a") as first, serving("CartPole-v1", tmp_path / "b") as second:
        urls = [str(it.base_url) for it in (first, second)]
        with EmulatorPool(2, backend=Urls(urls)) as pool:
            results = pool.execute_many([Task("1\n0\n1", seed=3)] * 4)
            assert all(it.outcome == results[0].outcome and it.success for it in results)
            with pytest.raises(UsageError, match="from 1 to 2"):
                pool.scale(3)
        assert first.get("/health").status_code == 200


def test_a_foreign_server_can_be_played_but_takes_no_scripts() -> None:
    with others.serving() as server, EmulatorPool(1, backend=Urls([server.url])) as pool:
        with pool.acquire_emulator() as client:
            client.reset_game()
            assert client.send_input("A").step_number == 1
        result = pool.execute_script("PRESS A")
    assert not result.success
    assert "/v1/execute: refused with 404" in str(result.error)
