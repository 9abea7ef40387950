"""The tape of a run (its world, its seed, and every command in order), and playing it again in a fresh world."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain, takewhile
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import msgspec

from ptp import __version__
from ptp._util.ids import derive_seed
from ptp.errors import RunUnreadable, UsageError
from ptp.recording import RunDirectory
from ptp.recording.branches import Branches
from ptp.recording.database import TAPELESS, Database
from ptp.recording.history import branches_of
from ptp.snapshots import SnapshotHeader
from ptp.snapshots.keys import Head
from ptp.snapshots.tape import Begun, Decided, Played, command_of, hash_of
from ptp.worlds import Outcome, World, make_world

T = TypeVar("T")
LONGEST = 300  # characters of a value that differs
_encode = msgspec.json.Encoder().encode


class TapeStep(NamedTuple):
    """One command and what came of it."""

    tick: int
    episode: int
    step: int
    command: str
    reward: float | None
    terminated: bool
    truncated: bool
    state_hash: str
    decision_id: str | None
    """The decision that was made just before this command."""

    @property
    def decision(self) -> int | None:
        """The number of that decision."""
        return None if self.decision_id is None else number_of(self.decision_id)


_COLUMNS = """tick, episode, step, command, reward, terminated, truncated, state_hash, (SELECT max(decision_id)
    FROM action_history a WHERE a.tick = steps.tick - 1 AND a.execution_status IS NOT 'rolled_back')"""


def number_of(decision_id: Any) -> int:
    """Return the number that the id of a decision was made of."""
    try:
        return int(decision_id[24:36], 16)
    except (TypeError, ValueError):
        raise RunUnreadable(f"{decision_id!r} is not the id of a decision; restore the run from a copy") from None


def _convert(row: Sequence[Any], type: type[T], about: str) -> T:
    try:
        return msgspec.convert(row, type, strict=False)
    except msgspec.ValidationError as problem:
        raise RunUnreadable(f"{about} {row[0]!r} can't be read: {problem}; restore the run from a copy") from None


def _options(text: str | None) -> dict[str, Any] | None:
    try:
        return None if text is None else msgspec.json.decode(text, type=dict[str, Any])
    except (msgspec.DecodeError, RecursionError, TypeError) as problem:
        raise RunUnreadable(
            f"the options of an episode can't be read: {problem}; restore the run from a copy"
        ) from None


class Tape:
    """A run's tape, read from its database."""

    def __init__(self, directory: RunDirectory) -> None:
        self.metadata = directory.read_metadata()
        self.world = directory.resolve(self.metadata.world)
        self.is_trusted = directory.trusts_world(self.metadata.world)
        self._database = Database(directory.database)
        self.schema = self._database.version

    @cached_property
    def length(self) -> int:
        """How many ticks it has."""
        length: int = self._database.row("SELECT count(*) FROM steps")[0]
        return length

    def seeded_start(self, tick: int) -> int:
        """Return the tick from which the world can be played to *tick*: the first of the last episode with a seed."""
        query = """SELECT s.tick FROM steps s LEFT JOIN episode_starts e USING (episode)
                   WHERE s.tick <= ? AND s.step = 1 AND (e.episode IS NULL OR e.seed IS NOT NULL)
                   ORDER BY s.tick DESC LIMIT 1"""
        for (first,) in self._database.rows(query, tick):
            return int(first)
        raise RunUnreadable(f"the tape has no tick {tick}")

    def whole_episodes(self) -> int:
        """Return how many episodes have ended."""
        count: int = self._database.row("SELECT count(*) FROM episodes")[0]
        return count

    def start(self, episode: int) -> tuple[int | None, dict[str, Any] | None]:
        """Return the seed and the options of an episode; older runs keep no more of it than the run's seed.

        The seed is None when the world continued with its own random numbers.
        """
        for seed, options in self._database.rows("SELECT seed, options FROM episode_starts WHERE episode = ?", episode):
            if not isinstance(seed, int | None):
                raise RunUnreadable(f"the seed of episode {episode} can't be read: {seed!r}")
            return seed, _options(options)
        return derive_seed(self.metadata.random_seed, "episode", episode), None

    def states(self, first: int) -> Iterator[tuple[str | None, bool]]:
        """Return the states from tick *first* on as they are stored, and whether null means that nothing changed."""
        query = """SELECT s.state, e.state IS NOT NULL FROM steps s LEFT JOIN episode_starts e USING (episode)
                   WHERE s.tick >= ? ORDER BY s.tick"""
        return ((state, bool(kept)) for state, kept in self._database.rows(query, first))

    def steps(self, first: int = 1) -> Iterator[TapeStep]:
        """Return the steps from tick *first* on."""
        query = f"SELECT {_COLUMNS} FROM steps WHERE tick >= ? ORDER BY tick"
        return (_convert(row, TapeStep, "tick") for row in self._database.rows(query, first))

    def play(self, world: World, steps: Iterable[TapeStep]) -> Iterator[tuple[TapeStep, Outcome]]:
        """Apply steps to a world, which begins every episode anew, and return what came of each."""
        for step in steps:
            if step.step == 1:
                world.reset(*self.start(step.episode))
            yield step, world.step(command_of(world, step.tick, step.command))

    def played(self, last_tick: int) -> list[Played]:
        """Return the steps up to a tick as a shared snapshot carries them."""
        query = f"SELECT {', '.join(Played.__struct_fields__)} FROM steps WHERE tick <= ? ORDER BY tick"
        rows = self._database.rows(query, last_tick)
        return [_convert(row, Played, "the step of episode") for row in rows]

    def begun(self, last_tick: int) -> list[Begun]:
        """Return how the episodes up to a tick began, as a shared snapshot carries it."""
        query = "SELECT episode, tick, seed, options FROM episode_starts WHERE tick < ? ORDER BY episode"
        return [
            _convert((episode, tick, seed, _options(options)), Begun, "episode")
            for episode, tick, seed, options in self._database.rows(query, max(1, last_tick))
        ]

    def decided(self, last_tick: int) -> list[Decided]:
        """Return the decisions that led to a tick as a shared snapshot carries them."""
        columns = ", ".join(Decided.__struct_fields__[1:])
        query = f"""SELECT decision_id, {columns} FROM action_history
                    WHERE tick < ? AND execution_status IS NOT 'rolled_back' ORDER BY decision_id"""
        rows = self._database.rows(query, last_tick)
        return [_convert((number_of(decision_id), *rest), Decided, "decision") for decision_id, *rest in rows]

    def spending(self, tick: int | None = None) -> tuple[float, int, float]:
        """Return what the run has spent, up to a tick if one is named: dollars, decisions, seconds."""
        last = self.length if tick is None else tick
        spent = "SELECT coalesce(sum(api_cost), 0), max(decision_id) FROM action_history WHERE ?1 IS NULL OR tick < ?1"
        cost, newest = self._database.row(spent, tick)
        (elapsed,) = self._database.row("SELECT coalesce(max(elapsed), 0) FROM steps WHERE tick <= ?", last)
        return cost, 0 if newest is None else number_of(newest) + 1, elapsed

    def is_current(self, header: SnapshotHeader | Head) -> bool:
        """Whether a snapshot lies on the tape as it is now, and not in a future that was discarded."""
        return self.shared(header) == header.tick <= self.length

    def shared(self, header: SnapshotHeader | Head) -> int:
        """Return the last tick that the tape as it is now has in common with what led to a snapshot."""
        return self._branches.shared(header.rewinds, header.tick)

    @cached_property
    def _branches(self) -> Branches:
        return branches_of(self._database.rows)

    def close(self) -> None:
        """Close the database."""
        self._database.close()


