"""Public fakes, for tests of plug-ins and of ptp itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

from ptp._util.clock import Clock, iso
from ptp.agents import Agent, AgentSetup, Decision, Observation
from ptp.config import RunConfig
from ptp.engine import Play
from ptp.records import Metadata, WorldFacts, WorldSpec
from ptp.sinks import RunContext
from ptp.versioning import SCHEMA_VERSION
from ptp.worlds import Outcome, Signals, World, WorldView
from ptp.worlds.spaces import CommandCodec, state_hash


class ManualClock(Clock):
    """A clock that stands still until it is turned; a sleep turns it at once."""

    def __init__(self, start: float = 1_700_000_000.0) -> None:
        self.now = start
        self.slept: list[float] = []

    def monotonic(self) -> float:
        """Return the present second."""
        return self.now

    def time(self) -> float:
        """Return the present second."""
        return self.now

    def sleep(self, seconds: float) -> None:
        """Let *seconds* pass."""
        self.slept.append(seconds)
        self.now += seconds

    def wake(self) -> None:
        """Do nothing: a sleep here is over at once."""

    def turn(self, seconds: float) -> None:
        """Let *seconds* pass."""
        self.now += seconds


class CountingEnv(gymnasium.Env[Any, Any]):
    """An environment that counts its steps; command 0 stands still, and an episode has a fixed length."""

    metadata = {"render_modes": ["ansi"]}

    def __init__(self, episode_length: int = 1_000_000) -> None:
        self.observation_space = gymnasium.spaces.Discrete(10_000_000)
        self.action_space = gymnasium.spaces.Discrete(4)
        self.render_mode = "ansi"
        self._length = episode_length
        self._steps = self._position = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[int, dict[str, Any]]:
        """Begin at 0."""
        super().reset(seed=seed)
        self._steps = self._position = 0
        return 0, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        """Move by the command."""
        self._steps += 1
        self._position += int(action)
        return self._position, float(action), self._steps >= self._length, False, {}


class FakeWorld(World):
    """A world whose signals and context a test sets."""

    def __init__(self, episode_length: int = 1_000_000) -> None:
        self.spec = WorldSpec("fake", "ptp.testing:FakeWorld")
        self.env = CountingEnv(episode_length)
        self.facts = WorldFacts(
            "fake",
            "fake",
            "1",
            ("ansi",),
            "ansi",
            ("agent",),
            "toy_text",
            "tape",
            ("caught", "badges", "level"),
        )
        codec = CommandCodec(self.env.action_space)
        self.encode, self.decode, self.parse = codec.encode, codec.decode, codec.parse
        self.state_hash = state_hash(self.env.observation_space)
        self.now = Signals()
        self.where = "here"
        self.before_step: Callable[[], None] = lambda: None

    def step(self, command: Any) -> Outcome:
        """Apply one command, after whatever a test wants to happen first."""
        self.before_step()
        return super().step(command)

    def signals(self) -> Signals:
        """Return what the test set."""
        return self.now

    def context(self) -> str:
        """Return what the test set."""
        return self.where

    def frame(self) -> np.ndarray[Any, Any] | str | None:
        """Return the context as the picture."""
        return self.where


class FakeAgent(Agent):
    """An agent that gives decisions from a list, then single commands for ever."""

    name = "fake"

    def __init__(self, world: World | WorldView, decisions: Sequence[Decision | Exception | None] = ()) -> None:
        super().__init__(world.view() if isinstance(world, World) else world, AgentSetup(seed=0))
        self._decisions = list(decisions)
        self.seen: list[Observation] = []
        self.outcomes: list[Outcome] = []
        self.episodes: list[tuple[int, float]] = []

    def decide(self, observation: Observation) -> Decision | None:
        """Return the next decision of the list; an exception in it is raised."""
        self.seen.append(observation)
        if not self._decisions:
            return Decision((1,))
        decision = self._decisions.pop(0)
        if isinstance(decision, Exception):
            raise decision
        return decision

    def on_step(self, outcome: Outcome) -> None:
        """Remember the outcome."""
        self.outcomes.append(outcome)

    def on_episode_end(self, episode: int, total_reward: float) -> None:
        """Remember the episode."""
        self.episodes.append((episode, total_reward))


def fake_run(path: Path, world: World | None = None, config: RunConfig | None = None) -> RunContext:
    """Return a run for a sink to hear of: nobody plays it, and its clock stands still."""
    world, clock = world or FakeWorld(), ManualClock()
    metadata = Metadata(
        run_id=path.name,
        status="running",
        ptp_version="0",
        schema_version=SCHEMA_VERSION,
        experiment_name="default",
        world=world.spec,
        facts=world.facts,
        agent="fake",
        random_seed=1,
        started_at=iso(clock.time()),
    )
    return RunContext(path, metadata, config or RunConfig(), Play(world, clock, seed=1))
