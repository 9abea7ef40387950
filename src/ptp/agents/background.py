"""A slow agent thinks in a thread of its own, so that the clock, limits and controls go on."""

from __future__ import annotations

import threading
from typing import Any

from ptp._util.attempt import attempt
from ptp.agents.contract import Agent, Decision, Observation
from ptp.worlds import Outcome


class BackgroundAgent(Agent):
    """Wraps a slow agent; `decide` starts it thinking and returns None until it has an answer."""

    def __init__(self, agent: Agent) -> None:
        super().__init__(agent.world, agent.setup)
        self._agent = agent
        self._answer: Decision | Exception | None = None
        self._thread: threading.Thread | None = None

    def decide(self, observation: Observation) -> Decision | None:
        """Return the decision once it is there; an error of the agent is raised here."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._think, args=(observation,), daemon=True, name="agent")
            self._thread.start()
            return None
        if self._thread.is_alive():
            return None
        answer, self._answer, self._thread = self._answer, None, None
        if isinstance(answer, Exception):
            raise answer
        return answer

    def _think(self, observation: Observation) -> None:
        self._answer = attempt(lambda: self._agent.decide(observation))

    def on_step(self, outcome: Outcome) -> None:
        """Pass on what one command did."""
        self._agent.on_step(outcome)

    def on_episode_end(self, episode: int, total_reward: float) -> None:
        """Pass on that an episode is over."""
        self._agent.on_episode_end(episode, total_reward)

    def save(self) -> dict[str, Any]:
        """Return the wrapped agent's state; a decision under way is made anew after loading."""
        return self._agent.save()

    def load(self, state: dict[str, Any]) -> None:
        """Return the wrapped agent to a saved state, and forget a decision under way."""
        self._thread = None
        self._agent.load(state)

    def close(self) -> None:
        """Close the wrapped agent."""
        self._agent.close()
