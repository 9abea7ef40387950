"""Timings, promises and trends."""

from __future__ import annotations

import pytest

from ptp.emulators.monitor import KEPT, OPERATIONS, OTHERS, Degradation, PerformanceMonitor
from ptp.testing import ManualClock


def test_the_summary_has_figures_of_every_operation_and_counts_errors_apart() -> None:
    clock = ManualClock()
    monitor = PerformanceMonitor(clock=clock)
    for milliseconds in range(1, 101):
        with monitor.measure("action"):
            clock.turn(milliseconds / 1000)
    with pytest.raises(ValueError, match="invalid literal"), monitor.measure("action"):
        clock.turn(int("fifty"))
    timing = monitor.summary()["action"]
    assert (timing.count, timing.errors, monitor.errors()) == (101, 1, 1)
    assert timing.median == pytest.approx(0.0505)
    assert timing.mean == pytest.approx(0.0505)
    assert timing.p95 == pytest.approx(0.096)
    assert timing.p99 == pytest.approx(0.1)
    assert timing.slowest == pytest.approx(0.1)
    assert timing.per_second == pytest.approx(99 / 5.049)


def test_an_operation_that_only_failed_has_no_timing() -> None:
    monitor = PerformanceMonitor()
    monitor.record("action", 1.0, failed=True)
    assert monitor.summary() == {}
    assert monitor.errors() == 1


def test_one_call_has_no_rate() -> None:
    monitor = PerformanceMonitor(clock=ManualClock())
    monitor.record("action", 0.5)
    assert monitor.summary()["action"].per_second is None


def test_an_operation_that_takes_a_second_breaks_its_promise_and_one_that_takes_less_keeps_it() -> None:
    monitor = PerformanceMonitor()
    for _ in range(100):
        monitor.record("action", 1.2)
        monitor.record("status", 0.9)
        monitor.record("initialize", 30)
    (breach,) = monitor.check_sla()
    assert (breach.operation, breach.limit, breach.p95) == ("action", 1.0, 1.2)
    assert str(breach) == "action takes 1.200 s (95th percentile), and 1 s were promised"


def test_a_few_slow_calls_in_a_hundred_break_no_promise() -> None:
    monitor = PerformanceMonitor({"action": 0.1})
    for number in range(100):
        monitor.record("action", 5.0 if number < 4 else 0.01)
    assert monitor.check_sla() == []


def test_a_worsening_trend_alerts_once_and_again_after_it_was_over() -> None:
    heard: list[Degradation] = []
    monitor = PerformanceMonitor(alert=heard.append)
    for _ in range(100):
        monitor.record("action", 0.010)
    assert monitor.degradations() == []
    for _ in range(20):
        monitor.record("action", 0.030)
    assert [each.operation for each in heard] == ["action"]
    (found,) = monitor.degradations()
    assert found == Degradation("action", 0.010, 0.030)
    assert str(found) == "action takes 0.030 s, and took 0.010 s before"
    for _ in range(100):
        monitor.record("action", 0.030)
    assert monitor.degradations() == []
    for _ in range(20):
        monitor.record("action", 0.090)
    assert len(heard) == 2


def test_a_difference_that_nobody_notices_is_no_trend() -> None:
    monitor = PerformanceMonitor()
    for number in range(60):
        monitor.record("action", 0.001 if number < 40 else 0.005)
    assert monitor.degradations() == []


def test_scattered_timings_are_no_trend() -> None:
    heard: list[Degradation] = []
    monitor = PerformanceMonitor(alert=heard.append)
    for number in range(500):
        monitor.record("action", 0.01 * (1 + 3 * (number % 2)))
    assert heard == []


def test_memory_is_bounded_in_timings_and_in_names() -> None:
    monitor = PerformanceMonitor()
    for number in range(3 * KEPT):
        monitor.record("action", 1.0 if number < KEPT else 0.1)
    for number in range(2 * OPERATIONS):
        monitor.record(f"operation {number}", 0.1)
    summary = monitor.summary()
    assert summary["action"].count == 3 * KEPT
    assert summary["action"].slowest == 0.1
    assert len(summary) == OPERATIONS + 1
    assert summary[OTHERS].count == OPERATIONS + 1
