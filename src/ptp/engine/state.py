"""What an engine saves of itself; world and agent save theirs."""

from __future__ import annotations

import msgspec


class BudgetState(msgspec.Struct, frozen=True):
    """What was spent in a budget period."""

    period: int
    spent: float


class BufferState(msgspec.Struct, frozen=True):
    """The commands that wait: command, context, seconds waited, decision; and those applied last."""

    queue: list[tuple[str, str, float, int]]
    outside: list[tuple[str, str, int] | str]
    """A bare command is one of an older snapshot, which kept no more of it."""
    history: list[tuple[int, str]]


class OpenState(msgspec.Struct, frozen=True):
    """A decision whose commands are not all applied or dropped yet."""

    number: int
    age: float
    wanted: int
    left: int
    dropped: int
    error: str | None


class EngineState(msgspec.Struct, frozen=True):
    """Where an engine stands."""

    ticks: int
    episodes: int
    step: int
    reward: float
    last_reward: float | None
    episode_reward: float
    cost: float
    elapsed: float
    decisions: int
    idle: float
    last_hash: str
    budget: BudgetState
    buffer: BufferState
    opened: list[OpenState] = []
    open: OpenState | None = None
    """The one open decision of an older snapshot."""
    over: bool = False
    """Whether the last episode has ended and the next has not begun."""
