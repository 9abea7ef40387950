"""Values of commands in a table, for observations that can be told apart one by one."""

from __future__ import annotations

from collections.abc import Hashable
from heapq import heapify, heappop, heappush
from typing import Any, NamedTuple, TypeAlias

from gymnasium import Space, spaces

State: TypeAlias = Hashable
Pair: TypeAlias = tuple[State, int]
Due: TypeAlias = tuple[float, int, State, int]
"""A priority, the smaller the sooner, a number that tells it from others, and the pair."""
SMALLEST = 1e-3  # a difference that is not worth another look


class Lesson(NamedTuple):
    """What one step taught."""

    td_error: float
    q_delta: float
    visits: int
    """How often this command was tried in this state."""


class TableLearner:
    """Q-learning over every state that was seen, with a memory of what came of each command.

    A replay takes the pair of state and command with the largest error and gives it the mean of all that came of it,
    weighted by how often it did; then the pairs that lead there are due.
    """

    def __init__(self, commands: int, gamma: float, replays: int) -> None:
        self._commands = commands
        self._gamma = gamma
        self._replays = replays
        self._q: dict[State, list[float]] = {}
        self._visits: dict[State, list[int]] = {}
        self._memory: dict[tuple[State, int, float, State, bool], int] = {}
        self._outcomes: dict[Pair, dict[tuple[float, State, bool], int]] = {}
        self._leads_to: dict[State, dict[Pair, None]] = {}
        self._due: list[Due] = []
        self._wanted: dict[Pair, Due] = {}
        self._pushed = 0

    def see(self, observation: Any) -> State:
        """Return an observation as what stands in the table."""
        return observation if type(observation) is int else _plain(observation)

    def values(self, state: State) -> list[float]:
        """Return what each command is worth in a state; nothing where nothing is known."""
        return self._q.get(state) or [0.0] * self._commands

    def knows(self, state: State) -> bool:
        """Whether something was tried in a state."""
        return state in self._q

    def another(self, state: State, draw: float) -> int:
        """Return any command, or, every other time, the one that was tried least."""
        drawn = int(draw * 2 * self._commands)
        if drawn < self._commands:
            return drawn
        visits = self._visits.get(state)
        return drawn - self._commands if visits is None else visits.index(min(visits))

    def best(self, state: State) -> int:
        """Return the command that is worth most; of several, the one that was tried least."""
        values = self._q.get(state)
        if values is None:
            return 0
        most = max(values)
        if values.count(most) == 1:
            return values.index(most)
        visits = self._visits[state]
        return min((visits[command], command) for command, value in enumerate(values) if value == most)[1]

    def learn(self, state: State, command: int, reward: float, then: State, ended: bool, alpha: float) -> Lesson:
        """Learn from one step, then from the most instructive of those before."""
        values = self._q.get(state)
        if values is None:
            values = self._q[state] = [0.0] * self._commands
            self._visits[state] = [0] * self._commands
        self._visits[state][command] += 1
        self._remember(state, command, reward, then, ended)
        ahead = self._q.get(then)
        target = reward if ended or ahead is None else reward + self._gamma * max(ahead)
        before = values[command]
        error = target - before
        values[command] = before + alpha * error
        if self._replays:
            self._want((state, command), abs(error))
            self._replay()
        return Lesson(error, values[command] - before, self._visits[state][command])

    def _remember(self, state: State, command: int, reward: float, then: State, ended: bool) -> None:
        key = (state, command, reward, then, ended)
        count = self._memory[key] = self._memory.get(key, 0) + 1
        pair = (state, command)
        if count == 1:
            self._leads_to.setdefault(then, {})[pair] = None
            self._outcomes.setdefault(pair, {})
        self._outcomes[pair][reward, then, ended] = count

    def _want(self, pair: Pair, priority: float) -> None:
        known = self._wanted.get(pair)
        if priority > SMALLEST and (known is None or -priority < known[0]):
            self._pushed += 1
            due = self._wanted[pair] = (-priority, self._pushed, *pair)
            heappush(self._due, due)

    def _replay(self) -> None:
        left = self._replays
        while left and self._due:
            due = heappop(self._due)
            _, _, state, command = due
            pair = (state, command)
            if self._wanted.get(pair) != due:
                continue  # it was wanted more, and had its turn
            del self._wanted[pair]
            left -= 1
            values = self._q[state]
            before = max(values)
            values[command] = self._mean(pair)
            change = abs(max(values) - before)
            if change > SMALLEST:
                for earlier in self._leads_to.get(state, ()):
                    self._want(earlier, self._gamma * change)

    def _mean(self, pair: Pair) -> float:
        total, count = 0.0, 0
        for (reward, then, ended), times in self._outcomes[pair].items():
            ahead = None if ended else self._q.get(then)
            total += times * (reward if ahead is None else reward + self._gamma * max(ahead))
            count += times
        return total / count

    def save(self) -> dict[str, Any]:
        """Return all that was learnt as JSON-safe data."""
        return {
            "values": [(state, tuple(values)) for state, values in self._q.items()],
            "memory": [(*step, count) for step, count in self._memory.items()],
            "due": sorted(self._wanted.values()),
            "pushed": self._pushed,
        }

    def load(self, saved: dict[str, Any]) -> None:
        """Return to what was learnt then."""
        self.__init__(self._commands, self._gamma, self._replays)  # type: ignore[misc]
        for state, values in saved["values"]:
            self._q[_plain(state)] = list(values)
            self._visits[_plain(state)] = [0] * self._commands
        for state, command, reward, then, ended, count in saved["memory"]:
            self._visits[_plain(state)][command] += count
            self._remember(_plain(state), command, reward, _plain(then), ended)
            self._memory[_plain(state), command, reward, _plain(then), ended] = count
            self._outcomes[_plain(state), command][reward, _plain(then), ended] = count
        self._pushed = saved["pushed"]
        self._due = [(priority, number, _plain(state), command) for priority, number, state, command in saved["due"]]
        heapify(self._due)
        self._wanted = {(due[2], due[3]): due for due in self._due}


def _plain(value: Any) -> State:
    """Return what was seen, or read from JSON, as something that a table can be asked for."""
    if isinstance(value, list | tuple):
        return tuple(map(_plain, value))
    return _plain(value.tolist()) if hasattr(value, "tolist") else value


def is_countable(space: Space[Any]) -> bool:
    """Whether the observations of a space can be told apart one by one."""
    if isinstance(space, spaces.Tuple):
        return all(map(is_countable, space.spaces))
    return isinstance(space, spaces.Discrete | spaces.MultiDiscrete | spaces.MultiBinary)
