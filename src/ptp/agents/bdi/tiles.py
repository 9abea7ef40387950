"""Values of commands as sums over tiles, for observations that are vectors of numbers."""

from __future__ import annotations

from base64 import b64decode, b64encode
from itertools import combinations
from random import Random
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ptp.agents.bdi.table import Lesson

Vector: TypeAlias = NDArray[np.float32]
Places: TypeAlias = NDArray[np.int64]

WARM_UP = 1000  # steps in which nothing is learnt but how far observations spread
FEW = 4  # numbers of an observation up to which three are looked at together; two of more
TILES = 8  # across a number
SHIFTS = {1: 16, 2: 4, 3: 8}  # grids for each group of so many numbers, one beside the other
CAPACITY = 5_000  # steps that are remembered
LEAST_SPREAD = 1e-3


class Grids:
    """Where an observation lies in each of many overlapping grids over its numbers, two or three at a time."""

    def __init__(self, numbers: int) -> None:
        size = min(numbers, 3 if numbers <= FEW else 2)
        shifts, cells = SHIFTS[size], (TILES + 1) ** size
        groups = [group for group in combinations(range(numbers), size) for _ in range(shifts)]
        self.count, self.places = len(groups), len(groups) * cells
        self._shift = np.zeros((self.count, numbers))
        self._stride = np.zeros((self.count, numbers), np.int64)
        self._first = np.arange(self.count) * cells
        for row, group in enumerate(groups):
            for at, number in enumerate(group):
                self._shift[row, number] = row * (2 * at + 1) % shifts / shifts
                self._stride[row, number] = (TILES + 1) ** at

    def places_of(self, squeezed: NDArray[np.float64]) -> Places:
        """Return the cell of each grid; the numbers lie between -1 and 1."""
        cells = ((squeezed + 1) * (TILES / 2) + self._shift).astype(np.int64)
        found: Places = (cells * self._stride).sum(1) + self._first
        return found


