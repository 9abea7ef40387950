"""Proving snapshots: one is restored from disk in a second world, where it must be what was saved."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import takewhile
from math import nan

from ptp.errors import PtpError, SnapshotError
from ptp.records import WorldSpec
from ptp.replay.tape import Tape
from ptp.snapshots import Snapshot, SnapshotHeader, SnapshotStore
from ptp.snapshots.snapshot import check_world, damaged
from ptp.worlds import World, make_world


class Prover:
    """Restores snapshots in a world of its own, so that no run can be harmed."""

    def __init__(self, spec: WorldSpec, render_mode: str | None, *, trusted: bool) -> None:
        self._make = partial(make_world, spec, render_mode, trusted=trusted)
        self._world: World | None = None
        self.problem: str | None = None
        """Why there is no such world, once one was needed; then snapshots are only read."""

    def prove(self, snapshot: Snapshot, tape: Tape, name: str) -> None:
        """Refuse a snapshot that does not become what was saved; a world that can't load needs only its tape."""
        world = self._open() if tape.metadata.facts.snapshot == "state" else None
        if world is None:
            return
        header = snapshot.header
        check_world(header, world.facts)
        try:
            world.load(snapshot.world)
            observation, saved = world.observe(), world.save()
        except Exception as problem:  # noqa: BLE001 - whatever somebody's world raises, the run continues
            raise damaged(name, f"it can't be restored: {problem!r:.200}") from None
        if saved != snapshot.world:
            raise damaged(name, "it restores to another state than was saved")
        steps = tape.steps(header.tick) if tape.is_current(header) else iter(())
        for step in takewhile(lambda step: step.tick == header.tick, steps):
            reward = nan if step.reward is None else step.reward
            actual = world.state_hash(observation, reward, step.terminated, step.truncated)
            if actual != step.state_hash:
                raise damaged(name, f"its state is {actual}, and was {step.state_hash} when it was saved")

    def _open(self) -> World | None:
        if self._world is None and self.problem is None:
            try:
                self._world = self._make()
            except PtpError as problem:
                self.problem = str(problem)
        return self._world

    def close(self) -> None:
        """Free the world."""
        if self._world is not None:
            self._world.close()
            self._world = None


Prove = Callable[[Snapshot, str], None]
Warn = Callable[[str], None]


def save_proven(store: SnapshotStore, snapshot: Snapshot, compress: bool, prove: Prove, warn: Warn) -> SnapshotHeader:
    """Write a snapshot that proves right; one that does not is written once more, and then given up."""
    header = store.save(snapshot, compress)
    problem = _problem(store, header, prove)
    if problem is not None:
        warn(f"the snapshot of tick {header.tick} is written again: {problem}")
        header = store.save(snapshot, compress)
        problem = _problem(store, header, prove)
    if problem is not None:
        raise SnapshotError(f"no snapshot of tick {header.tick}, it was written twice: {problem}")
    return header


def _problem(store: SnapshotStore, header: SnapshotHeader, prove: Prove) -> SnapshotError | None:
    """Return what is wrong with a snapshot on disk, and remove it then."""
    try:
        prove(store.read(header), store.path(header.snapshot_id).name)
    except SnapshotError as problem:
        store.delete(header.snapshot_id)
        return problem
    return None
