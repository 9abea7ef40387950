"""A slow agent thinks in a thread of its own, so that the clock, limits and controls go on."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from ptp._util.attempt import attempt
from ptp.agents.contract import Agent, Decision, Observation
from ptp.worlds import Outcome


class BackgroundAgent(Agent):
    """Wraps a slow agent; `decide` starts it thinking and returns None until it has an answer.

    The agent itself is only ever used by one thread at a time: what happens while it thinks is passed on afterwards,
    a snapshot taken meanwhile holds its state from before, and an answer for ticks that were rolled back is dropped.
    """

    slow = True

    def __init__(self, agent: Agent, wake: Callable[[], None]) -> None:
        self._agent = agent
        self._wake = wake
        self.ahead = agent.ahead
        self.repeatable = agent.repeatable
        self._thread: threading.Thread | None = None
        self._answer: Decision | Exception | None = None
        self._before: dict[str, Any] = {}
        self._waiting: deque[Callable[[], None]] = deque()
        self._outdated = False
        self._late: list[Decision] = []

    def decide(self, observation: Observation) -> Decision | None:
        """Return the decision once it is there; an error of the agent is raised here."""
        if self._thread is None:
            self._start(observation)
            return None
        if self._thread.is_alive():
            return None
        answer, self._answer, self._thread = self._answer, None, None
        while self._waiting:
            self._waiting.popleft()()
        if self._outdated:
            self._outdated = False
            self._late += [answer] if isinstance(answer, Decision) else []
            self._start(observation)
            return None
        if isinstance(answer, Exception):
            raise answer
        return answer

    def _start(self, observation: Observation) -> None:
        if not self._agent.sees:
            observation.frame = None
        elif observation.frame is not None:
            picture = observation.frame()
            observation.frame = lambda: picture
        self._before = self._agent.save()
        self._thread = threading.Thread(target=self._think, args=(observation,), daemon=True, name="agent")
        self._thread.start()

    def _think(self, observation: Observation) -> None:
        self._answer = attempt(lambda: self._agent.decide(observation))
        self._wake()

    def late(self) -> Sequence[Decision]:
        """Return the answers since the last call that came too late to be used."""
        late, self._late = self._late, []
        return late

    def on_step(self, outcome: Outcome) -> None:
        """Pass on what one command did."""
        self._when_idle(lambda: self._agent.on_step(outcome))

    def on_episode_end(self, episode: int, total_reward: float) -> None:
        """Pass on that an episode is over."""
        self._when_idle(lambda: self._agent.on_episode_end(episode, total_reward))

    def _when_idle(self, work: Callable[[], None]) -> None:
        if self._thread is None:
            work()
        else:
            self._waiting.append(work)

    def save(self) -> dict[str, Any]:
        """Return the wrapped agent's state; a decision under way is made anew after loading."""
        return self._agent.save() if self._thread is None else self._before

    def load(self, state: dict[str, Any]) -> None:
        """Return the wrapped agent to a saved state; the answer to a decision under way will be dropped."""
        self._waiting.clear()
        self._outdated = self._thread is not None
        self._before = state
        self._when_idle(lambda: self._agent.load(state))

    def close(self) -> None:
        """Close the wrapped agent, which may still be thinking."""
        self._agent.close()
