"""Handing a snapshot on as one file that holds all that led to it, and making a run of such a file.

The run can be resumed, forked and replayed like any other.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime
from math import nan
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from ptp import __version__
from ptp._util.clock import Clock, iso
from ptp._util.files import write_atomic
from ptp._util.ids import uuid7
from ptp.agents import make_agent
from ptp.agents.registry import is_foreign
from ptp.config import RunConfig
from ptp.config.tree import BY_FLAG, BY_PATH, Values, build, values_of
from ptp.engine import Engine, Play
from ptp.errors import ConfigError, PtpError, RunUnreadable, SnapshotError, UnknownName
from ptp.recording import Recorder, RunDirectory
from ptp.records import DecisionMade, EpisodeBegan, EpisodeEnded, Metadata, Parent, Step, Stop
from ptp.replay import Tape
from ptp.replay.tape import changes_of
from ptp.replay.travel import load_mind, load_world
from ptp.runs.settings import read_config
from ptp.runs.steering import store_of
from ptp.sinks import RunContext
from ptp.snapshots import SharedTape, Snapshot, SnapshotHeader
from ptp.snapshots.snapshot import check_world, pack
from ptp.snapshots.tape import StartFile, play_there
from ptp.versioning import SCHEMA_VERSION
from ptp.worlds import World, choose_world, make_world
from ptp.worlds.knowledge import knowledge_of

SUFFIXES: dict[StartFile, str] = {"start_state": ".state", "save_file": ".sav"}
PLAY = ("world.profile", "world.frames_per_tick", "system.random_seed")


def export_snapshot(directory: RunDirectory, wanted: str, target: Path) -> SnapshotHeader:
    """Write a snapshot and its tape to a file that another machine can resume from."""
    if target.exists():
        raise SnapshotError(f"{target} is there already; choose another file")
    header, data = export_bytes(directory, wanted)
    try:
        write_atomic(target, data)
    except OSError as problem:
        raise SnapshotError(f"{target} can't be written: {problem.strerror}; choose another file") from None
    return header


def export_bytes(directory: RunDirectory, wanted: str) -> tuple[SnapshotHeader, bytes]:
    """Return a snapshot with its tape as the bytes of a file."""
    store = store_of(directory)
    header = store.find(wanted)
    snapshot = store.load(header)
    with closing(Tape(directory)) as tape:
        shared = _shared_tape(directory, tape, header.tick) if tape.is_current(header) else None
    if shared is None and not snapshot.world:
        raise SnapshotError(f"snapshot {wanted!r} belongs to ticks that were rolled back, and so has no tape")
    return header, pack(msgspec.structs.replace(snapshot, tape=shared), True)


def _shared_tape(directory: RunDirectory, tape: Tape, tick: int) -> SharedTape:
    metadata, kept = tape.metadata, tape.world.options
    steps = tape.played(tick)
    if len(steps) != tick:
        raise SnapshotError(f"the tape of {metadata.run_id} has {len(steps)} ticks of {tick}; try again")
    try:
        files = {name: Path(kept[name]).read_bytes() for name in SUFFIXES if name in kept}
    except OSError as problem:
        raise RunUnreadable(f"{problem.filename} can't be read: {problem.strerror}; restore it from a copy") from None
    values = values_of(read_config(directory)).items()
    return SharedTape(
        random_seed=metadata.random_seed,
        agent_seed=metadata.agent_seed,
        origin=metadata.facts.origin,
        settings={item.path: value for item, value in values if _is_shared(item.path) and value != item.default},
        files=files,
        steps=steps,
        decisions=tape.decided(tick),
        starts=tape.begun(tick),
    )


def _is_shared(path: str) -> bool:
    """Whether a setting says how the game is played, and not where or for how long."""
    return path.startswith(("tick_rate.", "command.")) or path in PLAY


# -- taking one in ---------------------------------------------------------------------------------------------


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
    words = (header.run_id, header.world, header.agent, header.reason, header.location, header.name or "")
    if not all(word.isprintable() for word in (*words, *(header.message or "").splitlines())):
        # they would do something to the terminal they are shown in
        raise SnapshotError("the snapshot's header has characters that can't be shown; get it from elsewhere")
    if tape is None:
        raise SnapshotError(
            f"the snapshot of {header.world!r} carries no tape, so no run can be made of it; "
            "export it again, or begin a cartridge from it with --start-state"
        )
    values = _values_of(header, tape, world, rom)
    with tempfile.TemporaryDirectory() as folder:
        files: Values = {}
        for name, data in tape.files.items():  # what a cartridge began from, until it is copied
            path = Path(folder, name + SUFFIXES[name])
            path.write_bytes(data)
            files[BY_PATH[f"world.{name}"]] = str(path)
        played = _make(header, {**values, **files}, named=world is not None)
        try:
            config = build({**values, BY_FLAG["--agent"]: header.agent, BY_FLAG["--data-dir"]: str(data_dir)})
            state = _put_there(played, snapshot, tape, config)
            return _keep(config, played, snapshot, tape, state)
        finally:
            played.close()


def _values_of(header: SnapshotHeader, tape: SharedTape, world: str | None, rom: str | None) -> Values:
    """Return settings that name the world and say how to play; a file can't choose code to load or files to read."""
    values: Values = {}
    for path, value in tape.settings.items():
        if path not in BY_PATH or not _is_shared(path):
            raise SnapshotError(f"the snapshot has the setting {path!r}, which this ptp does not take; get a newer ptp")
        values[BY_PATH[path]] = BY_PATH[path].check(value, f"the snapshot's {path}")
    if rom is None and world is None:
        knowledge = knowledge_of(header.family)
        world = knowledge.world_of(header.world, header.origin)
        if world is None:
            identity = f"{knowledge.identity} {header.origin.get(knowledge.identity or '')}"
            raise SnapshotError(f"the snapshot is of {header.world!r} with {identity}; give its file with --rom")
        if ":" in world or world.endswith((".yaml", ".yml")):
            raise SnapshotError(f"the snapshot is of {world!r}, which is not a plain name; name its world with --world")
    return {**values, BY_FLAG["--world"]: world, BY_FLAG["--rom"]: rom}


