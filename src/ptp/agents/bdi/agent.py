"""An agent that explores or exploits as its intention says, and learns what commands are worth."""

from __future__ import annotations

import math
from pathlib import Path
from random import Random
from typing import Any, ClassVar, Protocol

import msgspec
from gymnasium import spaces

from ptp.agents.bdi.mind import Beliefs, Intention, Schedule
from ptp.agents.bdi.table import Lesson, TableLearner, is_countable
from ptp.agents.bdi.tiles import TileLearner
from ptp.agents.contract import Agent, AgentSetup, Decision, Observation
from ptp.errors import AgentError
from ptp.records import EpisodeLearnt, Transition
from ptp.worlds import Outcome, WorldView

MOST_NUMBERS = 16  # of an observation that tiles can cover


class Learner(Protocol):
    """What learns the worth of commands."""

    def see(self, observation: Any) -> Any: ...  # noqa: D102
    def knows(self, state: Any) -> bool: ...  # noqa: D102
    def values(self, state: Any) -> list[float]: ...  # noqa: D102
    def best(self, state: Any) -> int: ...  # noqa: D102
    def another(self, state: Any, draw: float) -> int: ...  # noqa: D102
    def learn(self, state: Any, command: int, reward: float, then: Any, ended: bool, alpha: float) -> Lesson: ...  # noqa: D102
    def save(self) -> dict[str, Any]: ...  # noqa: D102
    def load(self, saved: dict[str, Any]) -> None: ...  # noqa: D102


