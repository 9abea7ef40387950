"""Commands that wait when a run is cut off are applied when it is resumed, each once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ptp.runs import open_run
from ptp.runs.verification import verify

AGENT = """
from random import Random
from ptp import Agent, Decision

class Plans(Agent):
    repeatable = {repeatable}

    def __init__(self, world, setup):
        self.made = 0

    def decide(self, observation):
        self.made += 1
        return Decision(tuple(Random(100 * self.made + place).randrange(4) for place in range(5)))

    def save(self):
        return {{"made": self.made}}

    def load(self, state):
        self.made = state["made"]
"""


@pytest.fixture
def play(tmp_path: Path, ptp_json: Callable[..., Any]) -> Callable[..., Path]:
    def call(ticks: int, repeatable: bool = True) -> Path:
        (tmp_path / "plans.py").write_text(AGENT.format(repeatable=repeatable))
        result = ptp_json(
            "run", "--world", "Taxi-v4", "--agent", f"{tmp_path / 'plans.py'}:Plans", "--tick-rate-base", "0",
            "--random-seed", "3", "--max-ticks", str(ticks), "--snapshot-disk", "7",
        )  # fmt: skip
        return Path(result["directory"])

    return call


def cut_off(run: Path, ptp_json: Callable[..., Any]) -> None:
    """Leave only the snapshot at tick 21, in the middle of a plan: as if the run had been killed after tick 23."""
    newest = open_run(run.name, run.parent.parent).snapshots()[0]
    assert newest.tick == 23
    ptp_json("snapshot", "delete", newest.snapshot_id, run.name)


def commands(run: Path) -> list[str]:
    return [step.command for step in open_run(run.name, run.parent.parent).steps()]


def test_a_plan_goes_on_after_a_resume_as_if_nothing_had_happened(
    play: Callable[..., Path], ptp_json: Callable[..., Any]
) -> None:
    whole, cut = play(60), play(23)
    cut_off(cut, ptp_json)
    ptp_json("resume", cut.name, "--max-ticks", "60")
    assert commands(cut) == commands(whole)
    assert verify(open_run(cut.name, cut.parent.parent).directory).good
    decisions = list(open_run(cut.name, cut.parent.parent).decisions())
    assert [decision.number for decision in decisions] == list(range(12))
    assert {decision.status for decision in decisions} == {"success"}


def test_an_agent_that_cannot_repeat_itself_is_asked_anew_and_no_command_comes_twice(
    play: Callable[..., Path], ptp_json: Callable[..., Any]
) -> None:
    cut = play(23, repeatable=False)
    before = commands(cut)
    cut_off(cut, ptp_json)
    ptp_json("resume", cut.name, "--max-ticks", "25")
    assert commands(cut)[:23] == before
    waiting = commands(cut)[23:]
    assert waiting == commands(play(25))[23:]


def test_a_fork_with_another_agent_does_not_apply_what_the_first_one_wanted(
    play: Callable[..., Path], ptp_json: Callable[..., Any], tmp_path: Path
) -> None:
    whole = play(60)
    (tmp_path / "still.txt").write_text("0\n" * 9)
    fork = ptp_json("fork", whole.name, "--at-tick", "23", "--agent", "script", "--script", str(tmp_path / "still.txt"))
    assert commands(Path(fork["directory"]))[23:] == ["0"] * 9
