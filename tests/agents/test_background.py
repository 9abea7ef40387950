"""A slow agent: the clock goes on, nobody waits in vain, and its mind belongs to one thread at a time."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from ptp.agents import Agent, Decision, Observation
from ptp.agents.registry import BackgroundAgent
from ptp.config.tree import BY_FLAG, build
from ptp.engine import Engine
from ptp.records import ModelCall, Notice, Step
from ptp.testing import FakeAgent, FakeWorld, ManualClock

CALL = ModelCall(0.0, 0, None, "p", "m", None, 10, 5, None, 0.5, 3.0, None, None, None, "ok", None)


class Thinker(FakeAgent):
    """Thinks until the test lets it go on, and counts what it was told."""

    slow = True

    def __init__(self, *decisions: Decision) -> None:
        super().__init__(FakeWorld(), decisions)
        self.go_on = threading.Semaphore(0)
        self.thoughts = 0
        self.closed = False

    def decide(self, observation: Observation) -> Decision | None:
        assert self.go_on.acquire(timeout=10)
        self.thoughts += 1
        return super().decide(observation)

    def save(self) -> dict[str, Any]:
        return {"thoughts": self.thoughts}

    def load(self, state: dict[str, Any]) -> None:
        self.thoughts = state["thoughts"]

    def close(self) -> None:
        self.closed = True


def background(agent: Agent) -> tuple[BackgroundAgent, threading.Event]:
    woken = threading.Event()
    return BackgroundAgent(agent, woken.set), woken


def engine_of(agent: Agent, **flags: Any) -> Engine:
    settings = {"tick_rate_base": 0, **flags}
    config = build({BY_FLAG["--" + name.replace("_", "-")]: value for name, value in settings.items()})
    engine = Engine(FakeWorld(), agent, config, ManualClock(), seed=1)
    engine.start()
    return engine


def test_an_answer_wakes_the_clock_instead_of_being_polled_for() -> None:
    thinker = Thinker(Decision((1,)))
    agent, woken = background(thinker)
    engine = engine_of(agent)
    engine.tick()
    assert not woken.is_set()
    thinker.go_on.release()
    assert woken.wait(5)
    assert [record.tick for record in engine.tick() if isinstance(record, Step)] == [1]


def test_a_decision_for_ticks_that_were_rolled_back_is_dropped_and_its_cost_is_booked() -> None:
    thinker = Thinker(Decision((1,)), Decision((3,), cost=0.5, calls=(CALL,)), Decision((2,)))
    agent, woken = background(thinker)
    engine = engine_of(agent)
    saved, mind = engine.save(), agent.save()
    engine.tick()
    thinker.go_on.release()
    assert woken.wait(5)
    woken.clear()
    engine.tick()
    engine.tick()  # now it thinks about what to do after tick 1
    engine.load(saved, 0)
    agent.load(mind)
    thinker.go_on.release()
    assert woken.wait(5)
    woken.clear()
    records = engine.tick()
    assert not [record for record in records if isinstance(record, Step)]
    assert [record.kind for record in records if isinstance(record, Notice)] == ["decision_dropped"]
    assert [(record.model, record.decision) for record in records if isinstance(record, ModelCall)] == [("m", None)]
    assert engine.progress.cost == 0.5
    thinker.go_on.release()
    assert woken.wait(5)
    (step,) = [record for record in engine.tick() if isinstance(record, Step)]
    assert (step.tick, step.command) == (1, "2")


def test_a_snapshot_taken_while_the_agent_thinks_holds_its_mind_from_before() -> None:
    thinker = Thinker(Decision((1,)), Decision((1,)))
    agent, woken = background(thinker)
    engine = engine_of(agent)
    engine.tick()
    thinker.go_on.release()
    assert woken.wait(5)
    assert agent.save() == {"thoughts": 0}  # the answer is there, but nobody has it yet
    engine.tick()
    assert agent.save() == {"thoughts": 1}


def test_a_slow_agent_is_asked_ahead_while_its_last_command_waits() -> None:
    thinker = Thinker(Decision((1, 1)), Decision((2,)))
    thinker.ahead = 1
    agent, woken = background(thinker)
    engine = engine_of(agent)
    engine.tick()
    thinker.go_on.release(2)
    assert woken.wait(5)
    woken.clear()
    engine.tick()  # applies the first of two commands
    engine.tick()  # asks ahead, and applies the second without waiting for the answer
    assert engine.progress.ticks == 2
    assert woken.wait(5)
    assert [record.command for record in engine.tick() if isinstance(record, Step)] == ["2"]
    assert [observation.tick for observation in thinker.seen] == [0, 1]


def test_an_error_of_a_slow_agent_is_raised_in_the_run() -> None:
    class Failing(Thinker):
        def decide(self, observation: Observation) -> Decision | None:
            raise ValueError("no idea")

    agent, woken = background(Failing())
    engine = engine_of(agent)
    engine.tick()
    assert woken.wait(5)
    with pytest.raises(Exception, match="no idea"):
        engine.tick()


def test_closing_reaches_the_agent_even_while_it_thinks() -> None:
    thinker = Thinker(Decision((1,)))
    agent, _ = background(thinker)
    engine_of(agent).tick()
    agent.close()
    assert thinker.closed
    thinker.go_on.release()