class TileLearner:
    """Q-learning with a weight for each tile, and prioritised replay.

    How far the numbers of an observation spread is found out first, with random commands. A number is then squeezed so
    that most tiles lie where it usually is, and none is out of reach.
    """

    def __init__(self, commands: int, gamma: float, replays: int, numbers: int, dice: Random) -> None:
        self._commands, self._numbers = commands, numbers
        self._gamma = gamma
        self._replays = replays
        self._dice = dice
        self._grids = Grids(numbers)
        self._weights = np.zeros((commands, self._grids.places))
        self._spread: NDArray[np.float64] | None = None
        self._steps = 0
        self._seen: tuple[Vector | None, Places] = (None, np.zeros(0, np.int64))
        self._clear_memory()

    def _clear_memory(self) -> None:
        self._before = np.zeros((CAPACITY, self._numbers), np.float32)
        self._after = np.zeros((CAPACITY, self._numbers), np.float32)
        self._from = np.zeros((CAPACITY, self._grids.count), np.int64)
        self._to = np.zeros((CAPACITY, self._grids.count), np.int64)
        self._command = np.zeros(CAPACITY, np.int64)
        self._reward = np.zeros(CAPACITY)
        self._ended = np.zeros(CAPACITY, np.bool_)
        self._error = np.zeros(CAPACITY)
        self._visits = np.zeros(CAPACITY, np.int64)

    def see(self, observation: Any) -> Vector:
        """Return an observation as a vector that nobody changes."""
        return np.array(observation, np.float32)

    def values(self, state: Vector) -> list[float]:
        """Return what each command is worth in a state."""
        if self._spread is None:
            return [0.0] * self._commands
        found: list[float] = self._weights[:, self._places(state)].sum(1).tolist()
        return found

    def knows(self, state: Vector) -> bool:
        """Whether anything is known yet: of every state, since tiles overlap."""
        return self._spread is not None

    def another(self, state: Vector, draw: float) -> int:
        """Return any command."""
        return int(draw * self._commands)

    def best(self, state: Vector) -> int:
        """Return the command that is worth most."""
        values = self.values(state)
        return values.index(max(values))

    def learn(self, state: Vector, command: int, reward: float, then: Vector, ended: bool, alpha: float) -> Lesson:
        """Learn from one step, then from the most instructive of those before."""
        at = self._remember(state, command, reward, then, ended)
        if self._spread is None:
            if self._steps >= WARM_UP:
                self._look_back()
            return Lesson(0.0, 0.0, 0)
        here = self._from[at] = self._places(state)
        weights = self._weights[command]
        before = float(weights[here].sum())
        there = self._to[at] = self._places(then)
        target = reward if ended else reward + self._gamma * float(self._weights[:, there].sum(1).max())
        error = self._error[at] = target - before
        rate = alpha / self._grids.count
        weights[here] += rate * error
        if self._replays:
            self._replay(rate)
        return Lesson(float(error), float(alpha * error), 0)

    def _remember(self, state: Vector, command: int, reward: float, then: Vector, ended: bool) -> int:
        at = self._steps % CAPACITY
        self._steps += 1
        self._before[at], self._after[at], self._command[at] = state, then, command
        self._reward[at], self._ended[at], self._visits[at] = reward, ended, 0
        return at

    def _look_back(self) -> None:
        """Take the spread from what was seen so far, and place all of it in the grids."""
        seen = self._after[: self._steps].astype(np.float64)
        self._spread = np.maximum(2 * seen.std(0), LEAST_SPREAD)
        self._place_memory()
        self._error[: self._steps] = np.abs(self._reward[: self._steps])

    def _place_memory(self) -> None:
        for at in range(min(self._steps, CAPACITY)):
            self._from[at], self._to[at] = self._find(self._before[at]), self._find(self._after[at])

    def _places(self, state: Vector) -> Places:
        if self._seen[0] is not state:
            self._seen = (state, self._find(state))
        return self._seen[1]

    def _find(self, state: Vector) -> Places:
        wide = state.astype(np.float64)
        return self._grids.places_of(wide / (self._spread + np.abs(wide)))

    def _replay(self, rate: float) -> None:
        """Learn again from steps with a large error that were seldom looked at: of two that are drawn, from one."""
        known, draw = min(self._steps, CAPACITY), self._dice.random
        drawn = np.array([int(draw() * known) for _ in range(2 * self._replays)]).reshape(2, -1)
        worth = np.abs(self._error[drawn]) / (1 + self._visits[drawn])
        at = np.where(worth[0] >= worth[1], drawn[0], drawn[1])
        here, command = self._from[at], self._command[at][:, None]
        ahead = self._weights[:, self._to[at]].sum(2).max(0)
        target = self._reward[at] + self._gamma * np.where(self._ended[at], 0.0, ahead)
        error = target - self._weights[command, here].sum(1)
        self._weights[command, here] += rate * error[:, None]
        self._error[at] = error
        self._visits[at] += 1

    def save(self) -> dict[str, Any]:
        """Return all that was learnt as JSON-safe data."""
        known = min(self._steps, CAPACITY)
        places = np.flatnonzero(self._weights.any(axis=0))
        return {
            "steps": self._steps,
            "spread": None if self._spread is None else _text(self._spread),
            "places": _text(places.astype(np.int32)),
            "weights": _text(self._weights[:, places]),
            "memory": [_text(column[:known]) for column in self._columns()],
        }

    def load(self, saved: dict[str, Any]) -> None:
        """Return to what was learnt then."""
        self._steps = saved["steps"]
        self._spread = None if saved["spread"] is None else _array(saved["spread"], np.float64)
        places = _array(saved["places"], np.int32)
        self._weights[:] = 0
        self._weights[:, places] = _array(saved["weights"], np.float64).reshape(self._commands, -1)
        self._clear_memory()
        known = min(self._steps, CAPACITY)
        for column, text in zip(self._columns(), saved["memory"], strict=True):
            column[:known] = _array(text, column.dtype).reshape(column[:known].shape)
        self._seen = (None, self._seen[1])
        if self._spread is not None:
            self._place_memory()

    def _columns(self) -> tuple[NDArray[Any], ...]:
        return (self._before, self._after, self._command, self._reward, self._ended, self._error, self._visits)


def _text(array: NDArray[Any]) -> str:
    return b64encode(np.ascontiguousarray(array).tobytes()).decode()


def _array(text: str, kind: Any) -> NDArray[Any]:
    return np.frombuffer(b64decode(text), kind)
