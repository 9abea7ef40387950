"""Playing a tape in a fresh world and comparing every tick."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from ptp.errors import RunUnreadable, UsageError
from ptp.recording.database import TAPELESS
from ptp.replay.tape import Tape, TapeStep, hash_of
from ptp.worlds import World, make_world


class Difference(msgspec.Struct):
    """The first tick at which a replay and its tape part."""

    tick: int
    expected: str
    actual: str
    why: list[str]


class Replayed(msgspec.Struct):
    """What a replay found."""

    run_id: str
    world: str
    from_tick: int
    ticks: int
    """Ticks that were compared."""
    equal: bool
    difference: Difference | None = None


class Replay:
    """Plays a tape tick by tick; iterating yields the steps, and `result` tells how it went."""

    def __init__(self, tape: Tape, from_tick: int = 1, *, trusted: bool = False) -> None:
        if not tape.length:
            why = f"schema {tape.schema}, which keeps no tape" if tape.schema in TAPELESS else "no steps"
            raise RunUnreadable(f"run {tape.metadata.run_id} has {why}; there is nothing to replay")
        if not 1 <= from_tick <= tape.length:
            raise UsageError(f"--from-tick {from_tick} is not on the tape; it has ticks 1 to {tape.length}")
        self._tape = tape
        self._from = from_tick
        self.world: World = make_world(tape.world, tape.metadata.facts.render_mode, trusted=trusted or tape.is_trusted)
        self.result = Replayed(tape.metadata.run_id, tape.metadata.world.name, from_tick, 0, True)

    def __iter__(self) -> Iterator[TapeStep]:
        """Apply each command; end after the last one, or at the first difference."""
        world, result, tape = self.world, self.result, self._tape
        for step, outcome in tape.play(world, tape.steps(tape.seeded_start(self._from))):
            if step.tick < self._from:
                continue
            actual = hash_of(world, outcome)
            result.ticks += 1
            if actual != step.state_hash:
                result.equal = False
                result.difference = Difference(step.tick, step.state_hash, actual, self._reasons())
                return
            yield step

    def _reasons(self) -> list[str]:
        then, now = self._tape.metadata.facts, self.world.facts
        changed = changes_of(then.origin, now.origin)
        if then.version != now.version:
            changed.append(f"the world's version was {then.version}, is {now.version}")
        return changed or ["the same versions gave another result; the world itself is not deterministic"]

    def close(self) -> None:
        """Free the world and the tape."""
        self.world.close()
        self._tape.close()


def changes_of(then: dict[str, str], now: dict[str, str]) -> list[str]:
    """Return in words which versions and files of a world are others now."""
    return [
        f"{name} was {then.get(name, 'absent')}, is {now.get(name, 'absent')}"
        for name in sorted(then.keys() | now.keys())
        if then.get(name) != now.get(name)
    ]
