"""After an error: back to the newest good state, and one further when it comes again before the run got past it."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

from ptp.errors import PtpError, SnapshotError
from ptp.replay import Tape
from ptp.runner.services import Services
from ptp.runner.steering import Steering
from ptp.snapshots import Snapshot
from ptp.snapshots.keys import KeyState, Packed, join

SAME_ERROR = 3  # times that an error may come


class Seen(NamedTuple):
    """An error that was undone."""

    text: str
    tick: int
    to_tick: int
    """Where the run went back to."""


class Recovery:
    """Takes a run back after an error, if its settings want that."""

    def __init__(self, services: Services, steering: Steering) -> None:
        self._run = services.run
        self._services = services
        self._steering = steering
        self._seen: list[Seen] = []
        self._start: Packed | None = None

    def began(self) -> None:
        """Hold the state in which the run begins here, so that there is one to return to from the first tick on."""
        if self._run.config.snapshot.rollback_on_error:
            engine, rewinds = self._services.engine, self._run.metadata.rewinds
            world = engine.world.save() if engine.world.facts.snapshot == "state" else b""
            mind = engine.save(), engine.agent.save()
            self._start = join(KeyState(self._run.tick, engine.play.episode, rewinds, world, *mind)).pack()

    def recover(self, problem: Exception) -> bool:
        """Take the run back and return True; False when that is not wanted, did not help, or can't be done."""
        config, tick = self._run.config.snapshot, self._run.tick
        text = f"{type(problem).__name__}: {problem.__cause__ or problem}"
        same = [seen for seen in self._seen if text == seen.text or tick == seen.tick]
        if not config.rollback_on_error or len(same) + 1 >= SAME_ERROR:
            return False
        latest = tick
        if same and tick <= same[-1].tick:  # the run did not get past it: one state further
            latest = same[-1].to_tick - (len(same) < config.rollback_grace)
        try:
            to_tick = self._go_back(latest, f"error at tick {tick}: {problem}")
        except PtpError as failed:
            self._run.notice("warning", "rollback_failed", f"can't roll back after an error: {failed}")
            return False
        self._seen.append(Seen(text, tick, to_tick))
        self._run.error(problem, trace(problem), f"rolled back to tick {to_tick}")
        self._run.notice("warning", "rolled_back", f"rolled back to tick {to_tick} after an error: {problem}")
        return True

    def _go_back(self, latest: int, reason: str) -> int:
        """Go back to the newest good state at or before a tick, or just after it; return its tick."""
        with self._steering.tape() as tape:
            states = [*self._newest(tape, latest)] or [*self._newest(tape, latest + 1)]
        if not states:
            raise SnapshotError("no state of this run is kept; take snapshots with --snapshot-disk")
        state = max(states, key=_tick_of)
        if isinstance(state, Snapshot):
            return self._steering.go_back(state, reason).tick
        self._steering.go_to(state, state.tick, reason)
        return state.tick

    def _newest(self, tape: Tape, tick: int) -> Iterator[KeyState | Snapshot]:
        """Return the newest of each kind at or before a tick; one that can't be read is passed over."""
        with suppress(SnapshotError):
            yield self._services.keys.newest(tick)
        for header in self._services.keeper.headers():
            if header.tick <= tick and tape.is_current(header):
                with suppress(SnapshotError):
                    yield self._services.keeper.find(header.snapshot_id)
                    break
        if self._start is not None and self._start.head.tick <= tick and tape.is_current(self._start.head):
            yield self._start.unpack()


def _tick_of(state: KeyState | Snapshot) -> int:
    return state.tick if isinstance(state, KeyState) else state.header.tick


def trace(problem: BaseException) -> str:
    """Return an error with the calls that led to it."""
    return "".join(traceback.format_exception(problem))
