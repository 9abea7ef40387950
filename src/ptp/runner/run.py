"""Beginning a run: a new one, one that goes on, or one that leaves another at a tick."""

from __future__ import annotations

import secrets
from pathlib import Path

from ptp import __version__
from ptp._util.clock import Clock, SystemClock, iso
from ptp._util.ids import derive_seed, uuid7
from ptp.agents import AgentOptions, make_agent
from ptp.config import RunConfig
from ptp.engine import Engine
from ptp.errors import PtpError, UsageError
from ptp.recording import Recorder, RunDirectory
from ptp.recording.packed import is_packed, readable
from ptp.records import Metadata, Parent, Resumed, WorldSpec
from ptp.replay import Tape
from ptp.replay.travel import travel
from ptp.runner.pictures import adopt_pictures, choose_profile
from ptp.runner.session import RunResult, Session, Watcher
from ptp.runner.start import start_file
from ptp.snapshots import SnapshotStore
from ptp.versioning import SCHEMA_VERSION
from ptp.worlds import choose_world, make_world


def run(config: RunConfig, *, clock: Clock | None = None, watcher: Watcher | None = None) -> RunResult:
    """Play one run from start to end and keep it."""
    clock = clock or SystemClock()
    seed = config.system.random_seed if config.system.random_seed is not None else secrets.randbelow(2**31)
    with start_file(choose_world(config.world)) as spec:
        return _run_new(config, spec, clock, watcher or Watcher(), seed)


def _run_new(config: RunConfig, spec: WorldSpec, clock: Clock, watcher: Watcher, seed: int) -> RunResult:
    engine = _make_engine(config, spec, clock, seed, derive_seed(seed, "agent"))
    try:
        choose_profile(config, engine.world)
        _prune_first(config)
        directory = RunDirectory.create(Path(config.system.data_dir), uuid7(clock.time()))
        try:
            metadata = _introduce(config, engine, directory, derive_seed(seed, "agent"))
            recorder = Recorder(directory, metadata, config)
        except (PtpError, KeyboardInterrupt):
            directory.discard()
            raise
        return Session(config, engine, recorder, watcher).play()
    finally:
        engine.world.close()


def resume(
    directory: RunDirectory, config: RunConfig, *, clock: Clock | None = None, watcher: Watcher | None = None
) -> RunResult:
    """Go on with a run that crashed or stopped, in place, from its last committed tick."""
    clock = clock or SystemClock()
    directory.acquire()
    try:
        _bring_back(directory)
        metadata = directory.read_metadata()
        engine = engine_of(directory, metadata, config, clock)
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
        return Session(config, engine, Recorder(directory, metadata, config), watcher or Watcher()).play()
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
    watcher: Watcher | None = None,
) -> RunResult:
    """Start a new run whose history is another one's up to a tick."""
    clock = clock or SystemClock()
    origin, tape = parent.read_metadata(), Tape(parent)
    try:
        if not 0 <= at_tick <= tape.length:
            raise UsageError(f"--at-tick {at_tick} is not on the tape; it has ticks 0 to {tape.length}")
        dice = config.system.random_seed if config.system.random_seed is not None else origin.random_seed
        agent_seed = derive_seed(dice, "agent")
        engine = _make_engine(config, parent.resolve(origin.world), clock, origin.random_seed, agent_seed)
        same_mind = (config.agent.name, agent_seed) == (origin.agent, origin.agent_seed)
        travel(engine, tape, SnapshotStore(parent.path / "snapshots"), at_tick, with_agent=same_mind)
    finally:
        tape.close()
    try:
        directory = RunDirectory.create(Path(config.system.data_dir), run_id or uuid7(clock.time()))
        try:
            recorder = _fork_recorder(config, engine, directory, parent, at_tick, agent_seed)
        except (PtpError, KeyboardInterrupt):
            directory.discard()
            raise
        return Session(config, engine, recorder, watcher or Watcher()).play()
    finally:
        engine.world.close()


def _bring_back(directory: RunDirectory) -> None:
    """Unpack the database of an archived run that is gone on with."""
    if is_packed(directory.database):
        from ptp.retention.rollup import unpack_run

        unpack_run(directory)


def _prune_first(config: RunConfig) -> None:
    storage = config.storage
    if storage.prune_on_start:
        from ptp.retention.jobs import prune_at_start
        from ptp.retention.plan import Limits

        prune_at_start(Path(config.system.data_dir), Limits(storage.max_record_bytes, storage.max_sessions))


def engine_of(directory: RunDirectory, metadata: Metadata, config: RunConfig, clock: Clock) -> Engine:
    """Make the engine that a recorded run was played by."""
    seed = metadata.random_seed
    agent_seed = derive_seed(seed, "agent") if metadata.agent_seed is None else metadata.agent_seed
    return _make_engine(config, directory.resolve(metadata.world), clock, seed, agent_seed)


def _fork_recorder(
    config: RunConfig, engine: Engine, directory: RunDirectory, parent: RunDirectory, at_tick: int, agent_seed: int
) -> Recorder:
    metadata = _introduce(config, engine, directory, agent_seed)
    metadata.parent = Parent(parent.run_id, at_tick)
    recorder = Recorder(directory, metadata, config)
    recorder.adopt(readable(parent.database), parent.run_id, at_tick)
    adopt_pictures(config, engine, recorder, parent, at_tick)
    _count_spending(engine, directory)
    return recorder


def _count_spending(engine: Engine, directory: RunDirectory) -> None:
    tape = Tape(directory)
    engine.raise_spending(*tape.spending())
    tape.close()


def _make_engine(config: RunConfig, spec: WorldSpec, clock: Clock, seed: int, agent_seed: int) -> Engine:
    world = make_world(spec, config.world.render_mode)
    try:
        agent = make_agent(config.agent.name, world, AgentOptions(seed=agent_seed, script=config.agent.script))
        return Engine(world, agent, config, clock, seed)
    except PtpError:
        world.close()
        raise


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
        random_seed=engine.seed,
        started_at=iso(engine.clock.time()),
        agent_seed=agent_seed,
    )
