"""Bringing an engine to a tick: from a snapshot where there is one, and along the tape from there."""

from __future__ import annotations

from itertools import takewhile
from typing import Any

from msgspec import MsgspecError

from ptp.engine import Engine
from ptp.errors import ReplayDiverged, SnapshotError
from ptp.records import WorldFacts
from ptp.replay.tape import Tape, command_of, hash_of
from ptp.snapshots import Snapshot, SnapshotHeader, SnapshotStore
from ptp.snapshots.snapshot import check_world
from ptp.worlds import World

UNFIT = (ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError, RecursionError, MsgspecError)
"""What a world, an engine or an agent may raise that is given something else than it saved."""


def restore(engine: Engine, snapshot: Snapshot, tape: Tape, with_agent: bool = True) -> None:
    """Put world, engine and agent back to a snapshot; a world that can't load is played there along the tape."""
    world = engine.world
    check_own(snapshot.header, tape, world.facts)
    if world.facts.snapshot == "state":
        observation = load_world(world, snapshot)
    else:
        tick, observation = snapshot.header.tick, None
        steps = tape.steps(tape.seeded_start(tick) if tick else 1)
        for step, outcome in tape.play(world, takewhile(lambda step: step.tick <= tick, steps)):
            compare(step.tick, step.state_hash, hash_of(world, outcome))
            observation = outcome.observation
        observation = world.reset(*tape.start(1)) if observation is None else observation
    load_mind(engine, snapshot, observation, with_agent)


def load_mind(engine: Engine, snapshot: Snapshot, observation: Any, with_agent: bool = True) -> None:
    """Put engine and agent back to a snapshot, in a world that shows *observation*."""
    try:
        engine.load(snapshot.engine, observation)
        if with_agent:
            engine.agent.load(snapshot.agent)
    except UNFIT as problem:
        raise _unfit(snapshot.header, problem) from None


def _unfit(header: SnapshotHeader, problem: Exception) -> SnapshotError:
    about = f"snapshot {header.name or header.snapshot_id} of {header.world!r}"
    return SnapshotError(f"{about} can't be resumed from: {problem!r:.200}; use an older one")


def check_own(header: SnapshotHeader, tape: Tape, facts: WorldFacts) -> None:
    """Refuse a snapshot of another world, or of another run, whose tape does not lead to it."""
    check_world(header, facts)
    if header.run_id != tape.metadata.run_id:
        raise SnapshotError(
            f"the snapshot is of run {header.run_id}, not of {tape.metadata.run_id}; "
            "export it there and make a run of it with `ptp snapshot import`"
        )


def load_world(world: World, snapshot: Snapshot) -> Any:
    """Put a world that can load back to a snapshot and return what is seen there."""
    try:
        world.load(snapshot.world)
        return world.observe()
    except UNFIT as problem:
        raise _unfit(snapshot.header, problem) from None


def travel(engine: Engine, tape: Tape, store: SnapshotStore, tick: int, with_agent: bool = True) -> None:
    """Bring a new engine to a tick, from the newest snapshot that serves, comparing every hash from there on."""
    failed = None
    for header in store.headers():
        if header.tick <= tick and tape.is_current(header):
            try:
                restore(engine, store.load(header), tape, with_agent)
            except SnapshotError as problem:
                failed = problem
                continue  # `ptp snapshot verify` names it; an older one, or the tape alone, serves
            break
    else:
        if failed is not None and engine.progress.ticks:
            raise failed  # the engine is neither there nor at the beginning
    for step in takewhile(lambda step: step.tick <= tick, tape.steps(engine.progress.ticks + 1)):
        if step.step == 1:
            engine.play.begin(*tape.start(step.episode))
        command_of(engine.world, step.tick, step.command)
        ask = with_agent and step.decided and engine.agent.repeatable
        compare(step.tick, step.state_hash, engine.follow(step.command, ask))


def compare(tick: int, expected: str, actual: str) -> None:
    """Refuse a tick that is not what the tape has."""
    if actual != expected:
        raise ReplayDiverged(
            f"the tape can't be followed: tick {tick} should be {expected} but is {actual}; "
            "`ptp replay --verify` says which versions changed"
        )
