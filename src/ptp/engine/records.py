"""What happened, as one union of frozen types; the database, exports and views all use it."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

RECORD_VERSION = "2.1"

Level = Literal["info", "warning", "error"]
Status = Literal["pending", "success", "partial", "failed"]


class Step(msgspec.Struct, frozen=True, gc=False, tag=True, tag_field="record"):
    """One command applied to the world: a line of the tape."""

    tick: int
    episode: int
    step: int
    command: str
    reward: float
    terminated: bool
    truncated: bool
    elapsed: float
    state_hash: str
    state: Any
    """The state after the command; None when it is the one before."""


class DecisionMade(msgspec.Struct, frozen=True, gc=False, tag=True, tag_field="record"):
    """One call of the agent."""

    number: int
    at: float
    tick: int
    state: Any
    """The state it was made in."""
    type: str
    context: str | None
    reasoning: str | None
    confidence: float | None
    latency_ms: float
    tokens: int | None
    cost: float | None
    model: str | None
    status: Status
    error: str | None
    duration_ms: float | None


class DecisionEnded(msgspec.Struct, frozen=True, gc=False, tag=True, tag_field="record"):
    """The last command of a decision was applied or dropped."""

    number: int
    status: Status
    error: str | None
    duration_ms: float


class Happened(msgspec.Struct, frozen=True, gc=False, tag=True, tag_field="record"):
    """Something the world itself calls an event; its kind is the event's own tag."""

    at: float
    tick: int
    index: int
    """The event's place among those of its tick."""
    event: msgspec.Struct


class EpisodeEnded(msgspec.Struct, frozen=True, gc=False, tag=True, tag_field="record"):
    """The world said that an episode is over."""

    episode: int
    tick: int
    steps: int
    reward: float
    elapsed: float
    terminated: bool


class Notice(msgspec.Struct, frozen=True, gc=False, tag=True, tag_field="record"):
    """Something a person should know."""

    at: float
    tick: int
    level: Level
    kind: str
    message: str


Record = Step | Happened | DecisionMade | DecisionEnded | EpisodeEnded | Notice
