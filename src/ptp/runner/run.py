"""Beginning a run: a new one, one that is resumed, or one that leaves another at a tick."""

from __future__ import annotations

import secrets
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

import msgspec

from ptp import __version__
from ptp._util.clock import Clock, iso
from ptp._util.ids import derive_seed, uuid7
from ptp.agents import Answers, make_agent
from ptp.agents.registry import is_foreign
from ptp.config import RunConfig, replace
from ptp.config.files import read_values
from ptp.config.tree import build
from ptp.engine import Engine, Progress
from ptp.engine.limits import Limits
from ptp.errors import ConfigError, PtpError, RecordingError, UsageError
from ptp.frames.kept import adopt_pictures
from ptp.recording import Recorder, RunDirectory
from ptp.recording.continuing import play_on
from ptp.recording.labels import move_labels
from ptp.recording.packed import is_packed, readable
from ptp.recording.trust import of_agent, of_world, trust, trusts
from ptp.records import Metadata, Parent, Resumed, RunResult, WorldSpec
from ptp.replay import Tape
from ptp.replay.answers import RecordedAnswers
from ptp.replay.travel import travel
from ptp.retention.plan import limits_of
from ptp.retention.prune import PruneJob
from ptp.retention.rollup import unpack_run
from ptp.runner.services import choose_profile
from ptp.runner.session import Session
from ptp.sinks import RunContext, Sink, find_sink
from ptp.snapshots.snapshot import MAGIC, check_world, read_file
from ptp.snapshots.triggers import Triggers
from ptp.versioning import SCHEMA_VERSION
from ptp.worlds import choose_world, make_world
from ptp.worlds.contract import Signals
from ptp.worlds.registry import foreign_code


def run(
    config: RunConfig,
    *,
    run_id: str | None = None,
    clock: Clock | None = None,
    sinks: Sequence[Sink] = (),
    evaluates: Parent | None = None,
) -> RunResult:
    """Play one run from start to end and keep it."""
    clock = clock or Clock()
    config = _located(config)
    sinks = _all_sinks(config, sinks)
    seed = config.system.random_seed if config.system.random_seed is not None else secrets.randbelow(2**31)
    agent_seed = derive_seed(seed, "agent")
    data_dir = Path(config.system.data_dir)
    with _start_file(choose_world(config.world, config.given), data_dir) as spec:
        engine = _make_engine(config, spec, clock, seed, agent_seed)
        with closing(engine.world):
            # A person has run this world and agent here, so later commands may make them again.
            codes = [of_world(spec)] if foreign_code(spec) else []
            codes += [of_agent(config.agent.name)] if is_foreign(config.agent.name) else []
            trust(data_dir, *codes)
            choose_profile(config, engine.world)
            if config.storage.prune_on_start:
                sinks = [*sinks, PruneJob(limits_of(config.storage))]
            return _play_new(config, engine, agent_seed, run_id, sinks, evaluates=evaluates)


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
        metadata = directory.read_metadata()
        _check_unfinished(metadata, config)
        if is_packed(directory.database):
            unpack_run(directory)
        answers = recorded_answers(directory, config)
        engine = engine_of(directory, metadata, config, clock, trusted=trusted, answers=answers)
    except PtpError:
        directory.release()
        raise
    try:
        with closing(Tape(directory)) as tape:
            _check_history(metadata, tape)
            travel(engine, tape, directory.path / "snapshots", tape.length)
            engine.raise_spending(*tape.spending())
        metadata.status, metadata.completed_at = "running", None
        metadata.ticks = metadata.stop = metadata.error = metadata.exit_code = None
        metadata.resumed = [*metadata.resumed, Resumed(iso(clock.time()), engine.progress.ticks)]
        context = RunContext(directory.path, metadata, move_labels(config, metadata), engine.play, engine)
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
    config = _located(config)
    sinks = _all_sinks(config, sinks)
    engine, agent_seed = _engine_at(parent, at_tick, config, clock, trusted)
    with closing(engine.world):
        return _play_new(config, engine, agent_seed, run_id, sinks, parent, at_tick)


