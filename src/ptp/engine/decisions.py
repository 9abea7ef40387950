"""A decision from the moment it is made until its last command is applied or dropped."""

from __future__ import annotations

from typing import Any

import msgspec

from ptp.agents import Decision
from ptp.engine.state import OpenState
from ptp.records import DecisionEnded, DecisionMade, DecisionStatus, Record


class OpenDecision(msgspec.Struct, gc=False):
    """A decision whose commands are not all applied or dropped yet."""

    number: int
    began: float
    wanted: int
    left: int
    made: tuple[Decision, float, int, Any, float] | None = None
    """What to record of it: decision, time, tick, state and latency; None once it is recorded."""
    dropped: int = 0
    error: str | None = None

    def drop(self, commands: int, why: str) -> None:
        """Note that commands will not be applied."""
        self.left -= commands
        self.dropped += commands
        self.error = why

    @property
    def status(self) -> DecisionStatus:
        """How it stands."""
        if self.left:
            return "pending"
        if not self.dropped:
            return "success"
        return "failed" if self.dropped == self.wanted else "partial"

    def begin(self, duration: float | None = None) -> DecisionMade:
        """Return the record of it, once."""
        assert self.made is not None
        decision, at, tick, state, latency_ms = self.made
        self.made = None
        return DecisionMade(
            self.number, at, tick, state, decision.type, decision.context, decision.reasoning,
            _real(decision.confidence), latency_ms, None if decision.tokens is None else int(decision.tokens),
            _real(decision.cost), decision.model, self.status,
            None if duration is None else self.error, duration,
        )  # fmt: skip

    def end(self, now: float) -> Record:
        """Return the record of its end, or of all of it if nobody has its beginning yet."""
        duration = (now - self.began) * 1000
        if self.made is not None:
            return self.begin(duration)
        return DecisionEnded(self.number, self.status, self.error, duration)

    def save(self, now: float) -> OpenState:
        """Return it as data."""
        return OpenState(self.number, now - self.began, self.wanted, self.left, self.dropped, self.error)


def _real(value: float | None) -> float | None:
    """Return a number that an agent gave as one that can be kept; what is not a number is nothing."""
    return None if value is None or value != value else float(value)


def load_decision(state: OpenState, now: float) -> OpenDecision:
    """Return to a saved decision, which was recorded when it was saved."""
    return OpenDecision(
        state.number, now - state.age, state.wanted, state.left, None, state.dropped, state.error
    )  # fmt: skip