class ExportedStep(msgspec.Struct):
    """A line of an exported file of episodes, as far as a replay needs it."""

    tick: int
    episode: int
    step: int
    command: str
    reward: float | None
    terminated: bool
    truncated: bool
    state_hash: str
    state: msgspec.Raw


def read_steps(path: Path) -> list[ExportedStep]:
    """Return the steps of an exported file; a line that is none is named by its number."""
    try:
        lines = path.read_bytes().splitlines()
    except OSError as problem:
        raise UsageError(f"{path}: {problem.strerror}; name a file that can be read") from None
    steps = []
    for number, line in enumerate(lines, 1):
        try:
            steps.append(msgspec.json.decode(line, type=ExportedStep))
        except (msgspec.DecodeError, UnicodeDecodeError) as problem:
            raise UsageError(f"{path}:{number}: not a step of an exported episode: {problem}") from None
        if steps[-1].tick != steps[0].tick + number - 1:
            raise UsageError(f"{path}:{number}: tick {steps[-1].tick} does not follow on the one before")
    if not steps:
        raise UsageError(f"{path}: the file has no steps")
    return steps


class ExportedTape(Tape):
    """A tape whose steps are those of an exported file; the run that it was exported from says how they began."""

    def __init__(self, directory: RunDirectory, steps: list[ExportedStep]) -> None:
        super().__init__(directory)
        self._steps = [TapeStep._make((*msgspec.structs.astuple(step)[:-1], None)) for step in steps]
        self._states = [bytes(step.state).decode() for step in steps]
        self.first, self.length = steps[0].tick, steps[-1].tick
        self.metadata.ticks = None  # the file need not hold the whole run

    def states(self, first: int) -> Iterator[tuple[str | None, bool]]:
        """Return the states from tick *first* on, those of the file as it has them."""
        for tick, (stored, kept) in zip(range(first, self.length + 1), super().states(first), strict=False):
            text = None if tick < self.first else self._states[tick - self.first]
            yield stored if text is None else None if text == "null" else text, kept

    def steps(self, first: int = 1) -> Iterator[TapeStep]:
        """Return the steps from tick *first* on: before those of the file come those that led to it."""
        before = takewhile(lambda step: step.tick < self.first, super().steps(first))
        return chain(before, (step for step in self._steps if step.tick >= first))