def _make(header: SnapshotHeader, values: Values, named: bool) -> World:
    try:
        return make_world(choose_world(build(values).world), trusted=True)
    except UnknownName:
        if named:
            raise
        remedy = "install it, or name its manifest with --world"
        raise SnapshotError(f"the snapshot is of {header.world!r}, which is not here; {remedy}") from None


def _put_there(world: World, snapshot: Snapshot, tape: SharedTape, config: RunConfig) -> Any:
    """Bring a world to the snapshot's tick and return the state there; None when an episode has just ended."""
    header = snapshot.header
    check_world(header, world.facts)
    if snapshot.engine.ticks != header.tick:
        raise SnapshotError(f"the snapshot is damaged: its engine is not at tick {header.tick}; get it again")
    can_load = world.facts.snapshot == "state"
    observation = load_world(world, snapshot) if can_load else play_there(world, tape)
    _try_mind(world, snapshot, observation, config)
    if not tape.steps or tape.steps[-1].terminated or tape.steps[-1].truncated:
        return None
    return world.state(observation)


def _try_mind(world: World, snapshot: Snapshot, observation: Any, config: RunConfig) -> None:
    """Let engine and agent go on from the snapshot, so that one they can't go on from is refused here."""
    if is_foreign(config.agent.name):
        return  # its code is not run before somebody asks for it
    try:
        agent = make_agent(config.agent.name, world, config.agent, 0, wake=lambda: None)
    except (ConfigError, UnknownName):
        return  # it needs what the file does not bring along, and says so when the run is resumed
    try:
        load_mind(Engine(world, agent, config, Clock(), 0), snapshot, observation)
    finally:
        agent.close()


def _keep(config: RunConfig, world: World, snapshot: Snapshot, tape: SharedTape, state: Any) -> Imported:
    """Make the run directory."""
    now, taken = time.time(), snapshot.header
    directory = RunDirectory.create(Path(config.system.data_dir), uuid7(now))
    try:
        metadata = Metadata(
            run_id=directory.run_id,
            status="manual_stop",
            ptp_version=__version__,
            schema_version=SCHEMA_VERSION,
            experiment_name=config.experiment.name,
            world=directory.keep_files(world.spec),
            facts=replace(world.facts, origin=tape.origin),
            agent=taken.agent,
            random_seed=tape.random_seed,
            agent_seed=tape.agent_seed,
            started_at=iso(now),
            completed_at=iso(now),
            ticks=taken.tick,
            episodes=sum(step.terminated or step.truncated for step in tape.steps),
            total_reward=sum(_number(step.reward) for step in tape.steps),
            total_cost=sum(decision.api_cost or 0.0 for decision in tape.decisions),
            elapsed_seconds=tape.steps[-1].elapsed if tape.steps else 0.0,
            stop=Stop("manual", "import", f"imported at tick {taken.tick} of run {taken.run_id}"),
            parent=Parent(taken.run_id, taken.tick),
        )
        play = Play(world, Clock(), tape.random_seed)
        recorder = Recorder(directory, RunContext(directory.path, metadata, config, play))
        recorder.took([*_records(tape, state)])
        recorder.ended(None)
        header = replace(taken, snapshot_id=uuid7(now), run_id=directory.run_id, rewinds=0)
        kept = store_of(directory).save(replace(snapshot, header=header, tape=None), compress=True)
    except (PtpError, KeyboardInterrupt):
        directory.discard()
        raise
    directory.release()
    remarks = changes_of(tape.origin, world.facts.origin)
    return Imported(directory.run_id, str(directory.path), taken.tick, kept, remarks)


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
    for made in tape.decisions:
        at = _moment(made.timestamp)
        yield DecisionMade(
            made.number, at, made.tick, None, made.decision_type, None, None, made.confidence_score,
            _number(made.decision_latency_ms), made.tokens_used, made.api_cost, made.model_used,
            made.execution_status, None, made.execution_duration_ms,
        )  # fmt: skip


def _moment(text: str | None) -> float:
    if text is None:
        return nan
    try:
        return datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError):
        raise SnapshotError(f"the snapshot's tape has the timestamp {text[:40]!r}, which is none") from None


def _number(value: float | None) -> float:
    return nan if value is None else value  # the database keeps NaN as NULL
