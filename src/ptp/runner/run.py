"""Beginning a run: a new one, one that is resumed, or one that leaves another at a tick."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from ptp import __version__
from ptp._util.clock import Clock, iso
from ptp._util.ids import derive_seed, uuid7
from ptp.agents import make_agent
from ptp.agents.registry import is_foreign
from ptp.config import RunConfig
from ptp.engine import Engine
from ptp.errors import PtpError, UsageError
from ptp.recording import Recorder, RunDirectory
from ptp.recording.packed import is_packed, readable
from ptp.recording.trust import of_agent, of_world, trust, trusts
from ptp.records import Metadata, Parent, Resumed, RunResult, WorldSpec
from ptp.replay import Tape
from ptp.replay.travel import travel
from ptp.retention.plan import Limits
from ptp.retention.prune import prune_at_start
from ptp.retention.rollup import unpack_run
from ptp.runner.pictures import adopt_pictures, choose_profile
from ptp.runner.session import Session
from ptp.runner.start import start_file
from ptp.sinks import RunContext, Sink, find_sink
from ptp.snapshots import SnapshotStore
from ptp.versioning import SCHEMA_VERSION
from ptp.worlds import choose_world, make_world
from ptp.worlds.registry import foreign_code


class Trusted(NamedTuple):
    """Whose code may be loaded although it is not installed."""

    world: bool
    agent: bool


def run(
    config: RunConfig, *, run_id: str | None = None, clock: Clock | None = None, sinks: Sequence[Sink] = ()
) -> RunResult:
    """Play one run from start to end and keep it."""
    clock = clock or Clock()
    sinks = _all_sinks(config, sinks)
    seed = config.system.random_seed if config.system.random_seed is not None else secrets.randbelow(2**31)
    agent_seed = derive_seed(seed, "agent")
    with start_file(choose_world(config.world, config.given)) as spec:
        engine = _make_engine(config, spec, clock, seed, agent_seed, Trusted(world=True, agent=True))
        try:
            _remember_code(config, spec)
            choose_profile(config, engine.world)
            _prune_first(config)
            directory = RunDirectory.create(Path(config.system.data_dir), run_id or uuid7(clock.time()))
            try:
                context = _context(directory, _introduce(config, engine, directory, agent_seed), config, engine)
                recorder = Recorder(directory, context)
            except (PtpError, KeyboardInterrupt):
                directory.discard()
                raise
            return Session(context, engine, recorder, sinks).play()
        finally:
            engine.world.close()


def resume(
    directory: RunDirectory,
    config: RunConfig,
    *,
    clock: Clock | None = None,
    sinks: Sequence[Sink] = (),
    trusted: bool = False,
) -> RunResult:
    """Resume a run that crashed or stopped, in place, from its last committed tick."""
    clock = clock or Clock()
    sinks = _all_sinks(config, sinks)
    directory.acquire()
    try:
        if is_packed(directory.database):
            unpack_run(directory)
        metadata = directory.read_metadata()
        engine = engine_of(directory, metadata, config, clock, trusted=trusted)
    except PtpError:
        directory.release()
        raise
    try:
        tape = Tape(directory)
        try:
            travel(engine, tape, SnapshotStore(directory.path / "snapshots"), tape.length)
        finally:
            tape.close()
        _count_spending(engine, directory)
        metadata.status, metadata.completed_at = "running", None
        metadata.ticks = metadata.stop = metadata.error = metadata.exit_code = None
        metadata.resumed = [*metadata.resumed, Resumed(iso(clock.time()), engine.progress.ticks)]
        context = _context(directory, metadata, config, engine)
        return Session(context, engine, Recorder(directory, context), sinks).play()
    finally:
        engine.world.close()
        directory.release()


def fork(
    parent: RunDirectory,
    at_tick: int,
    config: RunConfig,
    *,
    run_id: str | None = None,
    clock: Clock | None = None,
    sinks: Sequence[Sink] = (),
    trusted: bool = False,
) -> RunResult:
    """Start a new run whose history is another one's up to a tick."""
    clock = clock or Clock()
    sinks = _all_sinks(config, sinks)
    engine, agent_seed = _engine_at(parent, at_tick, config, clock, trusted)
    try:
        directory = RunDirectory.create(Path(config.system.data_dir), run_id or uuid7(clock.time()))
        try:
            metadata = _introduce(config, engine, directory, agent_seed)
            metadata.parent = Parent(parent.run_id, at_tick)
            context = _context(directory, metadata, config, engine)
            recorder = Recorder(directory, context)
            recorder.adopt(readable(parent.database), parent.run_id, at_tick)
            adopt_pictures(context, parent, at_tick)
            _count_spending(engine, directory)
        except (PtpError, KeyboardInterrupt):
            directory.discard()
            raise
        return Session(context, engine, recorder, sinks).play()
    finally:
        engine.world.close()


