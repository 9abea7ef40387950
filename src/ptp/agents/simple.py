"""Agents that don't look: one presses anything, one was somebody's own loop."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
from gymnasium import Space

from ptp.agents.contract import Agent, AgentSetup, Decision, Observation
from ptp.errors import AgentError
from ptp.worlds import WorldView


class RandomAgent(Agent):
    """Every command as likely as the next; the same seed gives the same commands."""

    name = "random"
    repeatable = True

    def __init__(self, world: WorldView, setup: AgentSetup) -> None:
        super().__init__(world, setup)
        self._space = world.action_space
        self._space.seed(setup.seed)

    def decide(self, observation: Observation) -> Decision:
        """Return one random command."""
        return Decision((self._space.sample(),))

    def save(self) -> dict[str, Any]:
        """Return the state of the random numbers; it has integers too large for most JSON readers, so as text."""
        return {"random": [json.dumps(source.bit_generator.state) for source in _generators(self._space)]}

    def load(self, state: dict[str, Any]) -> None:
        """Return to saved random numbers."""
        for source, text in zip(_generators(self._space), state["random"], strict=True):
            source.bit_generator.state = json.loads(text)


def _generators(space: Space[Any]) -> Iterator[np.random.Generator]:
    yield space.np_random
    inner = getattr(space, "spaces", ())
    for part in inner.values() if isinstance(inner, dict) else inner:
        yield from _generators(part)


class LoopAgent(Agent):
    """A loop of your own, recorded by `ptp.Record`; only the loop itself can continue."""

    name = "loop"

    def decide(self, observation: Observation) -> Decision:
        """Refuse: the loop that decided is not here."""
        raise AgentError("a recorded loop can't be resumed; fork the run with an agent, such as --agent random")
