"""The tape that a shared snapshot carries, so that its run can be resumed where there is no run directory."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from ptp.engine.state import Count
from ptp.errors import SnapshotError
from ptp.records import DecisionStatus

StartFile = Literal["start_state", "save_file"]


class Played(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """One command and what came of it; the first is tick 1."""

    episode: Count
    step: Count
    command: str
    reward: float | None
    terminated: bool
    truncated: bool
    elapsed: float
    state_hash: str


class Begun(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """How an episode began."""

    episode: Count
    tick: Count
    seed: Count | None
    options: dict[str, Any] | None


class Decided(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """One call of the agent, without its texts: when it was, and what it cost."""

    number: Count
    tick: Count
    timestamp: str | None
    decision_type: str | None
    confidence_score: float | None
    decision_latency_ms: float | None
    tokens_used: Count | None
    api_cost: float | None
    model_used: str | None
    execution_status: DecisionStatus | None
    execution_duration_ms: float | None


class SharedTape(msgspec.Struct, kw_only=True):
    """Everything that led to a snapshot: seeds, settings, files to begin from, and the commands with their hashes."""

    random_seed: Count
    agent_seed: Count | None
    origin: dict[str, str]
    """The versions and the cartridge that the tape was recorded with."""
    settings: dict[str, Any]
    """How it was played: settings by their place in a YAML file, those that are not the default."""
    files: dict[StartFile, bytes]
    """What a cartridge began from."""
    steps: list[Played]
    decisions: list[Decided]
    starts: list[Begun] = []
    """How the episodes began; older files leave that to the seed."""


def decode_tape(data: bytes | memoryview, ticks: int, name: str) -> SharedTape | None:
    """Return the tape in bytes; one that does not lead to the snapshot's tick is refused."""
    if not data:
        return None
    try:
        tape = msgspec.msgpack.decode(data, type=SharedTape)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as problem:
        raise SnapshotError(f"{name} is damaged: its tape can't be read: {problem}; get it again") from None
    if len(tape.steps) != ticks:
        raise SnapshotError(f"{name} is damaged: its tape has {len(tape.steps)} ticks of {ticks}; get it again")
    return tape
