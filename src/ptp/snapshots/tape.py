"""The tape that a shared snapshot carries, so that its run can be resumed where there is no run directory."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from ptp._util.ids import derive_seed
from ptp.engine.state import Count
from ptp.errors import ReplayDiverged, RunUnreadable, SnapshotError
from ptp.records import DecisionStatus
from ptp.worlds import Outcome, World

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


def play_there(world: World, tape: SharedTape) -> Any:
    """Play a tape from its last seeded episode on, comparing every hash, and return what is seen at its end."""
    starts = {start.episode: (start.seed, start.options) for start in tape.starts}

    def reset(episode: int) -> Any:
        seed = derive_seed(tape.random_seed, "episode", episode)
        return world.reset(*starts.get(episode, (seed, None)))

    last = tape.steps[-1].episode if tape.steps else 1
    seeded = max((episode for episode, (seed, _) in starts.items() if seed is not None), default=last)
    observation = None
    for tick, step in enumerate(tape.steps, 1):
        if step.episode < seeded:
            continue
        if step.step == 1:
            reset(step.episode)
        outcome = world.step(command_of(world, tick, step.command))
        compare(tick, step.state_hash, hash_of(world, outcome))
        observation = outcome.observation
    return reset(1) if observation is None else observation


def command_of(world: World, tick: int, text: str) -> Any:
    """Return a recorded command as the world takes it; one that it can't take is refused."""
    try:
        return world.decode(text)
    except (ValueError, TypeError, KeyError, IndexError, RecursionError, msgspec.DecodeError) as problem:
        raise RunUnreadable(f"the command {text[:80]!r} of tick {tick} can't be read: {problem}") from None


def hash_of(world: World, outcome: Outcome) -> str:
    """Return the hash of what a step showed."""
    return world.state_hash(outcome.observation, outcome.reward, outcome.terminated, outcome.truncated)


def compare(tick: int, expected: str, actual: str) -> None:
    """Refuse a tick that is not what the tape has."""
    if actual != expected:
        raise ReplayDiverged(
            f"the tape can't be followed: tick {tick} should be {expected} but is {actual}; "
            "`ptp replay --verify` says which versions changed"
        )