def _play_new(
    config: RunConfig,
    engine: Engine,
    agent_seed: int,
    run_id: str | None,
    sinks: Sequence[Sink],
    parent: RunDirectory | None = None,
    at_tick: int = 0,
    evaluates: Parent | None = None,
) -> RunResult:
    """Play a run in a directory of its own, which begins with what its parent has up to a tick."""
    Triggers(config.snapshot.on_event, engine.world)  # what the world does not offer is refused before it is played
    now = engine.clock.time()
    directory = RunDirectory.create(Path(config.system.data_dir), run_id or uuid7(now))
    try:
        metadata = Metadata(
            run_id=directory.run_id,
            status="running",
            ptp_version=__version__,
            schema_version=SCHEMA_VERSION,
            experiment_name=config.experiment.name,
            world=directory.keep_files(engine.world.spec),
            facts=engine.world.facts,
            agent=short_name(config.agent.name),
            random_seed=engine.play.seed,
            started_at=iso(now),
            agent_seed=agent_seed,
            parent=None if parent is None else Parent(parent.run_id, at_tick),
            evaluates=evaluates,
        )
        context = RunContext(directory.path, metadata, move_labels(config, metadata), engine.play, engine)
        recorder = Recorder(directory, context)
        if parent is not None:
            quota = choose_profile(config, engine.world).quota(config.screenshot)
            pictures = partial(adopt_pictures, context.path, parent, at_tick, quota)
            recorder.adopt(readable(parent.database), parent.run_id, at_tick, pictures)
    except (PtpError, KeyboardInterrupt):
        directory.discard()
        raise
    return Session(context, engine, recorder, sinks).play()


def _engine_at(
    parent: RunDirectory, at_tick: int, config: RunConfig, clock: Clock, trusted: bool
) -> tuple[Engine, int]:
    """Return an engine that stands at a tick of another run, and the seed of its agent."""
    origin = parent.read_metadata()
    with closing(Tape(parent)) as tape:
        if not 0 <= at_tick <= tape.length:
            raise UsageError(f"--at-tick {at_tick} is not on the tape; it has ticks 0 to {tape.length}")
        dice = config.system.random_seed if config.system.random_seed is not None else origin.random_seed
        agent_seed = derive_seed(dice, "agent")
        metadata = msgspec.structs.replace(origin, agent_seed=agent_seed)
        answers = recorded_answers(parent, config, at_tick)
        engine = engine_of(parent, metadata, config, clock, trusted=trusted, answers=answers)
        recorded = build(read_values(parent.path / "config.yaml", tell=lambda _: None)).agent
        now = (config.agent.name, config.agent.script and str(Path(config.agent.script).absolute()))
        same_mind = now == (recorded.name, recorded.script) and (short_name(recorded.name), agent_seed) == (
            origin.agent, origin.agent_seed,
        )  # fmt: skip
        travel(engine, tape, parent.path / "snapshots", at_tick, with_agent=same_mind)
        engine.raise_spending(*tape.spending(at_tick))
    return engine, agent_seed


def _check_history(metadata: Metadata, tape: Tape) -> None:
    """Refuse to resume a fork that was killed while the history of its parent was copied."""
    parent = metadata.parent
    if parent is not None and not metadata.rewinds and tape.length < parent.tick:
        raise RecordingError(
            f"run {metadata.run_id} was killed before the history of its parent was copied; "
            f"fork it again with `ptp fork {parent.run_id} --at-tick {parent.tick}`"
        )


def _check_unfinished(metadata: Metadata, config: RunConfig) -> None:
    """Refuse to resume a run that would end where it is."""
    stop = metadata.stop
    if metadata.status != "completed" or stop is None:
        return
    signals = Signals(values=metadata.signals)
    cost, elapsed = metadata.total_cost or 0.0, metadata.elapsed_seconds or 0.0
    reached = Limits(config.limits, metadata.facts).reached(
        Progress(metadata.ticks or 0, metadata.episodes or 0, elapsed, cost=cost, signals=signals)
    )
    if reached is not None:
        said = f"--{reached} was reached; raise it, for example with `{play_on(metadata, config, reached)}`"
    elif stop.kind == "finished":
        said = f"{stop.message}; let another agent play on with `{play_on(metadata, config)}`"
    else:
        return
    raise UsageError(f"run {metadata.run_id} is complete: {said}")