class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the learner can be told; what is left out suits its kind of observations."""

    gamma: float | None = None
    epsilon: float | None = None
    epsilon_decay: float | None = None
    epsilon_end: float | None = None
    alpha: float | None = None
    alpha_decay: float | None = None
    alpha_end: float | None = None
    replays: int | None = None
    commitment: int = 1
    greedy: bool = False
    learnt: str | None = None


class Knobs(msgspec.Struct, frozen=True):
    """How fast it learns and how much it explores."""

    gamma: float
    epsilon: Schedule
    alpha: Schedule
    replays: int

    def changed(self, options: Options) -> Knobs:
        """Return them as options change them."""
        given = {name: value for name, value in msgspec.structs.asdict(options).items() if value is not None}
        return Knobs(
            given.get("gamma", self.gamma),
            self.epsilon.changed(given, "epsilon"),
            self.alpha.changed(given, "alpha"),
            given.get("replays", self.replays),
        )


TABLE = Knobs(0.99, Schedule(0.5, 0.99, 0.0), Schedule(0.5, 0.999, 0.05), replays=2)
TILES = Knobs(0.99, Schedule(0.2, 0.98, 0.0), Schedule(0.3, 0.99, 0.03), replays=8)


class BDIQAgent(Agent):
    """Learns by itself: Q-learning with prioritised replay, in a table or over tiles."""

    name = "bdi"
    repeatable = True
    Options: ClassVar[type[msgspec.Struct]] = Options

    def __init__(self, world: WorldView, setup: AgentSetup) -> None:
        super().__init__(world, setup)
        seen, taken, options = world.observation_space, world.action_space, setup.options
        if not isinstance(taken, spaces.Discrete) or not (is_countable(seen) or _is_vector(seen)):
            raise AgentError(
                f"agent 'bdi' can't learn {world.facts.name}: it needs commands that are numbers, and observations "
                f"that are numbers or up to {MOST_NUMBERS} of them, not {taken} and {seen}; use another agent"
            )
        self._dice = Random(setup.seed)
        self._first, count = int(taken.start), int(taken.n)
        self._learner: Learner
        if is_countable(seen):
            knobs = TABLE.changed(options)
            self._learner = TableLearner(count, knobs.gamma, knobs.replays)
        else:
            knobs = TILES.changed(options)
            self._learner = TileLearner(count, knobs.gamma, knobs.replays, math.prod(seen.shape or ()), self._dice)
        self._epsilons, self._alphas = knobs.epsilon, knobs.alpha
        self._greedy = options.greedy
        self._beliefs = Beliefs()
        self._intention = Intention(self._dice, options.commitment)
        self._names = dict(enumerate(world.facts.commands))
        self._state: Any = None
        self._choice: int | None = None
        self._tick = self._episode = self._steps = 0
        self._error = 0.0
        if options.learnt is not None:
            self._read(Path(options.learnt))
        self._set_rates()

    def _set_rates(self) -> None:
        episodes = self._beliefs.episodes
        self._epsilon = 0.0 if self._greedy else self._epsilons.at(episodes)
        self._alpha = self._alphas.at(episodes)

    def decide(self, observation: Observation) -> Decision:
        """Reconsider the intention, and return the command that serves it."""
        if self._state is None:
            self._state = self._learner.see(observation.value)
        state, learner, intention = self._state, self._learner, self._intention
        self._tick, self._episode = observation.tick + 1, observation.episode
        known = self._greedy or learner.knows(state)
        why = intention.reconsider(self._epsilon, known)
        if intention.desire == "explore":
            command = self._choice = learner.another(state, self._dice.random())
            worth = "to see what comes of it"
        else:
            command = self._choice = learner.best(state)
            worth = f"worth {learner.values(state)[command]:.4g}"
        said = f"{intention.desire}: {self._names.get(command, command)}, {worth}"
        if why is None:
            return Decision((command + self._first,), reasoning=f"{said}; intention kept")
        return Decision(
            (command + self._first,), reasoning=f"{said}; intention taken up, since {why}", context=self._context(why)
        )

    def _context(self, why: str) -> dict[str, Any]:
        """Return the mind at a change of intention."""
        beliefs, epsilon = self._beliefs, self._epsilon
        return {
            "intention": self._intention.desire,
            "why": why,
            "desires": {"explore": epsilon, "exploit": 1.0 - epsilon},
            "beliefs": {"episodes": beliefs.episodes, "best_return": beliefs.best},
        }

    def on_step(self, outcome: Outcome) -> Transition | None:
        """Learn from what the command did."""
        command, before, self._choice = self._choice, self._state, None
        if command is None:  # somebody else gave it
            self._state = None
            return None
        then = self._state = self._learner.see(outcome.observation)
        self._steps += 1
        if self._greedy:
            return None
        reward, ended = outcome.reward, outcome.terminated
        lesson = self._learner.learn(before, command, reward, then, ended, self._alpha)
        self._error += abs(lesson.td_error)
        return Transition(
            self._tick, self._episode, _data(before), command + self._first, reward, _data(then), ended, *lesson
        )

    def on_episode_end(self, episode: int, total_reward: float) -> EpisodeLearnt | None:
        """Take the episode into the beliefs, and drop the intention."""
        error, beliefs = self._error / max(self._steps, 1), self._beliefs
        beliefs.note(total_reward, error)
        recent = beliefs.recent
        learnt = EpisodeLearnt(
            episode, self._tick, self._steps, total_reward, self._epsilon, self._alpha, error,
            beliefs.convergence(error), sum(recent) / len(recent), sum(it > 0 for it in recent) / len(recent),
            self._intention.taken_up,
        )  # fmt: skip
        self._intention.drop()
        self._state, self._steps, self._error = None, 0, 0.0
        self._set_rates()
        return None if self._greedy else learnt

    def save(self) -> dict[str, Any]:
        """Return everything it has learnt and set out to do."""
        return {
            "random": self._dice.getstate(),
            "learner": self._learner.save(),
            "beliefs": msgspec.to_builtins(self._beliefs),
            "intention": self._intention.save(),
            "choice": None if self._choice is None else (_data(self._state), self._choice),
            "episode": (self._tick, self._episode, self._steps, self._error),
        }

    def load(self, state: dict[str, Any]) -> None:
        """Return to a saved mind."""
        version, numbers, rest = state["random"]
        self._dice.setstate((version, tuple(numbers), rest))
        self._know(state)
        self._intention.load(state["intention"])
        seen, self._choice = state["choice"] or (None, None)
        self._state = None if seen is None else self._learner.see(seen)
        self._tick, self._episode, self._steps, self._error = state["episode"]

    def _know(self, state: dict[str, Any]) -> None:
        self._learner.load(state["learner"])
        self._beliefs = msgspec.convert(state["beliefs"], Beliefs)
        self._set_rates()

    def _read(self, path: Path) -> None:
        """Begin with what another run has learnt."""
        try:
            self._know(msgspec.json.decode(path.read_bytes()))
        except (OSError, msgspec.MsgspecError, KeyError, ValueError, TypeError) as problem:
            raise AgentError(f"agent option learnt={path} can't be read: {problem!r:.200}; see `ptp eval`") from None


def _data(state: Any) -> Any:
    return state if type(state) is int else state.tolist() if hasattr(state, "tolist") else state


def _is_vector(space: Any) -> bool:
    return isinstance(space, spaces.Box) and 0 < math.prod(space.shape) <= MOST_NUMBERS
