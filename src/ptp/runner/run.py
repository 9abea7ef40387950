"""The run loop: ticks become records, records are kept, and every way to end is told apart."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from pathlib import Path

import msgspec

from ptp import __version__
from ptp._util.clock import Clock, SystemClock, iso
from ptp._util.ids import derive_seed, uuid7
from ptp.agents import AgentOptions, make_agent
from ptp.config import RunConfig
from ptp.engine import Engine, Notice, Progress, Stop
from ptp.errors import ConfigError, PtpError
from ptp.recording import Metadata, Recorder, RunDirectory
from ptp.recording.directory import Status
from ptp.recording.episodes import export_episodes
from ptp.recording.report import write_report
from ptp.runner.health import Health
from ptp.runner.interrupts import Interrupts
from ptp.versioning import SCHEMA_VERSION
from ptp.worlds import find_world, make_world

SHOW_EVERY = 0.1  # seconds between two looks at a run


class RunResult(msgspec.Struct):
    """How a run ended."""

    run_id: str
    directory: str
    status: Status
    exit_code: int
    stop: Stop | None
    error: str | None
    world: str
    agent: str
    random_seed: int
    ticks: int
    episodes: int
    total_reward: float
    total_cost: float
    elapsed_seconds: float
    ticks_per_second: float | None
    report: str | None


class Watcher:
    """Hears of a run as it goes; the default says nothing."""

    def began(self, directory: Path, engine: Engine) -> None:
        """The run has a directory and is about to play."""

    def ticked(self, progress: Progress) -> None:
        """Some ticks have passed; called a few times a second."""

    def noticed(self, notice: Notice) -> None:
        """Something happened that a person should know."""


def run(config: RunConfig, *, clock: Clock | None = None, watcher: Watcher | None = None) -> RunResult:
    """Play one run from start to end and keep it."""
    clock = clock or SystemClock()
    watcher = watcher or Watcher()
    if config.world.name is None:
        raise ConfigError("no world is named; give one with --world, see `ptp worlds`")
    seed = config.system.random_seed if config.system.random_seed is not None else secrets.randbelow(2**31)
    world = make_world(find_world(config.world.name), config.world.render_mode)
    try:
        options = AgentOptions(seed=derive_seed(seed, "agent"), script=config.agent.script)
        agent = make_agent(config.agent.name, world, options)
        engine = Engine(world, agent, config, clock, seed)
        directory = RunDirectory.create(Path(config.system.data_dir), uuid7(clock.time()))
        metadata = Metadata(
            run_id=directory.run_id,
            status="running",
            ptp_version=__version__,
            schema_version=SCHEMA_VERSION,
            experiment_name=config.experiment.name,
            world=world.spec,
            facts=world.facts,
            agent=config.agent.name,
            random_seed=seed,
            started_at=iso(clock.time()),
        )
        try:
            recorder = Recorder(directory, metadata, config)
        except PtpError:
            directory.discard()
            raise
        return _Run(config, engine, recorder, watcher).play()
    finally:
        world.close()


class _Run:
    """One run under way."""

    def __init__(self, config: RunConfig, engine: Engine, recorder: Recorder, watcher: Watcher) -> None:
        self.config = config
        self.engine = engine
        self.recorder = recorder
        self.watcher = watcher
        self.health = Health(engine, recorder)
        self.stop: Stop | None = None
        self.status: Status = "running"
        self.exit_code = 0
        self.error: str | None = None

    def play(self) -> RunResult:
        """Play until something ends the run, then keep how it ended."""
        self.watcher.began(self.recorder.directory.path, self.engine)
        with Interrupts(self.engine.clock) as interrupts:
            try:
                self._loop(lambda: interrupts.stop)
            except Exception as problem:  # noqa: BLE001 - the edge of the run; kept with its trace and told
                self._crash(problem)
            else:
                self._end(interrupts)
        self._finish()
        report = self._export() if self.status != "crashed" else None
        self.recorder.directory.release()
        return self._result(report)

    def _loop(self, interrupted: Callable[[], Stop | None]) -> None:
        engine, add, progress = self.engine, self.recorder.add, self.engine.progress
        shown = progress.elapsed
        while engine.stop is None and interrupted() is None:
            records = engine.tick()
            if records:
                add(records)
                for record in records:
                    if type(record) is Notice:
                        self.recorder.log(record)
                        self.watcher.noticed(record)
            if progress.elapsed - shown > SHOW_EVERY:
                shown = progress.elapsed
                self.watcher.ticked(progress)
                self.health.measure(progress.ticks)
        self.watcher.ticked(progress)

    def _end(self, interrupts: Interrupts) -> None:
        self.stop = interrupts.stop or self.engine.stop
        assert self.stop is not None
        self.status = "completed"
        if self.stop.kind == "manual":
            self.status, self.exit_code = "manual_stop", interrupts.exit_code
        elif self.stop.kind != "finished" and self.config.limits.on_limit == "abort":
            self.status, self.exit_code = "crashed", 1
            self.error = f"aborted: {self.stop.message}"

    def _crash(self, problem: Exception) -> None:
        self.status, self.exit_code = "crashed", 1
        self.error = str(problem) if isinstance(problem, PtpError) else f"{type(problem).__name__}: {problem}"
        try:
            self.recorder.add_error(self.engine.clock.time(), self.engine.progress.ticks, problem)
        except PtpError as second:  # the disk is what failed; the first error says so already
            self.error = str(second)

    def _finish(self) -> None:
        metadata, progress = self.recorder.metadata, self.engine.progress
        metadata.status = self.status
        metadata.completed_at = iso(self.engine.clock.time())
        metadata.ticks, metadata.episodes = progress.ticks, progress.episodes
        metadata.total_reward, metadata.total_cost = progress.reward, progress.cost
        metadata.elapsed_seconds = round(progress.elapsed, 6)
        metadata.stop, metadata.error, metadata.exit_code = self.stop, self.error, self.exit_code
        try:
            self.recorder.finish()
        except PtpError as problem:
            metadata.status = self.status = "crashed"
            metadata.error = self.error = str(problem)
            metadata.exit_code = self.exit_code = 1
            self.recorder.directory.write_metadata(metadata)

    def _export(self) -> str | None:
        """Write what can be made from the database; that can be made again, so a failure costs no data."""
        directory = self.recorder.directory
        at_limit = self.stop is not None and self.stop.kind not in {"manual", "finished"}
        try:
            export_episodes(directory)
            if not at_limit or self.config.limits.on_limit == "save-and-exit":
                return str(write_report(directory))
        except (OSError, PtpError) as problem:
            self.error = f"the run is recorded, but its report can't be written: {problem}"
            self.exit_code = 1
        return None

    def _result(self, report: str | None) -> RunResult:
        directory, progress = self.recorder.directory, self.engine.progress
        return RunResult(
            run_id=directory.run_id,
            directory=str(directory.path),
            status=self.status,
            exit_code=self.exit_code,
            stop=self.stop,
            error=self.error,
            world=self.recorder.metadata.world.name,
            agent=self.recorder.metadata.agent,
            random_seed=self.engine.seed,
            ticks=progress.ticks,
            episodes=progress.episodes,
            total_reward=progress.reward,
            total_cost=progress.cost,
            elapsed_seconds=round(progress.elapsed, 3),
            ticks_per_second=round(progress.ticks / progress.elapsed, 1) if progress.elapsed else None,
            report=report,
        )
