"""Bringing an engine to a tick: from a snapshot where there is one, and along the tape from there."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import takewhile
from pathlib import Path
from typing import Any

from msgspec import MsgspecError

from ptp.engine import Engine
from ptp.errors import SnapshotError
from ptp.records import WorldFacts
from ptp.replay.tape import Tape
from ptp.snapshots import Snapshot, SnapshotHeader, SnapshotStore
from ptp.snapshots.keys import KEYS, KeyFile, KeyState, Packed
from ptp.snapshots.snapshot import check_world
from ptp.snapshots.tape import command_of, compare, hash_of
from ptp.worlds import World

UNFIT = (ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError, RecursionError, MsgspecError)
"""What a world, an engine or an agent may raise that is given something else than it saved."""


def restore(engine: Engine, snapshot: Snapshot, tape: Tape, with_agent: bool = True) -> None:
    """Put world, engine and agent back to a snapshot."""
    check_own(snapshot.header, tape, engine.world.facts)
    _put_back(engine, tape, snapshot, snapshot.header.tick, with_agent)


def _put_back(engine: Engine, tape: Tape, held: Snapshot | KeyState, tick: int, with_agent: bool) -> None:
    """Put everything back to what is held; a world that can't load is played there along the tape."""
    world = engine.world
    if world.facts.snapshot == "state":
        observation = load_world(world, held)
    else:
        observation = None
        steps = tape.steps(tape.seeded_start(tick) if tick else 1)
        for step, outcome in tape.play(world, takewhile(lambda step: step.tick <= tick, steps)):
            compare(step.tick, step.state_hash, hash_of(world, outcome))
            observation = outcome.observation
        observation = world.reset(*tape.start(1)) if observation is None else observation
    load_mind(engine, held, observation, with_agent)


def load_mind(engine: Engine, held: Snapshot | KeyState, observation: Any, with_agent: bool = True) -> None:
    """Put engine and agent back to what is held, in a world that shows *observation*."""
    try:
        engine.load(held.engine, observation)
        if with_agent:
            engine.agent.load(held.agent)
    except UNFIT as problem:
        raise _unfit(held, problem) from None


def _unfit(held: Snapshot | KeyState, problem: Exception) -> SnapshotError:
    tick = held.tick if isinstance(held, KeyState) else held.header.tick
    return SnapshotError(
        f"what was saved at tick {tick} can't be resumed from: {problem!r:.200}; use an older snapshot"
    )


def check_own(header: SnapshotHeader, tape: Tape, facts: WorldFacts) -> None:
    """Refuse a snapshot of another world, or of another run, whose tape does not lead to it."""
    check_world(header, facts)
    if header.run_id != tape.metadata.run_id:
        raise SnapshotError(
            f"the snapshot is of run {header.run_id}, not of {tape.metadata.run_id}; "
            "export it there and make a run of it with `ptp snapshot import`"
        )


def load_world(world: World, held: Snapshot | KeyState) -> Any:
    """Put a world that can load back to what is held, and return what is seen there."""
    try:
        world.load(held.world)
        return world.observe()
    except UNFIT as problem:
        raise _unfit(held, problem) from None


@contextmanager
def known_warnings() -> Iterator[None]:
    """Hide the warnings of what is played again: the run has them already."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@known_warnings()
def travel(engine: Engine, tape: Tape, folder: Path, tick: int, with_agent: bool = True) -> None:
    """Bring a new engine to a tick, from what is held nearest before it, comparing every hash from there on."""
    packed = newest_key(KeyFile(folder / KEYS), tape, engine.world.facts, tick)
    near = -1 if packed is None else packed.head.tick
    store, failed = SnapshotStore(folder), None
    for header in store.headers():
        if near < header.tick <= tick and tape.is_current(header):
            try:
                restore(engine, store.load(header), tape, with_agent)
            except SnapshotError as problem:
                failed = problem
                continue  # `ptp snapshot verify` names it; an older one, or the tape alone, serves
            failed = None
            break
    else:
        if packed is not None:
            try:
                _put_back(engine, tape, packed.unpack(), near, with_agent)
                failed = None
            except SnapshotError as problem:  # it can't be read: the tape alone serves
                failed = problem
    if failed is not None and engine.progress.ticks:
        raise failed  # the engine is neither there nor at the beginning
    _follow(engine, tape, tick, with_agent)


def go_back(engine: Engine, tape: Tape, key: KeyState, tick: int) -> None:
    """Bring an engine that is further on back to a tick, from a key state before it."""
    _put_back(engine, tape, key, key.tick, with_agent=True)
    _follow(engine, tape, tick, with_agent=True)


def newest_key(keys: KeyFile, tape: Tape, facts: WorldFacts, tick: int) -> Packed | None:
    """Return the newest key state before a tick that is of this world and lies on the tape."""
    if tape.metadata.facts.origin != facts.origin:
        return None
    packed = keys.newest(tick)
    while packed is not None and not tape.is_current(packed.head):
        packed = keys.newest(packed.head.tick - 1)
    return packed


def _follow(engine: Engine, tape: Tape, tick: int, with_agent: bool) -> None:
    for step in takewhile(lambda step: step.tick <= tick, tape.steps(engine.progress.ticks + 1)):
        if step.step == 1:
            engine.play.begin(*tape.start(step.episode))
        command_of(engine.world, step.tick, step.command)
        actual = engine.follow(step.command, step.decision, ask=with_agent and engine.agent.repeatable)
        compare(step.tick, step.state_hash, actual)
    if not with_agent:
        engine.forget_queue()
