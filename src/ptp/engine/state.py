"""What an engine saves of itself; world and agent save theirs."""

from __future__ import annotations

from typing import Annotated

import msgspec

Count = Annotated[int, msgspec.Meta(ge=0, lt=1 << 48)]
"""What fits into the id of a record."""
Seconds = Annotated[float, msgspec.Meta(ge=-1e12, le=1e12)]


class BudgetState(msgspec.Struct, frozen=True):
    """What was spent in a budget period."""

    period: Count
    spent: Annotated[float, msgspec.Meta(ge=0)]


class BufferState(msgspec.Struct, frozen=True):
    """The commands that wait: command, context, seconds waited, decision; and those applied last."""

    queue: list[tuple[str, str, Seconds, int]]
    outside: list[tuple[str, str, int] | str]
    """A bare command is one of an older snapshot, which kept no more of it."""
    history: list[tuple[Count, str]]


class OpenState(msgspec.Struct, frozen=True):
    """A decision whose commands are not all applied or dropped yet."""

    number: Count
    age: Seconds
    wanted: Count
    left: Count
    dropped: Count
    error: str | None


class EngineState(msgspec.Struct, frozen=True):
    """Where an engine stands."""

    ticks: Count
    episodes: Count
    step: Count
    reward: float
    last_reward: float | None
    episode_reward: float
    cost: Annotated[float, msgspec.Meta(ge=0)]
    elapsed: Seconds
    decisions: Count
    idle: Seconds
    last_hash: str
    budget: BudgetState
    buffer: BufferState
    opened: list[OpenState] = []
    open: OpenState | None = None
    """The one open decision of an older snapshot."""
    over: bool = False
    """Whether the last episode has ended and the next has not begun."""
