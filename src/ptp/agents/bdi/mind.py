"""What the learner believes, wants, and has set out to do."""

from __future__ import annotations

from random import Random
from typing import Any, Literal

import msgspec

RECENT = 100  # episodes that averages are over
Desire = Literal["explore", "exploit"]


class Schedule(msgspec.Struct, frozen=True):
    """A value that shrinks with each episode."""

    start: float
    decay: float
    end: float

    def at(self, episode: int) -> float:
        """Return the value after so many episodes."""
        return max(self.end, self.start * self.decay**episode)

    def changed(self, given: dict[str, Any], name: str) -> Schedule:
        """Return it as options of that name change it."""
        decay, end = given.get(f"{name}_decay", self.decay), given.get(f"{name}_end", self.end)
        return Schedule(given.get(name, self.start), decay, end)


class Beliefs(msgspec.Struct):
    """What the learner holds true of its own play."""

    episodes: int = 0
    recent: list[float] = []
    """The returns of the last episodes."""
    best: float | None = None
    most_error: float = 0.0
    """The largest mean error of an episode."""

    def note(self, total_reward: float, error: float) -> None:
        """Take in an episode that is over."""
        self.episodes += 1
        self.recent = [*self.recent[1 - RECENT :], total_reward]
        self.best = total_reward if self.best is None else max(self.best, total_reward)
        self.most_error = max(self.most_error, error)

    def convergence(self, error: float) -> float:
        """Return how little an episode with that mean error surprises, beside the worst."""
        return 1.0 - error / self.most_error if self.most_error else 1.0


class Intention:
    """What it has set out to do, until there is a reason to drop it."""

    def __init__(self, dice: Random, commitment: int) -> None:
        self._dice = dice
        self._commitment = commitment
        self.desire: Desire | None = None
        self.left = 0
        """Commands that it still explores for."""
        self.taken_up = 0
        """How many were taken up since the episode began."""

    def reconsider(self, epsilon: float, is_known: bool) -> str | None:
        """Keep the intention, or drop it for another and return why; desires rank by *epsilon*."""
        if not is_known:
            return self._take_up("explore", "nothing is known here")
        if self.desire == "explore":
            self.left -= 1
            return None if self.left > 0 else self._take_up("exploit", "it has explored as long as it meant to")
        if epsilon and self._dice.random() < epsilon:
            return self._take_up("explore", f"its turn came at epsilon {epsilon:.3g}")
        return None if self.desire else self._take_up("exploit", "the episode begins")

    def _take_up(self, desire: Desire, why: str) -> str | None:
        if desire == "explore":
            self.left = self._commitment
        if desire == self.desire:
            return None
        self.desire = desire
        self.taken_up += 1
        return why

    def drop(self) -> None:
        """Drop it, since the episode is over."""
        self.desire, self.left, self.taken_up = None, 0, 0

    def save(self) -> list[Any]:
        """Return it as JSON-safe data."""
        return [self.desire, self.left, self.taken_up]

    def load(self, saved: list[Any]) -> None:
        """Return to a saved one."""
        self.desire, self.left, self.taken_up = saved
