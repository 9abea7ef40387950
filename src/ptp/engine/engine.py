"""The engine: one command at a time, from the agent's mind to the world and back as records."""

from __future__ import annotations

from typing import Any

import msgspec

from ptp._util.clock import Clock
from ptp._util.ids import derive_seed
from ptp.agents import Agent, Decision, Observation
from ptp.config import RunConfig
from ptp.engine.budget import Budget
from ptp.engine.buffer import Buffer, Queued
from ptp.engine.limits import Limits, Progress, Stop
from ptp.engine.pacing import Pace
from ptp.engine.records import DecisionEnded, DecisionMade, EpisodeEnded, Notice, Record, Status, Step
from ptp.errors import AgentError, BadCommand
from ptp.worlds import World

NAP = 0.02  # seconds between two looks at an agent that is still thinking
BAD_COMMANDS = 3  # commands the world does not know, in a row, before the run fails

_json = msgspec.json.Encoder().encode


class _Open(msgspec.Struct):
    """A decision whose commands are not all applied or dropped yet."""

    number: int
    at: float
    tick: int
    state: str
    decision: Decision
    latency_ms: float
    began: float
    left: int
    dropped: int = 0
    error: str | None = None
    recorded: bool = False

    @property
    def status(self) -> Status:
        if self.left:
            return "pending"
        if not self.dropped:
            return "success"
        return "failed" if self.dropped == len(self.decision.commands) else "partial"


