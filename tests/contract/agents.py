"""Agents for the runs that fill every column: one that asks a model, and one that fails now and then."""

from __future__ import annotations

import time

from ptp.agents import Agent, Decision, Observation
from ptp.records import ModelCall, ModelConfigured, ModelText


def call(answer: str | None, error: str | None = None) -> ModelCall:
    """Return a call of a model that was answered, or not."""
    return ModelCall(
        at=time.time(), tick=0, decision=None, provider="local", model="small", parameters={"temperature": 0.2},
        tokens_in=120, tokens_out=8, tokens_cached=100, cost=0.0004, latency_ms=3.0, tools=["look"],
        prompt_hash="00ff", answer_hash=answer, status="failed" if error else "answered", error=error,
        calls_remaining=40,
    )  # fmt: skip


class Thinker(Agent):
    """Asks a model for every move, and once gets no answer; moves to the right."""

    name = "thinker"

    def decide(self, observation: Observation) -> Decision:
        error = "429" if observation.tick == 5 else None
        return Decision(
            (2,), type="NAVIGATION_MOVE", reasoning="to the right", confidence=0.5, tokens=128, cost=0.0004,
            model="small", context={"plan": "right"}, calls=(call(None, error), call("ff00")),
            kept=(ModelText("ff00", b"x"), ModelConfigured("c0", "small", 0.2, 100, "Play.", {"tools": []})),
        )  # fmt: skip


class Stumbler(Thinker):
    """Fails once, after tick 35."""

    name = "stumbler"
    failed = False

    def decide(self, observation: Observation) -> Decision:
        if observation.tick == 35 and not self.failed:
            self.failed = True
            raise ValueError("stumbled")
        return super().decide(observation)


class Fool(Agent):
    """Gives a command that the world does not know, after a few that it does."""

    name = "fool"

    def decide(self, observation: Observation) -> Decision:
        return Decision((99 if observation.tick == 5 else 1,))


class Brute(Agent):
    """Presses A, whatever happens."""

    name = "brute"

    def decide(self, observation: Observation) -> Decision:
        return Decision((self.world.parse("a"),), type="BATTLE_MOVE")
