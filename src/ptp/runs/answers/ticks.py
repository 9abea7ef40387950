"""What the API answers about ticks: actions, decisions and events."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from ptp.records import DecisionMade, Event, Step


class Action(Struct):
    """One line of the action log: a command that was applied, or something that happened."""

    timestamp: str
    """When, in UTC; that of a command is its decision's time plus the play since."""
    action: str
    """The command, or the kind of event, in capitals."""
    context: dict[str, Any]
    """The tick, and what else is known: where from and to, who was met."""
    confidence: float | None
    """How sure the agent was; null for events."""
    latency_ms: float | None
    """How long the agent thought; only at the first command of a decision."""
    cost: float | None
    """Dollars that the decision cost; only at its first command."""


class ActionList(Struct):
    """A page of the action log."""

    actions: list[Action]
    total_count: int
    """Lines that the filter lets through."""
    page: int
    page_size: int


class DecisionList(Struct):
    """A page of decisions, newest first."""

    decisions: list[DecisionMade]
    next_before: str | None
    """What to give as `before` for the next page; null on the last one."""


class EventList(Struct):
    """Events in the order of their ticks; errors and rewinds are among them, of the kinds `Error` and `Rewind`."""

    events: list[Event]
    total_count: int
    """Events that the filter lets through; more than are listed when there is a limit."""
    kinds: dict[str, int]
    """How many events of each kind the run has."""


class Tick(Struct):
    """One tick of a run."""

    tick: int
    last_tick: int
    """The newest tick of the run."""
    step: Step | None
    """The command and what came of it; null at tick 0, before the first one."""
    state: Any
    """The world's state after it."""
    decision: DecisionMade | None
    """The decision that its command came from."""
    events: list[Event]
    """What happened in it."""
    screenshot_id: str | None
    """The picture that was kept of it."""
