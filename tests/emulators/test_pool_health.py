"""What checks of an emulator mean: healthy, degraded, failed, and getting worse."""

from __future__ import annotations

from typing import Any

import pytest

from ptp.emulators.health import Check, History, Limits, Verdict, Vitals


def note(history: History, at: float, answer_ms: float | None = 2.0, **vitals: Any) -> Verdict:
    facts = {"running": True, "condition": "sleeping", **vitals}
    return history.note(Check(at=at, vitals=Vitals(**facts), answer_ms=answer_ms, problem="no answer at all"))


@pytest.fixture
def history() -> History:
    return History(Limits())


def test_one_that_answers_is_healthy(history: History) -> None:
    assert note(history, 0) == Verdict("healthy")


@pytest.mark.parametrize("condition", ["its process is stopped", "its container is exited (137)"])
def test_one_that_does_not_run_has_failed_at_once(history: History, condition: str) -> None:
    assert note(history, 0, running=False, condition=condition) == Verdict("failed", (condition,))


def test_one_that_misses_a_check_is_degraded_and_three_in_a_row_have_failed(history: History) -> None:
    assert [note(history, at, None).level for at in range(3)] == ["degraded", "degraded", "failed"]
    assert note(history, 4).level == "healthy"


def test_slow_answers_and_scarce_memory_or_disk_degrade(history: History) -> None:
    assert "answers take 900 ms" in note(history, 0, 900).reasons[0]
    history.restarted(0)
    assert note(history, 1, memory=95, memory_limit=100).reasons == ("95% of its memory is taken",)
    assert note(history, 2, disk_free=1 << 20).reasons == ("its disk has 1 MB left",)


def test_a_failing_test_inside_degrades_and_three_in_a_row_have_failed(history: History) -> None:
    levels = [note(history, at, problem="`ptp --version` ended with 126").level for at in range(3)]
    assert levels == ["degraded", "degraded", "failed"]


def test_a_worsening_trend_is_noticed_and_a_steady_one_is_not(history: History) -> None:
    steady = [note(history, at, 600).is_worsening for at in range(8)]
    rising = [note(history, 8 + at, 600 * 1.3**at).is_worsening for at in range(8)]
    assert not any(steady)
    assert rising[-1]


def test_damaged_answers_degrade_and_three_in_a_row_have_failed(history: History) -> None:
    note(history, 0)
    levels = []
    for bad in (1, 2, 3):
        history.bad_answers = bad
        levels.append(history.judge(1).level)
    assert levels == ["degraded", "degraded", "failed"]


def test_restarts_again_and_again_are_a_loop(history: History) -> None:
    verdicts = [note(history, at, restarts=at) for at in range(7)]
    assert [it.level for it in verdicts[:5]] == ["healthy"] * 5
    assert verdicts[-1].level == "failed"
    assert "restarted 5 times within 120 s" in verdicts[-1].reasons
    assert not history.is_looping(500)
