"""The engine: one command at a time, from the agent's mind to the world and back as records."""

from __future__ import annotations

from typing import Any

import msgspec

from ptp._util.clock import Clock
from ptp._util.loading import blame
from ptp.agents import Agent, Decision, Observation
from ptp.config import RunConfig
from ptp.engine.buffer import Buffer, Queued
from ptp.engine.decisions import OpenDecision, load_decision
from ptp.engine.ending import Ending
from ptp.engine.pacing import Pace
from ptp.engine.play import Play
from ptp.engine.state import EngineState
from ptp.errors import AgentError, BadCommand
from ptp.records import EpisodeBegan, Level, Notice, Record, Stop
from ptp.worlds import World

PATIENCE = 0.05  # seconds between two looks at limits and controls while the agent thinks; its answer ends them early
BAD_COMMANDS = 3  # commands the world does not know, in a row, before the run fails


class Engine:
    """Applies one command per `tick` and returns the records of what happened; it does no I/O."""

    def __init__(self, world: World, agent: Agent, config: RunConfig, clock: Clock, seed: int) -> None:
        self.play = Play(world, clock, seed)
        self.world = world
        self.agent = agent
        self._ahead = agent.ahead
        self._on_step = None if type(agent).on_step is Agent.on_step else agent.on_step
        self.clock = clock
        self.progress = self.play.progress
        self.pace = Pace(config, clock)
        self.ending = Ending(config, world.facts, clock)
        self.buffer = Buffer(config.command)
        self.stop: Stop | None = None
        self.checkpoints: tuple[str, ...] = ()
        """Names of the snapshots that the agent wants of this moment."""
        self._now = clock.monotonic
        self._frame = world.frame
        self._interrupt = config.command.interrupt_battle
        self._fight_from: str | None = None  # the context in which a fight began that the queue is not cleared for yet
        self._patience = config.agent.decision_timeout
        self._open: dict[int, OpenDecision] = {}
        self._decisions = 0
        self._asked: tuple[float, int, Any, str] | None = None  # when, at which tick, in which state and context
        self._idle = 0.0
        self._bad = 0
        self._failure: str | None = None  # of an agent that can't go on; raised once its records are handed over
        self._last_tick = self._now()

    # -- one tick ----------------------------------------------------------------------------------------------

    def start(self) -> list[Record]:
        """Begin the first episode of a new run, and look whether a resumed one is over before it continues."""
        records: list[Record] = []
        if self.play.over and not self.progress.ticks:
            records.append(self._begin())
        self._check_end(records)
        return records

    def tick(self) -> list[Record]:
        """Apply one command to the world and return what happened; nothing while the agent still thinks."""
        records: list[Record] = []
        play = self.play
        self.checkpoints = ()
        if self._failure is not None:
            raise AgentError(self._failure)
        if play.over:
            records.append(self._begin())
        queued = self._next(records)
        if queued is not None:
            self._apply(queued, records)
        if self._open:
            self._report(records)
        self.progress.elapsed = (self._now() if queued is None else play.noted) - play.started
        self._check_end(records)
        return records

    def _begin(self) -> EpisodeBegan:
        return self.play.begin(self.play.next_seed())

    def _next(self, records: list[Record]) -> Queued | None:
        queue, now = self.buffer.queue, self._now()
        wanted = not queue or (self._ahead and len(self.buffer) <= self._ahead)
        if wanted and (self._asked is not None or self.ending.allows_decisions):
            now = self._ask(now, records, ahead=bool(queue))
        if not queue or self.checkpoints:  # a snapshot is taken before the command is applied
            return None
        if self.buffer.validate:
            removed, warnings = self.buffer.doubt(self.play.context)
            for drop in removed:
                self._drop(drop.queued.decision, drop.kind, drop.message, "warning", records)
            for message in warnings:
                self._notice("warning", "command_doubtful", message, records)
            if not self.buffer.queue:
                return None
        queued, dropped = self.buffer.take(now)
        for drop in dropped:
            self._drop(drop.queued.decision, drop.kind, drop.message, "warning", records)
        if queued is not None and now - queued.since > self.buffer.stale:
            self._notice("warning", "command_stale", f"a command waited {now - queued.since:.1f} s", records)
        return queued

    def _ask(self, began: float, records: list[Record], ahead: bool) -> float:
        """Ask the agent, and return the time then; with commands still waiting, don't wait for a slow one."""
        if self._asked is None:
            self._asked = (began, self.progress.ticks, self.play.state, self.play.context)
        try:
            decision = self.agent.decide(self.look())
        except Exception as problem:
            raise AgentError(f"the agent failed to decide at tick {self.progress.ticks}: {blame(problem)}") from problem
        if self.agent.slow:
            for late in self.agent.late():
                self._book_late(late, records)
        if decision is None and not ahead:
            self.clock.sleep(PATIENCE)
            self._check_patience()
        now = self._now()
        if not ahead:
            self._last_tick += now - began  # thinking is not play: it does not count towards the timeout
        if decision is not None:
            self._accept(decision, now, records)
        return now

    def _check_patience(self) -> None:
        """End the run when one decision takes too long: a model call that hangs would hang the run."""
        assert self._asked is not None
        if self._patience and self._now() - self._asked[0] > self._patience:
            message = f"the agent took longer than {self._patience} s for one decision; see --decision-timeout"
            self.stop = Stop("timeout", "decision-timeout", message)

    def look(self) -> Observation:
        """Return what the agent is shown now."""
        play = self.play
        return Observation(play.observation, play.state, play.progress.ticks, play.episode, play.step, self._frame)

    def _accept(self, decision: Decision, now: float, records: list[Record]) -> None:
        assert self._asked is not None
        (asked, tick, state, context), self._asked = self._asked, None
        self._remark(decision, records)
        records.extend(decision.kept)
        if not decision.commands:
            self._book(decision, None, records)
            self._failure = decision.failure
            if decision.failure is not None:
                return
            self.stop = Stop("finished", "agent", decision.reasoning or "the agent has finished")
            return
        latency_ms = (now - asked) * 1000
        self.pace.heard(latency_ms)
        number, commands = self._decisions, decision.commands
        self._decisions += 1
        self._book(decision, number, records, tick)
        made = (decision, self.clock.time(), tick, state, latency_ms)
        self._open[number] = OpenDecision(number, now, len(commands), len(commands), made)
        self.buffer.offer(commands, context, number, now)

    def _remark(self, decision: Decision, records: list[Record]) -> None:
        """Record what the agent reports beside its commands."""
        self.checkpoints = decision.checkpoints
        for name in decision.checkpoints:
            self._notice("info", "checkpoint", f"reached checkpoint {name}", records)
        for remark in decision.remarks:
            self._notice(remark.level, remark.kind, remark.message, records)

    def _book_late(self, late: Decision, records: list[Record]) -> None:
        """Count what an answer cost that came after the run went back; its commands are dropped."""
        records.extend(late.kept)
        self._book(late, None, records)
        self._notice("info", "decision_dropped", "dropped a decision for ticks that were rolled back", records)

    def _book(self, decision: Decision, number: int | None, records: list[Record], tick: int | None = None) -> None:
        """Count what a decision cost, and record the calls of models that it took."""
        if decision.cost:
            self._spend(decision.cost)
        if decision.calls:
            tick = self.progress.ticks if tick is None else tick
            records.extend(msgspec.structs.replace(call, tick=tick, decision=number) for call in decision.calls)

    def _spend(self, cost: float) -> None:
        self.progress.cost += cost
        self.ending.budget.spend(cost)

    def _apply(self, queued: Queued, records: list[Record]) -> None:
        try:
            text = self.world.encode(queued.command)
        except BadCommand as problem:
            self._refuse(queued, problem, records)
            return
        self._bad = 0
        if self.pace.limited:
            self.pace.wait(self.pace.target(self.progress.signals.engaged, self.ending.over_budget))
        self._play(queued, text, records)

    def _play(self, queued: Queued, text: str, records: list[Record]) -> None:
        engaged, context = self.progress.signals.engaged, self.play.context
        self._step(queued, text, records)
        if self.progress.signals.engaged and (self._fight_from is not None or not engaged):
            self._meet_fight(context, records)
        else:
            self._fight_from = None
        if self.play.over:
            self._clear("episode_ended", "Episode ended", records)

    def _meet_fight(self, context: str, records: list[Record]) -> None:
        """Clear the queue when a fight has begun: at once, or once the situation has changed to it."""
        if self._fight_from is None:
            self._fight_from = context
        if self._interrupt or self.play.context != self._fight_from:
            self._fight_from = None
            self._clear("battle_started", "Battle started", records)

    def _step(self, queued: Queued, text: str, records: list[Record]) -> None:
        play, hash_before = self.play, self.play.last_hash
        outcome = play.apply(queued.command, text, records)
        now = play.noted
        self.buffer.history.append((play.progress.ticks, text))
        decision = self._open.get(queued.decision)
        if decision is not None:
            decision.left -= 1
            if not decision.left:
                self._close(decision, now, records)
        self._idle = self._idle + now - self._last_tick if play.last_hash == hash_before else 0.0
        self._last_tick = now
        if self._on_step is not None:
            transition = self._on_step(outcome)
            if transition is not None:
                records.append(transition)
        if play.over:
            learnt = self.agent.on_episode_end(play.episode, play.episode_reward)
            if learnt is not None:
                records.append(learnt)

    # -- commands that are not applied -------------------------------------------------------------------------

    def _refuse(self, queued: Queued, problem: BadCommand, records: list[Record]) -> None:
        self._bad += 1
        self._drop(queued.decision, "bad_command", str(problem), "error", records)
        if self._bad >= BAD_COMMANDS:
            raise AgentError(f"the agent gave {BAD_COMMANDS} commands in a row that the world does not take: {problem}")

    def _clear(self, kind: str, why: str, records: list[Record]) -> None:
        waiting = len(self.buffer)
        if waiting:
            message = f"{why}, cleared {waiting} queued commands"
            self.clear_queue(message)
            self._notice("info", kind, message, records)

    def clear_queue(self, why: str) -> None:
        """Drop every command that waits."""
        for queued in self.buffer.clear():
            if queued.decision in self._open:
                self._open[queued.decision].drop(1, why)

    def _drop(self, decision: int, kind: str, message: str, level: Level, records: list[Record]) -> None:
        if decision in self._open:
            self._open[decision].drop(1, message)
        self._notice(level, kind, message, records)

    def _notice(self, level: Level, kind: str, message: str, records: list[Record]) -> None:
        records.append(Notice(self.clock.time(), self.progress.ticks, level, kind, message))

    def _report(self, records: list[Record]) -> None:
        """Record the decisions that began in this tick, and those whose last commands were dropped in it."""
        for decision in tuple(self._open.values()):
            if not decision.left:
                self._close(decision, self._now(), records)
            elif decision.made is not None:
                records.append(decision.begin())

    def _close(self, decision: OpenDecision, now: float, records: list[Record]) -> None:
        records.append(decision.end(now))
        del self._open[decision.number]

    def _check_end(self, records: list[Record]) -> None:
        if self.stop is not None:
            return
        busy = self._asked is not None or bool(self.buffer.queue)
        self.stop, remarks = self.ending.check(self.progress, self._idle, busy)
        for level, kind, message in remarks:
            self._notice(level, kind, message, records)

    # -- from outside ------------------------------------------------------------------------------------------

    def target_rate(self) -> float:
        """Return the ticks per second to keep now; 0 is as fast as possible."""
        return self.pace.target(self.progress.signals.engaged, self.ending.over_budget)

    def reconfigure(self, config: RunConfig) -> None:
        """Take over tick rates, limits and command settings while the run plays."""
        spent = self.ending.budget.save()
        self.pace.configure(config)
        self.ending = Ending(config, self.world.facts, self.clock)
        self.ending.budget.load(spent)
        self.buffer.configure(config.command)
        self._interrupt = config.command.interrupt_battle
        self._patience = config.agent.decision_timeout

    def skip(self, seconds: float) -> None:
        """Let a pause not count: neither as time played nor as time waited."""
        self.play.started += seconds
        self._last_tick += seconds
        self.buffer.skip(seconds)
        if self._asked is not None:
            self._asked = (self._asked[0] + seconds, *self._asked[1:])

    # -- going back --------------------------------------------------------------------------------------------

    def save(self) -> EngineState:
        """Return the engine's own state; world and agent save theirs."""
        now, play, progress = self._now(), self.play, self.progress
        return EngineState(
            ticks=progress.ticks,
            episodes=progress.episodes,
            step=play.step,
            reward=progress.reward,
            last_reward=progress.last_reward,
            episode_reward=play.episode_reward,
            cost=progress.cost,
            elapsed=now - play.started,
            decisions=self._decisions,
            idle=self._idle,
            last_hash=play.last_hash,
            budget=self.ending.budget.save(),
            buffer=self.buffer.save(self.world.encode, now),
            opened=[decision.save(now) for decision in self._open.values()],
            over=play.over,
        )

    def load(self, state: EngineState, observation: Any) -> None:
        """Go on from a saved state, in a world that was brought there and shows *observation*.

        What was spent stays spent: cost, budget, time and the numbers of decisions are only ever raised.
        """
        now = self._now()
        self.play.load(state, observation)
        if state.cost > self.progress.cost:
            self.progress.cost = state.cost
            self.ending.budget.load(state.budget)
        self._decisions = max(self._decisions, state.decisions)
        self._idle, self._last_tick = state.idle, now
        self.buffer.load(state.buffer, self.world.decode, now)
        opened = [*state.opened, *([state.open] if state.open else ())]
        self._open = {decision.number: load_decision(decision, now) for decision in opened}
        self._asked = None
        self._bad = 0
        self._failure = None
        self.stop = None

    def follow(self, command: str, decision: int | None = None, ask: bool = False) -> str:
        """Apply a command of the tape again, unpaced and unrecorded, and return the state's hash.

        *decision* is the number of the decision that was made just before it. With *ask* the agent decides again, so
        that it comes to the same mind, and what it wants further waits in the queue as it did then.
        """
        if decision is not None and decision not in self._open:  # a snapshot may hold it, not yet applied
            self._decide_again(decision, ask)
        queued = self.buffer.take_again(command, self.world.encode)
        self._play(queued or Queued(self.world.decode(command), "", self._now(), -1), command, [])
        self._decisions = max(self._decisions, (decision or 0) + 1)
        return self.play.last_hash

    def _decide_again(self, number: int, ask: bool) -> None:
        if not self._ahead:
            self.forget_queue()
        while ask:
            answer = self.agent.decide(self.look())
            if answer is not None:
                count = len(answer.commands)
                self._open[number] = OpenDecision(number, self._now(), count, count)
                self.buffer.offer(answer.commands, self.play.context, number, self._now())
                return
            self.clock.sleep(PATIENCE)

    def forget_queue(self) -> None:
        """Drop every command that waits, and every decision that wanted one."""
        self.buffer.clear()
        self._open.clear()

    def raise_spending(self, cost: float, decisions: int, elapsed: float) -> None:
        """Count what an earlier process has spent on this run."""
        self.progress.cost = max(self.progress.cost, cost)
        self._decisions = max(self._decisions, decisions)
        self.play.started = min(self.play.started, self._now() - elapsed)
        self.progress.elapsed = self._now() - self.play.started
