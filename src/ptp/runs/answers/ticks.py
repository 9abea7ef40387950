"""What the API answers about ticks: actions, decisions and events."""

from __future__ import annotations

from typing import Any

from msgspec import Struct


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
    """The lines of this page."""
    total_count: int
    """Lines that the filter lets through."""
    page: int
    """The number of this page, from 1."""
    page_size: int
    """Lines per page."""


class Decision(Struct):
    """One call of the agent."""

    decision_id: str
    """Its id."""
    timestamp: str | None
    """When it was made, in UTC."""
    tick: int
    """The tick after which it was made."""
    type: str | None
    """What the agent calls it."""
    reasoning: str | None
    """Why, in the agent's words."""
    confidence: float | None
    """How sure the agent was, from 0 to 1."""
    latency_ms: float | None
    """How long the agent thought."""
    tokens: int | None
    """Tokens that it took."""
    cost: float | None
    """Dollars that it cost."""
    model: str | None
    """The language model that made it."""
    status: str | None
    """pending, success, partial, failed or rolled_back."""
    error: str | None
    """Why not all its commands were applied."""
    duration_ms: float | None
    """From the decision to its last command."""
    context: Any
    """What else the agent noted."""


class DecisionList(Struct):
    """A page of decisions, newest first."""

    decisions: list[Decision]
    """The decisions of this page."""
    next_before: str | None
    """What to give as `before` for the next page; null on the last one."""


class Event(Struct):
    """Something that happened: in the game, to the run, or because of a person."""

    tick: int
    """When."""
    kind: str
    """The world's word for it, or `Error`, or `Rewind`."""
    title: str
    """It in a few words."""
    timestamp: str | None
    """When, in UTC."""
    detail: Any
    """Everything that is known of it."""


class EventList(Struct):
    """Events in the order of their ticks."""

    events: list[Event]
    """The events."""
    total_count: int
    """Events that the filter lets through; more than are listed when there is a limit."""
    kinds: dict[str, int]
    """How many events of each kind the run has."""


class Tick(Struct):
    """One tick of a run."""

    tick: int
    """Its number."""
    last_tick: int
    """The newest tick of the run."""
    episode: int | None
    """The episode it is in; null at tick 0, before the first command."""
    step: int | None
    """Its place within the episode."""
    command: str | None
    """What was done."""
    reward: float | None
    """What the world gave for it."""
    terminated: bool
    """Whether the episode came to its end."""
    truncated: bool
    """Whether the episode was cut off."""
    elapsed: float | None
    """Seconds of play up to it."""
    state_hash: str | None
    """The hash that a replay must reach."""
    state: Any
    """The world's state after it."""
    decision: Decision | None
    """The decision that its command came from."""
    events: list[Event]
    """What happened in it."""
    screenshot_id: str | None
    """The picture that was kept of it."""
