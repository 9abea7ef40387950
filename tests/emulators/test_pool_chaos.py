"""Emulators that are killed, stopped or answer wrongly: the results are those of a calm day, and nothing is left."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path

from benchmarks.chaos import Troubled, free_ports, leftovers, scripts, trouble

from ptp.emulators import EmulatorPool
from ptp.emulators.health import Limits

WATCHFUL = Limits(interval=0.3, degraded_interval=0.2)


def test_trouble_changes_no_result_and_leaves_nothing_behind(tmp_path: Path) -> None:
    before = threading.active_count()
    texts, backend = scripts(40, rounds=10), Troubled("tallgrass", tmp_path)
    with EmulatorPool(2, free_ports(2), backend, limits=WATCHFUL) as pool:
        calm = pool.execute_many(texts)
        with trouble(pool, backend, every=0.2, most=3) as done:
            rough = pool.execute_many(texts)
            while done.total < 3:
                rough += pool.execute_many(texts[:4])
        status = pool.status()
    assert all(it.success for it in calm)
    assert [it.outcome for it in rough[:40]] == [it.outcome for it in calm]
    assert all(it.success for it in rough)
    assert status.replaced >= 2
    assert leftovers(backend, before) == []


def test_a_stopped_emulator_is_replaced_and_its_script_is_played_by_another(tmp_path: Path) -> None:
    backend = Troubled("tallgrass", tmp_path)
    with EmulatorPool(1, free_ports(1), backend, limits=WATCHFUL) as pool:
        os.kill(backend.started[0].running.process.pid, signal.SIGSTOP)
        result = pool.execute_script("PRESS A")
        assert result.success
        member = pool.status().members[0]
    assert (member.restarts, pool.status().replaced) == (1, 1)
    assert len(backend.started) == 2


def test_a_damaged_answer_is_found_out_although_it_can_be_read(tmp_path: Path) -> None:
    backend = Troubled("tallgrass", tmp_path)
    with EmulatorPool(1, free_ports(1), backend, limits=WATCHFUL) as pool:
        backend.started[0].damager.wanted = 1
        result = pool.execute_script("PRESS A")
        assert pool.status().members[0].bad == 1
        backend.started[0].damager.wanted = 100  # every answer, until it is replaced
        assert pool.execute_script("PRESS A").outcome == result.outcome
        assert pool.status().replaced == 1
    assert result.success
    assert (result.metadata.attempts, len(result.metadata.problems)) == (2, 1)