class Engine:
    """Applies one command per `tick` and returns the records of what happened; it does no I/O."""

    def __init__(self, world: World, agent: Agent, config: RunConfig, clock: Clock, seed: int) -> None:
        self.world = world
        self.agent = agent
        self.seed = seed
        self.clock = clock
        self._now = clock.monotonic
        self.pace = Pace(config.tick_rate, clock)
        self.budget = Budget(config.tick_rate, clock)
        self.buffer = Buffer(config.command)
        self.limits = Limits(config.limits, world.facts)
        self.progress = Progress()
        self.stop: Stop | None = None
        self._timeout = config.tick_rate.timeout
        self._grace = config.limits.grace_period
        self._interrupt_battle = config.command.interrupt_battle
        self._ending: tuple[Stop, float] | None = None  # the limit reached, and when grace ends
        self._over_budget = False
        self._has_soft = self.limits.has_soft or self.budget.limit is not None
        self._open: _Open | None = None
        self._decisions = 0
        self._asked: float | None = None
        self._idle = 0.0
        self._bad = 0
        self._started = clock.monotonic()
        self._last_tick = self._started
        self._last_hash = ""
        self._step = 0
        self._episode_reward = 0.0
        self._begin_episode()

    # -- one tick ----------------------------------------------------------------------------------------------

    def tick(self) -> list[Record]:
        """Apply one command to the world and return what happened; nothing while the agent still thinks."""
        records: list[Record] = []
        queued = self._next(records)
        if queued is not None:
            self._apply(queued, records)
        if self._open is not None:
            self._report_decision(self._open, records)
        self.progress.elapsed = self._now() - self._started
        self._check_ends(records)
        return records

    def _next(self, records: list[Record]) -> Queued | None:
        if not len(self.buffer) and ((self._is_ending and self._asked is None) or not self._ask()):
            return None
        now = self._now()
        queued, dropped = self.buffer.take(now, self._context)
        for drop in dropped:
            self._drop(drop.kind, drop.message, records)
        if queued is not None and self.buffer.is_stale(queued, now):
            self._notice(records, "warning", "command_stale", f"a command waited {now - queued.since:.1f} s")
        return queued

    def _ask(self) -> bool:
        """Ask the agent; False while it thinks or when it has finished."""
        began = self._now()
        if self._asked is None:
            self._asked = began
        observation = Observation(self.observation, self.state, self.progress.ticks, self.episode, self._step)
        try:
            decision = self.agent.decide(observation)
        except Exception as problem:
            raise AgentError(f"the agent failed to decide at tick {self.progress.ticks}: {problem!r}") from problem
        now = self._now()
        if decision is None:
            self.clock.sleep(NAP)
            self._last_tick += self._now() - began
            return False
        self._last_tick += now - began  # thinking is not play: it does not count towards the timeout
        self._accept(decision, now, (now - self._asked) * 1000)
        self._asked = None
        return bool(decision.commands)

    def _accept(self, decision: Decision, now: float, latency_ms: float) -> None:
        if not decision.commands:
            self.stop = Stop("finished", "agent", "the agent has finished")
            return
        self.pace.heard(latency_ms)
        if decision.cost:
            self.progress.cost += decision.cost
            self.budget.spend(decision.cost)
        self._open = _Open(
            self._decisions, self.clock.time(), self.progress.ticks, self._state_text, decision, latency_ms, now,
            left=len(decision.commands),
        )  # fmt: skip
        self._decisions += 1
        self.buffer.offer(decision.commands, self._context, self._open.number, now)

    def _apply(self, queued: Queued, records: list[Record]) -> None:
        try:
            text = self.world.encode(queued.command)
        except BadCommand as problem:
            self._refuse(problem, records)
            return
        self._bad = 0
        signals = self.progress.signals
        self.pace.wait(self.pace.target(signals.battle, self._over_budget))
        outcome = self.world.step(queued.command)
        progress = self.progress
        progress.ticks += 1
        self._step += 1
        progress.reward += outcome.reward
        self._episode_reward += outcome.reward
        self.observation = outcome.observation
        state_hash = self.world.state_hash(outcome.observation, outcome.reward, outcome.terminated, outcome.truncated)
        now = self._now()
        before = self._state_text
        self._look()
        records.append(
            Step(
                progress.ticks, self.episode, self._step, text, outcome.reward, outcome.terminated, outcome.truncated,
                now - self._started, state_hash, None if self._state_text == before else self._state_text,
            )
        )  # fmt: skip
        self.buffer.history.append((progress.ticks, text))
        if self._open is not None:
            self._open.left -= 1
        self._watch_change(state_hash, now)
        self.agent.on_step(outcome)
        if progress.signals.battle and not signals.battle and self._interrupt_battle:
            self._clear("battle_started", "a battle started", records)
        if outcome.terminated or outcome.truncated:
            self._end_episode(outcome.terminated, now, records)

    def _look(self) -> None:
        """Read the state the world is in now."""
        self.state = self.world.state(self.observation)
        self._state_text = _json(self.state).decode()
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
        self._step = 0
        self._episode_reward = 0.0
        self.observation = self.world.reset(derive_seed(self.seed, "episode", self.episode))
        self._look()

    def _end_episode(self, terminated: bool, now: float, records: list[Record]) -> None:
        elapsed = now - self._started
        reward = self._episode_reward
        records.append(EpisodeEnded(self.episode, self.progress.ticks, self._step, reward, elapsed, terminated))
        self._clear("episode_ended", "the episode ended", records)
        self.agent.on_episode_end(self.episode, reward)
        self.progress.episodes += 1
        self.progress.last_reward = reward
        if self.limits.hard(self.progress) is None:
            self._begin_episode()

    # -- commands that are not applied -------------------------------------------------------------------------

    def _refuse(self, problem: BadCommand, records: list[Record]) -> None:
        self._bad += 1
        self._drop("bad_command", str(problem), records, "error")
        if self._bad >= BAD_COMMANDS:
            raise AgentError(f"the agent gave {BAD_COMMANDS} commands in a row that the world does not take: {problem}")

    def _drop(self, kind: str, message: str, records: list[Record], level: str = "warning") -> None:
        if self._open is not None:
            self._open.left -= 1
            self._open.dropped += 1
            self._open.error = message
        self._notice(records, level, kind, message)

    def _clear(self, kind: str, why: str, records: list[Record]) -> None:
        waiting = self.buffer.clear()
        if waiting and self._open is not None:
            message = f"{why}, cleared {len(waiting)} queued commands"
            self._open.left -= len(waiting)
            self._open.dropped += len(waiting)
            self._open.error = message
            self._notice(records, "info", kind, message)

    def _notice(self, records: list[Record], level: Any, kind: str, message: str) -> None:
        records.append(Notice(self.clock.time(), self.progress.ticks, level, kind, message))

    def _report_decision(self, open_: _Open, records: list[Record]) -> None:
        status, finished = open_.status, not open_.left
        duration = (self._now() - open_.began) * 1000 if finished else None
        if not open_.recorded:
            decision = open_.decision
            context = None if decision.context is None else _json(decision.context).decode()
            records.append(
                DecisionMade(
                    open_.number, open_.at, open_.tick, open_.state, decision.type, context, decision.reasoning,
                    decision.confidence, open_.latency_ms, decision.tokens, decision.cost, decision.model, status,
                    open_.error, duration,
                )
            )  # fmt: skip
            open_.recorded = True
        elif duration is not None:
            records.append(DecisionEnded(open_.number, status, open_.error, duration))
        if finished:
            self._open = None

    # -- the end -----------------------------------------------------------------------------------------------

    def _check_ends(self, records: list[Record]) -> None:
        if self.stop is not None:
            return
        hard = self.limits.hard(self.progress)
        if hard is not None:
            self.stop = Stop("limit", hard, f"--{hard} reached")
        elif self._timeout and self._idle > self._timeout:
            self.stop = Stop("timeout", "tick-rate-timeout", f"no change of state for {self._timeout} s of play")
        elif self._ending is not None:
            self._finish_or_go_on()
        elif self._has_soft:
            self._check_soft(records)

    def _check_soft(self, records: list[Record]) -> None:
        soft = self.limits.soft(self.progress)
        over = self.budget.exceeded()
        if over and not self._over_budget:
            limit = f"${self.budget.limit:g} ({self.budget.mode})"
            self._notice(records, "warning", "budget_exceeded", f"the budget of {limit} is spent")
        self._over_budget = over
        if soft is not None:
            self._end_soon(Stop("limit", soft, f"--{soft} reached"), records)
        elif over:
            self._end_soon(Stop("budget", "tick-rate-budget-limit", "the budget is spent"), records)

    def _end_soon(self, stop: Stop, records: list[Record]) -> None:
        if not self._grace:
            self.stop = stop
            return
        self._ending = (stop, self._now() + self._grace)
        self._notice(records, "info", "limit_reached", f"{stop.message}, finishing the current decision")
        self._finish_or_go_on()

    def _finish_or_go_on(self) -> None:
        assert self._ending is not None
        stop, deadline = self._ending
        if stop.kind == "budget" and not self.budget.exceeded():
            self._ending, self._over_budget = None, False  # a new period began within the grace
            return
        idle = self._is_ending and self._asked is None and not len(self.buffer)
        if idle or self._now() >= deadline:
            self.stop = stop

    @property
    def _is_ending(self) -> bool:
        """Whether no new decision may begin; a spent budget leaves the whole grace for play."""
        return self._ending is not None and self._ending[0].kind != "budget"
