"""A world being played: one command at a time becomes records; whose commands they are is the caller's business."""

from __future__ import annotations

from typing import Any

import msgspec

from ptp._util.clock import Clock
from ptp._util.ids import derive_seed
from ptp.engine.state import EngineState
from ptp.records import EpisodeBegan, EpisodeEnded, Event, Record, Step
from ptp.worlds import Outcome, Signals, World
from ptp.worlds.spaces import describe


class Progress(msgspec.Struct):
    """What limits are measured against."""

    ticks: int = 0
    episodes: int = 0
    """Whole episodes."""
    elapsed: float = 0.0
    reward: float = 0.0
    last_reward: float | None = None
    """The total reward of the last whole episode."""
    cost: float = 0.0
    signals: Signals = Signals()


class Play:
    """Applies commands to a world and counts what came of them.

    When an episode ends the world still shows its end; the next one begins with `begin`.
    """

    def __init__(self, world: World, clock: Clock, seed: int) -> None:
        self.world = world
        self.clock = clock
        self.seed = seed
        self.progress = Progress()
        self.over = True
        """Whether no episode is under way."""
        self.episode = 0
        self.step = 0
        self.episode_reward = 0.0
        self.observation: Any = None
        self.state: Any = None
        self.context = ""
        self.last_hash = ""
        self._now = clock.monotonic
        self.started = self.noted = clock.monotonic()
        """When the run began, and when the newest command was applied, by the clock that never goes back."""

    def next_seed(self) -> int:
        """Return the seed of the next episode: the run's own, whoever plays."""
        return derive_seed(self.seed, "episode", self.progress.episodes + 1)

    def begin(self, seed: int | None, options: dict[str, Any] | None = None) -> EpisodeBegan:
        """Begin an episode; without a seed the world continues with its own random numbers."""
        return self.note_begin(self.world.reset(seed, options), seed, options)

    def note_begin(self, observation: Any, seed: int | None, options: dict[str, Any] | None) -> EpisodeBegan:
        """Return the record of an episode that has begun."""
        self.observation = observation
        self.episode = self.progress.episodes + 1
        self.step, self.episode_reward, self.over = 0, 0.0, False
        self._read_state()
        info = describe(self.world.info) if self.world.info else None
        shown = describe(self.observation)
        return EpisodeBegan(self.episode, self.progress.ticks, seed, options, shown, self.state, info)

    def apply(self, command: Any, text: str, records: list[Record]) -> Outcome:
        """Apply one command and add the records of what happened."""
        outcome = self.world.step(command)
        self.note(outcome, text, records)
        return outcome

    def note(self, outcome: Outcome, text: str, records: list[Record]) -> None:
        """Add the records of what a command did."""
        world, progress = self.world, self.progress
        reward, terminated, truncated = outcome.reward, outcome.terminated, outcome.truncated
        tick = progress.ticks = progress.ticks + 1
        self.step += 1
        progress.reward += reward
        self.episode_reward += reward
        self.observation = outcome.observation
        self.last_hash = state_hash = world.state_hash(outcome.observation, reward, terminated, truncated)
        before = self.state
        self._read_state()
        state = None if self.state == before else self.state
        info = describe(outcome.info) if outcome.info else None
        self.noted = self._now()
        elapsed = self.noted - self.started
        records.append(
            Step(tick, self.episode, self.step, text, reward, terminated, truncated, elapsed, state_hash, state, info)
        )
        if world.events:
            at = self.clock.time()
            records.extend(
                Event(at, tick, index, event.kind, event.title, event.detail)
                for index, event in enumerate(world.events)
            )
        if terminated or truncated:
            self.end(terminated, elapsed, records)

    def end(self, terminated: bool, elapsed: float, records: list[Record]) -> None:
        """Count the episode as over; its end stays to be seen."""
        reward, progress = self.episode_reward, self.progress
        records.append(EpisodeEnded(self.episode, progress.ticks, self.step, reward, elapsed, terminated))
        progress.episodes += 1
        progress.last_reward = reward
        self.over = True

    def _read_state(self) -> None:
        world = self.world
        self.state = world.state(self.observation)
        self.context = world.context()
        self.progress.signals = world.signals()

    def load(self, state: EngineState, observation: Any) -> None:
        """Go on from a saved state, in a world that was brought there and shows *observation*.

        Time is only ever raised: what was spent stays spent.
        """
        progress = self.progress
        progress.ticks, progress.episodes = state.ticks, state.episodes
        progress.reward, progress.last_reward = state.reward, state.last_reward
        self.step, self.episode_reward, self.over = state.step, state.episode_reward, state.over
        self.episode = state.episodes + (0 if state.over else 1)
        self.started = min(self.started, self._now() - state.elapsed)
        self.last_hash = state.last_hash
        self.observation = observation
        self._read_state()
