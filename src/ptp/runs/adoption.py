"""Taking a shared snapshot in: it becomes a run of its own, which can be resumed, forked and replayed."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from math import nan
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from ptp import __version__
from ptp._util.clock import Clock, iso
from ptp._util.ids import derive_seed, uuid7
from ptp.config import RunConfig
from ptp.config.tree import BY_FLAG, BY_PATH, Values, build
from ptp.engine import Play
from ptp.errors import PtpError, SnapshotError, UnknownName
from ptp.recording import Recorder, RunDirectory
from ptp.records import DecisionMade, EpisodeBegan, EpisodeEnded, Metadata, Parent, Step, Stop
from ptp.replay.tape import hash_of
from ptp.replay.travel import compare, load_world
from ptp.runs.offline import store_of
from ptp.runs.sharing import is_shared
from ptp.sinks import RunContext
from ptp.snapshots import SharedTape, Snapshot, SnapshotHeader
from ptp.snapshots.snapshot import check_world
from ptp.snapshots.tape import Decided
from ptp.versioning import SCHEMA_VERSION
from ptp.worlds import World, choose_world, make_world
from ptp.worlds.knowledge import knowledge_of

SUFFIXES = {"start_state": ".state", "save_file": ".sav"}


class Imported(msgspec.Struct):
    """The run that was made of a shared snapshot."""

    run_id: str
    directory: str
    tick: int
    snapshot: SnapshotHeader
    remarks: list[str]
    """Versions that are others here than where it was recorded."""


def import_snapshot(data_dir: Path, snapshot: Snapshot, world: str | None = None, rom: str | None = None) -> Imported:
    """Make a run of a shared snapshot; *world* and *rom* say what it is played in when its header can't."""
    header, tape = snapshot.header, snapshot.tape
    _check_words(header)
    if tape is None:
        raise SnapshotError(
            f"the snapshot of {header.world!r} carries no tape, so no run can be made of it; "
            "export it again, or begin a cartridge from it with --start-state"
        )
    values = {**_read_settings(tape.settings), **_world_of(header, world, rom)}
    with _start_files(tape) as files:
        played = _make(header, {**values, **files}, named=world is not None)
        try:
            state = _put_there(played, snapshot, tape)
            config = build({**values, BY_FLAG["--agent"]: header.agent, BY_FLAG["--data-dir"]: str(data_dir)})
            return _keep(config, played, snapshot, tape, state)
        finally:
            played.close()


# -- is it what it says, and can it be gone on from? ---------------------------------------------------------------


def _check_words(header: SnapshotHeader) -> None:
    """Refuse words that would do something to the terminal they are shown in."""
    words = (header.run_id, header.world, header.agent, header.reason, header.location, header.name or "",
             *(header.message or "").splitlines())  # fmt: skip
    if not all(word.isprintable() for word in words):
        raise SnapshotError("the snapshot's header has characters that can't be shown; get it from elsewhere")


def _read_settings(settings: dict[str, Any]) -> Values:
    values: Values = {}
    for path, value in settings.items():
        if path not in BY_PATH or not is_shared(path):
            raise SnapshotError(f"the snapshot has the setting {path!r}, which this ptp does not take; get a newer ptp")
        values[BY_PATH[path]] = BY_PATH[path].check(value, f"the snapshot's {path}")
    return values


def _world_of(header: SnapshotHeader, world: str | None, rom: str | None) -> Values:
    """Return the settings that name a snapshot's world; a file can't choose code to load or other files to read."""
    if rom is None and world is None:
        knowledge = knowledge_of(header.family)
        world = knowledge.world_of(header.world, header.origin)
        if world is None:
            identity = f"{knowledge.identity} {header.origin.get(knowledge.identity or '')}"
            raise SnapshotError(f"the snapshot is of {header.world!r} with {identity}; give its file with --rom")
        if ":" in world or world.endswith((".yaml", ".yml")):
            raise SnapshotError(f"the snapshot is of {world!r}, which is not a plain name; name its world with --world")
    return {BY_FLAG["--world"]: world, BY_FLAG["--rom"]: rom}


def _make(header: SnapshotHeader, values: Values, named: bool) -> World:
    try:
        return make_world(choose_world(build(values).world), trusted=True)
    except UnknownName:
        if named:
            raise
        remedy = "install it, or name its manifest with --world"
        raise SnapshotError(f"the snapshot is of {header.world!r}, which is not here; {remedy}") from None


@contextmanager
def _start_files(tape: SharedTape) -> Iterator[Values]:
    """Lay out what a cartridge began from, until it is copied."""
    with tempfile.TemporaryDirectory() as folder:
        values: Values = {}
        for name, data in tape.files.items():
            path = Path(folder, name + SUFFIXES[name])
            path.write_bytes(data)
            values[BY_PATH[f"world.{name}"]] = str(path)
        yield values


