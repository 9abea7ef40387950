"""What a pool is given to do, and what it returns."""

from __future__ import annotations

import base64
from typing import Any

from msgspec import Struct

from ptp.emulators.outcome import Outcome


class Task(Struct, frozen=True):
    """A script, and where it begins: at a checkpoint, in a snapshot of a game server, or with a seed."""

    text: str
    checkpoint_id: str | None = None
    snapshot: bytes | None = None
    seed: int = 0
    keep: bool = False
    """Whether the game at the end is wanted, as a snapshot."""


class Metadata(Struct, frozen=True, kw_only=True):
    """Who did a task, and how."""

    emulator: str | None
    """The one that finished it; None when none did."""
    url: str | None
    attempts: int
    """More than one when emulators failed while they had the task."""
    world: str | None
    seed: int | None
    checkpoint_id: str | None
    commands: int
    problems: tuple[str, ...] = ()
    """Why the attempts before failed."""


class Timing(Struct, frozen=True):
    """Where the time of a task went, in seconds."""

    total: float
    waited: float
    """For an emulator."""
    played: float
    """By the emulator itself, in the last attempt."""


class ExecutionResult(Struct, frozen=True, kw_only=True):
    """How a script went."""

    success: bool
    error: str | None
    """Why not: what stopped it, or the first expectation that failed."""
    checkpoints: tuple[str, ...]
    """The checkpoints that were reached, in order."""
    failures: tuple[str, ...]
    state: Any
    """Everything that the world tells at the end."""
    step: int
    reward: float
    done: bool
    snapshot: bytes | None
    """The game at the end, if asked."""
    timing: Timing
    metadata: Metadata

    @property
    def outcome(self) -> tuple[Any, ...]:
        """What is the same whoever plays it, and whatever happens meanwhile."""
        facts = (self.success, self.error, self.checkpoints, self.failures, self.state)
        return (*facts, self.step, self.reward, self.done, self.snapshot)


def finished(outcome: Outcome, timing: Timing, metadata: Metadata) -> ExecutionResult:
    """Return the result of a task that an emulator has answered."""
    return ExecutionResult(
        success=outcome.success,
        error=outcome.error or (outcome.failures[0] if outcome.failures else None),
        checkpoints=tuple(outcome.checkpoints),
        failures=tuple(outcome.failures),
        state=outcome.state,
        step=outcome.step,
        reward=outcome.reward,
        done=outcome.done,
        snapshot=None if outcome.snapshot is None else base64.b64decode(outcome.snapshot),
        timing=timing,
        metadata=metadata,
    )


def given_up(error: str, timing: Timing, metadata: Metadata) -> ExecutionResult:
    """Return the result of a task that no emulator could do."""
    return ExecutionResult(
        success=False, error=error, checkpoints=(), failures=(), state=None, step=0, reward=0.0, done=False,
        snapshot=None, timing=timing, metadata=metadata,
    )  # fmt: skip
