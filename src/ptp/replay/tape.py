"""The tape of a run (its world, its seed, and every command in order), and playing it again in a fresh world."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import msgspec

from ptp._util.ids import derive_seed
from ptp.errors import RunUnreadable, UsageError
from ptp.recording import RunDirectory
from ptp.recording.database import TAPELESS, Database
from ptp.snapshots import SnapshotHeader
from ptp.snapshots.keys import Head
from ptp.snapshots.tape import Begun, Decided, Played
from ptp.worlds import Outcome, World, make_world


class TapeStep(NamedTuple):
    """One command and what came of it."""

    tick: int
    episode: int
    step: int
    command: str
    reward: float | None
    state_hash: str
    decision_id: str | None
    """The decision that was made just before this command."""

    @property
    def decision(self) -> int | None:
        """The number of that decision."""
        return None if self.decision_id is None else number_of(self.decision_id)


_COLUMNS = """tick, episode, step, command, reward, state_hash, (SELECT max(decision_id)
    FROM action_history a WHERE a.tick = steps.tick - 1 AND a.execution_status IS NOT 'rolled_back')"""


def number_of(decision_id: str) -> int:
    """Return the number that the id of a decision was made of."""
    return int(decision_id[24:36], 16)


def hash_of(world: World, outcome: Outcome) -> str:
    """Return the hash of what a step showed."""
    return world.state_hash(outcome.observation, outcome.reward, outcome.terminated, outcome.truncated)


class Tape:
    """A run's tape, read from its database."""

    def __init__(self, directory: RunDirectory) -> None:
        self.metadata = directory.read_metadata()
        self.world = directory.resolve(self.metadata.world)
        self.is_trusted = directory.trusts_world(self.metadata.world)
        self._database = Database(directory.database)
        self.schema = self._database.version
        self.length: int = self._database.row("SELECT count(*) FROM steps")[0]

    def seeded_start(self, tick: int) -> int:
        """Return the tick from which the world can be played to *tick*: the first of the last episode with a seed."""
        query = """SELECT s.tick FROM steps s LEFT JOIN episode_starts e USING (episode)
                   WHERE s.tick <= ? AND s.step = 1 AND (e.episode IS NULL OR e.seed IS NOT NULL)
                   ORDER BY s.tick DESC LIMIT 1"""
        for (first,) in self._database.rows(query, tick):
            return int(first)
        raise RunUnreadable(f"the tape has no tick {tick}")

    def start(self, episode: int) -> tuple[int | None, dict[str, Any] | None]:
        """Return the seed and the options of an episode; older runs keep no more of it than the run's seed.

        The seed is None when the world continued with its own random numbers.
        """
        for seed, options in self._database.rows("SELECT seed, options FROM episode_starts WHERE episode = ?", episode):
            return seed, None if options is None else msgspec.json.decode(options)
        return derive_seed(self.metadata.random_seed, "episode", episode), None

    def steps(self, first: int = 1) -> Iterator[TapeStep]:
        """Return the steps from tick *first* on."""
        query = f"SELECT {_COLUMNS} FROM steps WHERE tick >= ? ORDER BY tick"
        return map(TapeStep._make, self._database.rows(query, first))

    def play(self, world: World, steps: Iterable[TapeStep]) -> Iterator[tuple[TapeStep, Outcome]]:
        """Apply steps to a world, which begins every episode anew, and return what came of each."""
        for step in steps:
            if step.step == 1:
                world.reset(*self.start(step.episode))
            yield step, world.step(world.decode(step.command))

    def played(self, last_tick: int) -> list[Played]:
        """Return the steps up to a tick as a shared snapshot carries them."""
        query = f"SELECT {', '.join(Played.__struct_fields__)} FROM steps WHERE tick <= ? ORDER BY tick"
        rows = self._database.rows(query, last_tick)
        return [msgspec.convert(row, Played, strict=False) for row in rows]

    def begun(self, last_tick: int) -> list[Begun]:
        """Return how the episodes up to a tick began, as a shared snapshot carries it."""
        query = "SELECT episode, tick, seed, options FROM episode_starts WHERE tick < ? ORDER BY episode"
        return [
            Begun(episode, tick, seed, None if options is None else msgspec.json.decode(options))
            for episode, tick, seed, options in self._database.rows(query, max(1, last_tick))
        ]

    def decided(self, last_tick: int) -> list[Decided]:
        """Return the decisions that led to a tick as a shared snapshot carries them."""
        columns = ", ".join(Decided.__struct_fields__[1:])
        query = f"""SELECT decision_id, {columns} FROM action_history
                    WHERE tick < ? AND execution_status IS NOT 'rolled_back' ORDER BY decision_id"""
        rows = self._database.rows(query, last_tick)
        return [Decided(number_of(decision_id), *rest) for decision_id, *rest in rows]

    def spending(self) -> tuple[float, int, float]:
        """Return what the run has spent: dollars, decisions, seconds."""
        cost, newest = self._database.row("SELECT coalesce(sum(api_cost), 0), max(decision_id) FROM action_history")
        (elapsed,) = self._database.row("SELECT coalesce(max(elapsed), 0) FROM steps")
        return cost, 0 if newest is None else number_of(newest) + 1, elapsed

    def is_current(self, header: SnapshotHeader | Head) -> bool:
        """Whether a snapshot lies on the tape as it is now, and not in a future that was discarded."""
        query = "SELECT count(*) FROM rewinds WHERE rewind > ? AND to_tick < ?"
        (given_up,) = self._database.row(query, header.rewinds, header.tick)
        return not given_up and header.tick <= self.length

    def close(self) -> None:
        """Close the database."""
        self._database.close()


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
    """Plays a tape tick by tick; iterating yields the steps, and `result` says how it went."""

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
