"""One limit for all processes: in order, fair, and as the provider's headers say."""

from __future__ import annotations

import multiprocessing
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ptp.agents.llm.limiter import Limiter
from ptp.agents.llm.wire import read_allowance
from ptp.errors import AgentError
from ptp.testing import ManualClock
from tests.agents.llm.servers import Reply, act, serving
from tests.agents.llm.test_llm import LAKE, Ptp, rows
from tests.agents.llm.turns import AGENTS, CALLS, PROCESSES, call_often, set_clock

MINUTE = 60.0


@pytest.mark.slow
def test_a_hundred_agents_in_several_processes_keep_one_limit_and_take_turns(tmp_path: Path) -> None:
    set_clock(tmp_path / "clock", 1000.0)
    spawn = multiprocessing.get_context("spawn")
    together = spawn.Barrier(PROCESSES + 1)
    processes = [spawn.Process(target=call_often, args=(str(tmp_path), together)) for _ in range(PROCESSES)]
    for process in processes:
        process.start()
    together.wait(120)
    now = 1000.0
    while any(process.is_alive() for process in processes):
        time.sleep(0.05)
        now += 2.0
        set_clock(tmp_path / "clock", now)
    assert [process.exitcode for process in processes] == [0] * PROCESSES
    with sqlite3.connect(tmp_path / "limits.sqlite") as database:
        calls = database.execute("SELECT at, ticket FROM calls ORDER BY rowid").fetchall()
    times, tickets = [at for at, _ in calls], [ticket for _, ticket in calls]
    assert len(times) == PROCESSES * AGENTS * CALLS
    for first, later in zip(times, times[100:], strict=False):
        assert later - first >= MINUTE, "no minute has more than a hundred calls"
    assert tickets == sorted(tickets), "nobody is served before somebody who asked earlier"


def _limiter(tmp_path: Path, per_minute: int = 100, dollars: float | None = None) -> tuple[Limiter, ManualClock]:
    clock = ManualClock()
    return Limiter(tmp_path, "a", per_minute, dollars, clock), clock


def test_a_call_waits_until_a_minute_has_room(tmp_path: Path) -> None:
    limiter, _ = _limiter(tmp_path, 2)
    assert [round(limiter.acquire().seconds) for _ in range(5)] == [0, 0, 60, 0, 60]


def test_accounts_have_limits_of_their_own(tmp_path: Path) -> None:
    limiter, clock = _limiter(tmp_path, 1)
    limiter.acquire()
    assert Limiter(tmp_path, "b", 1, clock=clock).acquire().seconds == 0


@pytest.mark.parametrize(("seconds", "queued"), [(40, False), (200, True)])
def test_a_provider_that_allows_no_more_is_waited_for(tmp_path: Path, seconds: int, queued: bool) -> None:
    limiter, clock = _limiter(tmp_path)
    limiter.heard(0, clock.time() + seconds, None)
    waited = limiter.acquire()
    assert (round(waited.seconds), waited.queued) == (seconds, queued)


def test_calls_are_counted_down_from_what_the_provider_allows(tmp_path: Path) -> None:
    limiter, clock = _limiter(tmp_path)
    limiter.heard(2, clock.time() + 30, None)
    assert [round(limiter.acquire().seconds) for _ in range(3)] == [0, 0, 30]


def test_an_hour_costs_no_more_than_is_allowed(tmp_path: Path) -> None:
    limiter, _ = _limiter(tmp_path, dollars=1.0)
    for cost in (0.6, 0.6):
        assert limiter.acquire().seconds == 0
        limiter.heard(None, None, cost)
    assert round(limiter.acquire().seconds) == 3600


def test_a_process_that_died_leaves_the_queue(tmp_path: Path) -> None:
    limiter, _ = _limiter(tmp_path)
    gone = multiprocessing.get_context("spawn").Process(target=str)
    gone.start()
    gone.join()
    with sqlite3.connect(tmp_path / "limits.sqlite") as database:
        database.execute("INSERT INTO queue (account, process) VALUES ('a', ?)", (gone.pid,))
    assert limiter.acquire().seconds == 0


def test_a_run_that_ended_does_not_wait_any_longer(tmp_path: Path) -> None:
    limiter, _ = _limiter(tmp_path, 1)
    limiter.acquire()
    with pytest.raises(AgentError, match="before its call came to its turn"):
        limiter.acquire(lambda: True)
    with sqlite3.connect(tmp_path / "limits.sqlite") as database:
        assert database.execute("SELECT count(*) FROM queue").fetchone() == (0,)


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"anthropic-ratelimit-requests-remaining": "7",
          "anthropic-ratelimit-requests-reset": "2026-01-01T00:01:00Z"}, (7, 1767225660.0)),
        ({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "6m0s"}, (0, 460.0)),
        ({"x-ratelimit-remaining-requests": "1", "x-ratelimit-reset-requests": "20ms"}, (1, 100.02)),
        ({"x-ratelimit-remaining": "3", "x-ratelimit-reset": "1767225660000"}, (3, 1767225660.0)),
        ({"x-ratelimit-remaining-requests": "many", "x-ratelimit-reset-requests": "soon"}, (None, None)),
        ({}, (None, None)),
    ],
)  # fmt: skip
def test_headers_of_every_provider_are_read(headers: dict[str, str], expected: tuple[Any, Any]) -> None:
    assert tuple(read_allowance(headers, 100.0)) == pytest.approx(expected)


def test_a_run_records_how_many_calls_are_left_and_waits_when_none_are(
    ptp: Ptp, ptp_json: Callable[..., Any], tmp_path: Path
) -> None:
    none_left = {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "1200ms"}
    first = act("right")
    with serving("openai", [Reply(tools=first.tools, headers=none_left), act("right")]) as server:
        assert ptp(*LAKE, *server.flags(), "--max-ticks", "2")[0] == 0
    assert server.times[1] - server.times[0] >= 1.0
    calls = rows(tmp_path, "SELECT calls_remaining FROM model_calls ORDER BY call_id")
    assert [call["calls_remaining"] for call in calls] == [0, None]
    assert ptp_json("status", "latest")["system_health"]["api_calls_remaining"] == 0
