"""Which agents there are: a table of names, installed plug-ins, and any class that is named by module or file.

A slow one thinks in a thread of its own, so that the clock, limits and controls keep working.
"""

from __future__ import annotations

import importlib.metadata
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from ptp._util.attempt import attempt
from ptp._util.loading import decode_options, load_class
from ptp.agents.contract import Agent, AgentSetup, Answers, Decision, Observation
from ptp.config.tree import Agent as AgentConfig
from ptp.errors import AgentError, ConfigError, UnknownName
from ptp.worlds import Outcome, World

AGENTS: dict[str, str] = {
    "bdi": "ptp.agents.bdi:BDIQAgent",
    "explorer": "ptp.agents.explorer:ExplorerAgent",
    "llm": "ptp.agents.llm.agent:LLMMultiStepAgent",
    "loop": "ptp.agents.simple:LoopAgent",
    "random": "ptp.agents.simple:RandomAgent",
    "script": "ptp.agents.script:ScriptAgent",
}


def _entries() -> dict[str, str]:
    plugins = {plugin.name: plugin.value for plugin in importlib.metadata.entry_points(group="ptp.agents")}
    return plugins | AGENTS


def agent_names() -> list[str]:
    """Return the names of every agent, installed plug-ins included."""
    return sorted(_entries())


def is_foreign(name: str) -> bool:
    """Whether an agent is code that is not installed as one."""
    return name not in _entries()


def find_agent(name: str, *, trusted: bool = False) -> type[Agent]:
    """Return the class of an agent: by its name or, if *trusted*, as `module:Class` or `file.py:Class`."""
    entries = _entries()
    entry = entries.get(name, name)
    if entry.endswith(".py"):
        raise ConfigError(f"--agent {name} names no class; write {name}:Class")
    if ":" not in entry:
        raise UnknownName("agent", name, list(entries))
    if is_foreign(name) and not trusted:
        raise AgentError(f"agent {name!r} is code that is not installed as an agent; if you trust it, add --trust")
    return load_class("an agent", entry, Agent)


def make_agent(
    name: str,
    world: World,
    config: AgentConfig,
    seed: int,
    *,
    wake: Callable[[], None] = lambda: None,
    trusted: bool = False,
    shared: str | None = None,
    answers: Answers | None = None,
) -> Agent:
    """Make an agent for a world, with its options decoded.

    A slow one gets a thread of its own, and calls *wake* when it has an answer. *shared* is a folder that all runs
    share, and *answers* are what its models answered before.
    """
    kind = find_agent(name, trusted=trusted)
    given = config.options
    if config.script is not None and "file" in kind.Options.__struct_fields__:
        given = {"file": config.script, **given}
    options = decode_options(f"agent {name!r}", given, kind.Options)
    setup = AgentSetup(
        seed, options, config.model, config.base_url, config.snapshot_provider, shared, answers
    )  # fmt: skip
    agent = kind(world.view(), setup)
    return BackgroundAgent(agent, wake) if agent.slow else agent


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
        self._waiting: deque[Callable[[], object]] = deque()
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
        self.repeatable = self._agent.repeatable
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

    def _when_idle(self, work: Callable[[], object]) -> None:
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