def _engine_at(
    parent: RunDirectory, at_tick: int, config: RunConfig, clock: Clock, trusted: bool
) -> tuple[Engine, int]:
    """Return an engine that stands at a tick of another run, and the seed of its agent."""
    origin, tape = parent.read_metadata(), Tape(parent)
    try:
        if not 0 <= at_tick <= tape.length:
            raise UsageError(f"--at-tick {at_tick} is not on the tape; it has ticks 0 to {tape.length}")
        dice = config.system.random_seed if config.system.random_seed is not None else origin.random_seed
        agent_seed = derive_seed(dice, "agent")
        metadata = msgspec.structs.replace(origin, agent_seed=agent_seed)
        engine = engine_of(parent, metadata, config, clock, trusted=trusted)
        same_mind = (config.agent.name, agent_seed) == (origin.agent, origin.agent_seed)
        travel(engine, tape, SnapshotStore(parent.path / "snapshots"), at_tick, with_agent=same_mind)
    finally:
        tape.close()
    return engine, agent_seed


def _all_sinks(config: RunConfig, sinks: Sequence[Sink]) -> list[Sink]:
    """Return the sinks that were given, and those that the settings name."""
    return [*sinks, *map(find_sink, filter(None, (config.system.sinks or "").split(",")))]


def _prune_first(config: RunConfig) -> None:
    storage = config.storage
    if storage.prune_on_start:
        prune_at_start(Path(config.system.data_dir), Limits(storage.max_record_bytes, storage.max_sessions))


def engine_of(
    directory: RunDirectory, metadata: Metadata, config: RunConfig, clock: Clock, *, trusted: bool = False
) -> Engine:
    """Make the engine that a recorded run was played by; unless *trusted*, only of code that was run here before."""
    seed = metadata.random_seed
    agent_seed = derive_seed(seed, "agent") if metadata.agent_seed is None else metadata.agent_seed
    code = Trusted(
        world=trusted or directory.trusts_world(metadata.world),
        agent=trusted or "agent.name" in config.given or trusts(directory.data_dir, of_agent(config.agent.name)),
    )
    return _make_engine(config, directory.resolve(metadata.world), clock, seed, agent_seed, code)


def _remember_code(config: RunConfig, spec: WorldSpec) -> None:
    """Let later commands make this world and agent again: a person has run them here."""
    codes = [of_world(spec)] if foreign_code(spec) else []
    codes += [of_agent(config.agent.name)] if is_foreign(config.agent.name) else []
    trust(Path(config.system.data_dir), *codes)


def _count_spending(engine: Engine, directory: RunDirectory) -> None:
    tape = Tape(directory)
    engine.raise_spending(*tape.spending())
    tape.close()


def _make_engine(
    config: RunConfig, spec: WorldSpec, clock: Clock, seed: int, agent_seed: int, trusted: Trusted
) -> Engine:
    world = make_world(spec, config.world.render_mode, trusted=trusted.world)
    try:
        agent = make_agent(config.agent.name, world, config.agent, agent_seed, wake=clock.wake, trusted=trusted.agent)
        return Engine(world, agent, config, clock, seed)
    except PtpError:
        world.close()
        raise


def _context(directory: RunDirectory, metadata: Metadata, config: RunConfig, engine: Engine) -> RunContext:
    return RunContext(directory.path, metadata, config, engine.play, engine)


def _introduce(config: RunConfig, engine: Engine, directory: RunDirectory, agent_seed: int) -> Metadata:
    return Metadata(
        run_id=directory.run_id,
        status="running",
        ptp_version=__version__,
        schema_version=SCHEMA_VERSION,
        experiment_name=config.experiment.name,
        world=directory.keep_files(engine.world.spec),
        facts=engine.world.facts,
        agent=config.agent.name,
        random_seed=engine.play.seed,
        started_at=iso(engine.clock.time()),
        agent_seed=agent_seed,
    )
