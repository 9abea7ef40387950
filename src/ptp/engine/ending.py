"""How a run comes to its end: limits, budget and timeout, with grace for the current decision."""

from __future__ import annotations

from typing import NamedTuple

from ptp._util.clock import Clock
from ptp.config import RunConfig
from ptp.engine.budget import Budget
from ptp.engine.limits import Limits
from ptp.engine.play import Progress
from ptp.records import Level, Stop, WorldFacts


class Remark(NamedTuple):
    """Something to tell about the end to come."""

    level: Level
    kind: str
    message: str


class Ending:
    """Decides, after every tick, whether the run is over."""

    def __init__(self, config: RunConfig, facts: WorldFacts, clock: Clock) -> None:
        self.budget = Budget(config.tick_rate, clock)
        self.limits = Limits(config.limits, facts)
        self.over_budget = False
        self._clock = clock
        self._timeout = config.tick_rate.timeout
        self._grace = config.limits.grace_period
        self._soft = self.limits.has_soft or self.budget.limit is not None
        self._coming: tuple[Stop, float] | None = None  # the limit that was reached, and when its grace ends

    @property
    def allows_decisions(self) -> bool:
        """Whether a new decision may begin; a spent budget leaves the whole grace for play."""
        return self._coming is None or self._coming[0].kind == "budget"

    def check(self, progress: Progress, idle: float, busy: bool) -> tuple[Stop | None, tuple[Remark, ...]]:
        """Return why the run is over, if it is; *busy* says that a decision is under way."""
        hard = self.limits.hard(progress)
        if hard is not None:
            return Stop("limit", hard, f"--{hard} reached"), ()
        if self._timeout and idle > self._timeout:
            return Stop("timeout", "tick-rate-timeout", f"no change of state for {self._timeout} s of play"), ()
        if self._coming is not None:
            return self._finish(busy), ()
        return self._check_soft(progress, busy) if self._soft else (None, ())

    def _check_soft(self, progress: Progress, busy: bool) -> tuple[Stop | None, tuple[Remark, ...]]:
        remarks = []
        over = self.budget.exceeded()
        if over and not self.over_budget:
            message = f"the budget of ${self.budget.limit:g} ({self.budget.mode}) is spent"
            remarks.append(Remark("warning", "budget_exceeded", message))
        self.over_budget = over
        stop = self._soft_stop(progress, over)
        if stop is None or not self._grace:
            return stop, tuple(remarks)
        self._coming = (stop, self._clock.monotonic() + self._grace)
        remarks.append(Remark("info", "limit_reached", f"Limit reached, finishing current decision: {stop.message}"))
        return self._finish(busy), tuple(remarks)

    def _soft_stop(self, progress: Progress, over: bool) -> Stop | None:
        soft = self.limits.soft(progress)
        if soft is not None:
            return Stop("limit", soft, f"--{soft} reached")
        return Stop("budget", "tick-rate-budget-limit", "the budget is spent") if over else None

    def _finish(self, busy: bool) -> Stop | None:
        assert self._coming is not None
        stop, deadline = self._coming
        if stop.kind == "budget" and not self.budget.exceeded():
            self._coming, self.over_budget = None, False  # a new period began within the grace
            return None
        idle = not busy and not self.allows_decisions
        return stop if idle or self._clock.monotonic() >= deadline else None
