"""The engine: one command at a time, from the agent's mind to the world and back as records."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ptp._util.clock import Clock
from ptp._util.ids import derive_seed
from ptp.agents import Agent, Decision, Observation
from ptp.config import RunConfig
from ptp.engine.buffer import Buffer, Queued
from ptp.engine.decisions import OpenDecision, load_decision
from ptp.engine.ending import Ending
from ptp.engine.limits import Progress
from ptp.engine.pacing import Pace
from ptp.engine.records import EpisodeEnded, Happened, Level, Notice, Record, Step
from ptp.errors import AgentError, BadCommand
from ptp.records import Stop
from ptp.worlds import World

NAP = 0.02  # seconds between two looks at an agent that is still thinking
BAD_COMMANDS = 3  # commands the world does not know, in a row, before the run fails


class Engine:
    """Applies one command per `tick` and returns the records of what happened; it does no I/O."""

    def __init__(self, world: World, agent: Agent, config: RunConfig, clock: Clock, seed: int) -> None:
        self.world = world
        self.agent = agent
        self.seed = seed
        self.clock = clock
        self._now = clock.monotonic
        self.pace = Pace(config.tick_rate, clock)
        self.ending = Ending(config, world.facts, clock)
        self.buffer = Buffer(config.command)
        self.progress = Progress()
        self.stop: Stop | None = None
        self.before_reset: Callable[[Sequence[Record], bool], None] = lambda records, battle: None
        """Called with the last records of an episode while the world still shows its end."""
        self._interrupt_battle = config.command.interrupt_battle
        self._open: OpenDecision | None = None
        self._decisions = 0
        self._asked: float | None = None
        self._idle = 0.0
        self._bad = 0
        self._started = self._last_tick = clock.monotonic()
        self._last_hash = ""
        self.state: Any = None
        self._begin_episode()

    # -- one tick ----------------------------------------------------------------------------------------------

    def tick(self) -> list[Record]:
        """Apply one command to the world and return what happened; nothing while the agent still thinks."""
        records: list[Record] = []
        queued = self._next(records)
        if queued is not None:
            self._apply(queued, records)
        if self._open is not None:
            self._report(self._open, records)
        self.progress.elapsed = self._now() - self._started
        self._check_end(records)
        return records

    def check(self) -> list[Record]:
        """Look whether the run is over before it goes on, as one that is resumed may be."""
        records: list[Record] = []
        self._check_end(records)
        return records

    def _next(self, records: list[Record]) -> Queued | None:
        if not len(self.buffer):
            may_ask = self._asked is not None or self.ending.allows_decisions
            if not may_ask or not self._ask():
                return None
        now = self._now()
        queued, dropped = self.buffer.take(now, self._context)
        for drop in dropped:
            self._drop(1, drop.kind, drop.message, "warning", records)
        if queued is not None and now - queued.since > self.buffer.stale:
            self._notice("warning", "command_stale", f"a command waited {now - queued.since:.1f} s", records)
        return queued

    def _ask(self) -> bool:
        """Ask the agent; False while it thinks or when it has finished."""
        began = self._now()
        if self._asked is None:
            self._asked = began
        try:
            decision = self.agent.decide(self.look())
        except Exception as problem:
            raise AgentError(f"the agent failed to decide at tick {self.progress.ticks}: {problem!r}") from problem
        if decision is None:
            self.clock.sleep(NAP)
        now = self._now()
        self._last_tick += now - began  # thinking is not play: it does not count towards the timeout
        if decision is None:
            return False
        latency_ms = (now - self._asked) * 1000
        self._asked = None
        return self._accept(decision, now, latency_ms)

    def look(self) -> Observation:
        """Return what the agent is shown now."""
        return Observation(self.observation, self.state, self.progress.ticks, self.episode, self.step)

    def _accept(self, decision: Decision, now: float, latency_ms: float) -> bool:
        if not decision.commands:
            self.stop = Stop("finished", "agent", "the agent has finished")
            return False
        self.pace.heard(latency_ms)
        if decision.cost:
            self.progress.cost += decision.cost
            self.ending.budget.spend(decision.cost)
        number, commands = self._decisions, decision.commands
        made = (decision, self.clock.time(), self.progress.ticks, self.state, latency_ms)
        self._open = OpenDecision(number, now, len(commands), len(commands), made)
        self._decisions += 1
        self.buffer.offer(commands, self._context, number, now)
        return True

    def _apply(self, queued: Queued, records: list[Record], paced: bool = True) -> None:
        try:
            text = self.world.encode(queued.command)
        except BadCommand as problem:
            self._refuse(problem, records)
            return
        self._bad = 0
        progress = self.progress
        was_in_battle = progress.signals.engaged
        if paced and self.pace.limited:
            self.pace.wait(self.pace.target(was_in_battle, self.ending.over_budget))
        outcome = self.world.step(queued.command)
        reward, terminated, truncated = outcome.reward, outcome.terminated, outcome.truncated
        tick = progress.ticks = progress.ticks + 1
        self.step += 1
        progress.reward += reward
        self.episode_reward += reward
        self.observation = outcome.observation
        state_hash = self.world.state_hash(outcome.observation, reward, terminated, truncated)
        now = self._now()
        before = self.state
        self._read_state()
        records.append(
            Step(
                tick, self.episode, self.step, text, reward, terminated, truncated, now - self._started, state_hash,
                None if self.state == before else self.state,
            )
        )  # fmt: skip
        if self.world.events:
            at = self.clock.time()
            records.extend(Happened(at, tick, index, event.detail) for index, event in enumerate(self.world.events))
        self.buffer.history.append((tick, text))
        if self._open is not None:
            self._open.left -= 1
        self._watch_change(state_hash, now)
        self.agent.on_step(outcome)
        if progress.signals.engaged and not was_in_battle and self._interrupt_battle:
            self._clear("battle_started", "a battle started", records)
        if terminated or truncated:
            self._end_episode(terminated, now, records)

    def _read_state(self) -> None:
        """Read the state the world is in now."""
        self.state = self.world.state(self.observation)
        self._context = self.world.context()
        self.progress.signals = self.world.signals()

    def _watch_change(self, state_hash: str, now: float) -> None:
        if state_hash == self._last_hash:
            self._idle += now - self._last_tick
        else:
            self._idle = 0.0
        self._last_hash = state_hash
        self._last_tick = now

    # -- episodes ----------------------------------------------------------------------------------------------

    @property
    def episode(self) -> int:
        """The number of the present episode, from 1."""
        return self.progress.episodes + 1

    def _begin_episode(self) -> None:
        self.step = 0
        self.episode_reward = 0.0
        self.observation = self.world.reset(derive_seed(self.seed, "episode", self.episode))
        self._read_state()

    def _end_episode(self, terminated: bool, now: float, records: list[Record]) -> None:
        elapsed, reward = now - self._started, self.episode_reward
        records.append(EpisodeEnded(self.episode, self.progress.ticks, self.step, reward, elapsed, terminated))
        self._clear("episode_ended", "the episode ended", records)
        self.agent.on_episode_end(self.episode, reward)
        self.progress.episodes += 1
        self.progress.last_reward = reward
        self.before_reset(records, self.progress.signals.engaged)
        self._begin_episode()

    # -- commands that are not applied -------------------------------------------------------------------------

    def _refuse(self, problem: BadCommand, records: list[Record]) -> None:
        self._bad += 1
        self._drop(1, "bad_command", str(problem), "error", records)
        if self._bad >= BAD_COMMANDS:
            raise AgentError(f"the agent gave {BAD_COMMANDS} commands in a row that the world does not take: {problem}")

    def _clear(self, kind: str, why: str, records: list[Record]) -> None:
        waiting = len(self.buffer.clear())
        if waiting:
            self._drop(waiting, kind, f"{why}, cleared {waiting} queued commands", "info", records)

    def _drop(self, commands: int, kind: str, message: str, level: Level, records: list[Record]) -> None:
        if self._open is not None:
            self._open.drop(commands, message)
        self._notice(level, kind, message, records)

    def _notice(self, level: Level, kind: str, message: str, records: list[Record]) -> None:
        records.append(Notice(self.clock.time(), self.progress.ticks, level, kind, message))

    def _report(self, decision: OpenDecision, records: list[Record]) -> None:
        record = decision.report(self._now())
        if record is not None:
            records.append(record)
        if not decision.left:
            self._open = None

    def _check_end(self, records: list[Record]) -> None:
        if self.stop is not None:
            return
        busy = self._asked is not None or len(self.buffer) > 0
        self.stop, remarks = self.ending.check(self.progress, self._idle, busy)
        for level, kind, message in remarks:
            self._notice(level, kind, message, records)

    # -- from outside ------------------------------------------------------------------------------------------

    def reconfigure(self, config: RunConfig) -> None:
        """Take over tick rates, limits and command settings while the run goes on."""
        spent = self.ending.budget.save()
        self.pace.configure(config.tick_rate)
        self.ending = Ending(config, self.world.facts, self.clock)
        self.ending.budget.load(spent)
        self.buffer.configure(config.command)
        self._interrupt_battle = config.command.interrupt_battle

    def skip(self, seconds: float) -> None:
        """Let a pause not count: neither as time played nor as time waited."""
        self._started += seconds
        self._last_tick += seconds
        self.buffer.skip(seconds)

    # -- going back --------------------------------------------------------------------------------------------

    def save(self) -> dict[str, Any]:
        """Return the engine's own state as JSON-safe data; world and agent save theirs."""
        now = self._now()
        return {
            "ticks": self.progress.ticks,
            "episodes": self.progress.episodes,
            "step": self.step,
            "reward": self.progress.reward,
            "last_reward": self.progress.last_reward,
            "episode_reward": self.episode_reward,
            "cost": self.progress.cost,
            "elapsed": now - self._started,
            "decisions": self._decisions,
            "idle": self._idle,
            "last_hash": self._last_hash,
            "budget": self.ending.budget.save(),
            "buffer": self.buffer.save(self.world.encode, now),
            "open": None if self._open is None else self._open.save(now),
        }

    def load(self, state: dict[str, Any], observation: Any) -> None:
        """Go on from a saved state, in a world that was brought there and shows *observation*.

        What was spent stays spent: cost, budget, time and the numbers of decisions are only ever raised.
        """
        now, progress = self._now(), self.progress
        progress.ticks, progress.episodes = state["ticks"], state["episodes"]
        progress.reward, progress.last_reward = state["reward"], state["last_reward"]
        self.step, self.episode_reward = state["step"], state["episode_reward"]
        if state["cost"] > progress.cost:
            progress.cost = state["cost"]
            self.ending.budget.load(state["budget"])
        self._started = min(self._started, now - state["elapsed"])
        self._decisions = max(self._decisions, state["decisions"])
        self._idle, self._last_hash, self._last_tick = state["idle"], state["last_hash"], now
        self.buffer.load(state["buffer"], self.world.decode, now)
        self._open = None if state["open"] is None else load_decision(state["open"], now)
        self._asked = None
        self.stop = None
        self.observation = observation
        self._read_state()

    def follow(self, text: str, ask: bool) -> str:
        """Apply a command of the tape again, unpaced and unrecorded, and return the state's hash.

        With *ask* the agent decides too, so that it comes to the same mind; its answer is on the tape already.
        """
        if ask:
            self.agent.decide(self.look())
        self._apply(Queued(self.world.decode(text), self._context, self._now(), 0), [], paced=False)
        return self._last_hash

    def raise_spending(self, cost: float, decisions: int, elapsed: float) -> None:
        """Count what an earlier process has spent on this run."""
        self.progress.cost = max(self.progress.cost, cost)
        self._decisions = max(self._decisions, decisions)
        self._started = min(self._started, self._now() - elapsed)
        self.progress.elapsed = self._now() - self._started