def _put_there(world: World, snapshot: Snapshot, tape: SharedTape) -> Any:
    """Bring a world to the snapshot's tick and return the state there; None when an episode has just ended."""
    header = snapshot.header
    check_world(header, world.facts)
    if snapshot.engine.ticks != header.tick:
        raise SnapshotError(f"the snapshot is damaged: its engine is not at tick {header.tick}; get it again")
    can_load = world.facts.snapshot == "state"
    try:
        observation = load_world(world, snapshot) if can_load else _play_there(world, tape)
    except (ValueError, TypeError, KeyError) as problem:
        raise SnapshotError(f"{header.world!r} can't go on from the snapshot: {problem!r}; get it again") from None
    if not tape.steps or tape.steps[-1].terminated or tape.steps[-1].truncated:
        return None
    return world.state(observation)


def _play_there(world: World, tape: SharedTape) -> Any:
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
        outcome = world.step(world.decode(step.command))
        compare(tick, step.state_hash, hash_of(world, outcome))
        observation = outcome.observation
    return reset(1) if observation is None else observation


# -- the run directory -----------------------------------------------------------------------------------------


def _keep(config: RunConfig, world: World, snapshot: Snapshot, tape: SharedTape, state: Any) -> Imported:
    now = time.time()
    directory = RunDirectory.create(Path(config.system.data_dir), uuid7(now))
    run_id = directory.run_id
    try:
        metadata = _introduce(config, world, directory, snapshot.header, tape, iso(now))
        play = Play(world, Clock(), tape.random_seed)
        recorder = Recorder(directory, RunContext(directory.path, metadata, config, play))
        recorder.took([*_records(tape, state)])
        recorder.ended(None)
        header = replace(snapshot.header, snapshot_id=uuid7(now), run_id=run_id, rewinds=0)
        kept = store_of(directory).save(replace(snapshot, header=header, tape=None), compress=True)
    except (PtpError, KeyboardInterrupt):
        directory.discard()
        raise
    directory.release()
    return Imported(run_id, str(directory.path), header.tick, kept, _changes(tape.origin, world.facts.origin))


def _introduce(
    config: RunConfig, world: World, directory: RunDirectory, header: SnapshotHeader, tape: SharedTape, now: str
) -> Metadata:
    return Metadata(
        run_id=directory.run_id,
        status="manual_stop",
        ptp_version=__version__,
        schema_version=SCHEMA_VERSION,
        experiment_name=config.experiment.name,
        world=directory.keep_files(world.spec),
        facts=replace(world.facts, origin=tape.origin),
        agent=header.agent,
        random_seed=tape.random_seed,
        agent_seed=tape.agent_seed,
        started_at=now,
        completed_at=now,
        ticks=header.tick,
        episodes=sum(step.terminated or step.truncated for step in tape.steps),
        total_reward=sum(_number(step.reward) for step in tape.steps),
        total_cost=sum(decision.api_cost or 0.0 for decision in tape.decisions),
        elapsed_seconds=tape.steps[-1].elapsed if tape.steps else 0.0,
        stop=Stop("manual", "import", f"imported at tick {header.tick} of run {header.run_id}"),
        parent=Parent(header.run_id, header.tick),
    )


def _records(tape: SharedTape, state: Any) -> Iterator[Step | EpisodeEnded | EpisodeBegan | DecisionMade]:
    """Return the tape as records; states stay with the other run, but the last one is known here."""
    reward = 0.0
    for tick, it in enumerate(tape.steps, 1):
        yield Step(
            tick, it.episode, it.step, it.command, it.reward, it.terminated, it.truncated, it.elapsed, it.state_hash,
            state if tick == len(tape.steps) else None,
        )  # fmt: skip
        reward += _number(it.reward)
        if it.terminated or it.truncated:
            yield EpisodeEnded(it.episode, tick, it.step, reward, it.elapsed, it.terminated)
            reward = 0.0
    for start in tape.starts:
        yield EpisodeBegan(start.episode, start.tick, start.seed, start.options, None, None)
    yield from map(_decision, tape.decisions)


def _decision(it: Decided) -> DecisionMade:
    at = datetime.fromisoformat(it.timestamp).timestamp() if it.timestamp else nan
    return DecisionMade(
        it.number, at, it.tick, None, it.decision_type, None, None, it.confidence_score,
        _number(it.decision_latency_ms), it.tokens_used, it.api_cost, it.model_used,
        it.execution_status, None, it.execution_duration_ms,
    )  # fmt: skip


def _number(value: float | None) -> float:
    return nan if value is None else value  # the database keeps what is no number as NULL


def _changes(then: dict[str, str], now: dict[str, str]) -> list[str]:
    return [
        f"{name} was {then.get(name, 'absent')}, is {now.get(name, 'absent')}"
        for name in sorted(then.keys() | now.keys())
        if then.get(name) != now.get(name)
    ]