class Difference(msgspec.Struct):
    """The first tick at which a replay and its tape part."""

    tick: int
    column: str
    """What differs: a column of `steps`, or a figure of the header."""
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
        # another version of ptp may read more of a game, or less
        self._reads_states = tape.metadata.ptp_version == __version__
        self.result = Replayed(tape.metadata.run_id, tape.metadata.world.name, from_tick, 0, True)

    def __iter__(self) -> Iterator[TapeStep]:
        """Apply each command; end after the last one, or at the first difference."""
        world, result, tape = self.world, self.result, self._tape
        first, before, known = tape.seeded_start(self._from), None, b""
        for step, (state, kept) in zip(tape.steps(first), tape.states(first), strict=True):
            if step.step == 1:
                known = _encode(world.state(world.reset(*tape.start(step.episode))))
            outcome = world.step(command_of(world, step.tick, step.command))
            shown = _encode(world.state(outcome.observation))
            if step.tick >= self._from:
                result.ticks += 1
                columns = chain(
                    _follows(before, step, first),
                    _outcome(step, outcome, hash_of(world, outcome)),
                    _state(state, shown, known, kept) if self._reads_states else (),
                )
                if self._part(step.tick, columns):
                    return
                yield step
            before, known = step, shown
        if self._part(tape.length, self._totals()):
            return

    def _part(self, tick: int, columns: Iterable[tuple[str, object, object]]) -> bool:
        """Note the first of the columns that is not what it should be: its name, what is stored, and what was found."""
        for name, stored, found in columns:
            if stored != found:
                why = self._reasons() if name == "state_hash" else [f"{name} was changed after it was recorded"]
                self.result.equal = False
                self.result.difference = Difference(tick, name, str(stored)[:LONGEST], str(found)[:LONGEST], why)
                return True
        return False

    def _totals(self) -> Iterator[tuple[str, object, object]]:
        header, tape = self._tape.metadata, self._tape
        if header.ticks is not None and header.completed_at is not None:
            yield "ticks", header.ticks, tape.length
            yield "episodes", header.episodes, tape.whole_episodes()

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


def _follows(before: TapeStep | None, step: TapeStep, first: int) -> Iterator[tuple[str, object, object]]:
    """Return how ticks, episodes and steps should go on; a loop of somebody's own may begin an episode early."""
    yield "tick", step.tick, first if before is None else before.tick + 1
    if before is not None:
        begins = before.terminated or before.truncated or step.step == 1
        yield "episode", step.episode, before.episode + begins
        yield "step", step.step, 1 if begins else before.step + 1


def _outcome(step: TapeStep, outcome: Outcome, state_hash: str) -> Iterator[tuple[str, object, object]]:
    yield "state_hash", step.state_hash, state_hash
    yield "reward", step.reward, None if outcome.reward != outcome.reward else float(outcome.reward)
    yield "terminated", bool(step.terminated), bool(outcome.terminated)
    yield "truncated", bool(step.truncated), bool(outcome.truncated)


def _state(stored: str | None, shown: bytes, known: bytes, kept: bool) -> Iterator[tuple[str, object, object]]:
    """Compare a state: null stands for the one before, but in an imported run, which has only the last."""
    if stored is not None or kept:
        yield "state", (known.decode() if stored is None else stored), shown.decode()


def changes_of(then: dict[str, str], now: dict[str, str]) -> list[str]:
    """Return in words which versions and files of a world are others now."""
    return [
        f"{name} was {then.get(name, 'absent')}, is {now.get(name, 'absent')}"
        for name in sorted(then.keys() | now.keys())
        if then.get(name) != now.get(name)
    ]