def _located(config: RunConfig) -> RunConfig:
    """Return settings whose files are found from any folder, so that the run can be resumed from there."""
    agent, storage = config.agent, config.storage
    place, _, name = agent.name.rpartition(":")
    if place.endswith(".py"):
        agent = replace(agent, name=f"{Path(place).absolute()}:{name}")
    if agent.script is not None:
        agent = replace(agent, script=str(Path(agent.script).absolute()))
    if storage.profiles is not None:
        storage = replace(storage, profiles=str(Path(storage.profiles).absolute()))
    return replace(config, agent=agent, storage=storage)


def short_name(agent: str) -> str:
    """Return an agent's name without the folder of its file."""
    place, _, name = agent.rpartition(":")
    return f"{Path(place).name}:{name}" if place.endswith(".py") else agent


def _all_sinks(config: RunConfig, sinks: Sequence[Sink]) -> list[Sink]:
    """Return the sinks that were given, and those that the settings name."""
    return [*sinks, *map(find_sink, filter(None, (config.system.sinks or "").split(",")))]


def recorded_answers(directory: RunDirectory, config: RunConfig, last_tick: int | None = None) -> Answers | None:
    """Return what models answered in a run up to a tick, so that its agent comes to the same mind without asking."""
    return None if config.agent.model is None else RecordedAnswers(directory, last_tick)


def engine_of(
    directory: RunDirectory, metadata: Metadata, config: RunConfig, clock: Clock, *, trusted: bool = False,
    answers: Answers | None = None,
) -> Engine:  # fmt: skip
    """Make the engine that a recorded run was played by; unless *trusted*, only of code that was run here before."""
    seed = metadata.random_seed
    agent_seed = derive_seed(seed, "agent") if metadata.agent_seed is None else metadata.agent_seed
    own_world = trusted or directory.trusts_world(metadata.world)
    own_agent = trusted or "agent.name" in config.given or trusts(directory.data_dir, of_agent(config.agent.name))
    spec = directory.resolve(metadata.world)
    return _make_engine(
        config, spec, clock, seed, agent_seed, trust_world=own_world, trust_agent=own_agent, answers=answers
    )


def _make_engine(
    config: RunConfig,
    spec: WorldSpec,
    clock: Clock,
    seed: int,
    agent_seed: int,
    *,
    trust_world: bool = True,
    trust_agent: bool = True,
    answers: Answers | None = None,
) -> Engine:
    world = make_world(spec, config.world.render_mode, trusted=trust_world)
    try:
        agent = make_agent(
            config.agent.name, world, config.agent, agent_seed, wake=clock.wake, trusted=trust_agent,
            shared=config.system.data_dir, answers=answers,
        )  # fmt: skip
        return Engine(world, agent, config, clock, seed)
    except PtpError:
        world.close()
        raise


@contextmanager
def _start_file(spec: WorldSpec, data_dir: Path) -> Iterator[WorldSpec]:
    """Return a world whose start state is one that it can load: a ptp snapshot is unpacked for as long as needed."""
    path = spec.options.get("start_state")
    if path is None or not _is_snapshot(Path(path)):
        yield spec
        return
    snapshot = read_file(Path(path))
    options = {name: value for name, value in spec.options.items() if name != "start_state"}
    world = make_world(WorldSpec(spec.name, spec.entry, options), trusted=True)
    check_world(snapshot.header, world.facts)
    world.close()
    scratch = data_dir / "tmp"
    scratch.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        state = Path(folder, "start.state")
        state.write_bytes(snapshot.world)
        yield WorldSpec(spec.name, spec.entry, options | {"start_state": str(state)})


def _is_snapshot(path: Path) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read(7) == MAGIC[:7]
    except OSError as problem:
        raise ConfigError(f"--start-state {path}: {problem.strerror}; name a file that can be read") from None
