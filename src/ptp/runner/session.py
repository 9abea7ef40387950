"""A run under way: ticks become records, records are kept, and every way to end is told apart."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from ptp._util.clock import iso
from ptp.config import RunConfig
from ptp.engine import Engine, Notice, Progress, Record
from ptp.engine.records import Level
from ptp.errors import PtpError, RecordingError
from ptp.recording import Recorder
from ptp.recording.episodes import export_episodes
from ptp.recording.report import write_report
from ptp.records import Status, Stop
from ptp.runner.control import ControlServer
from ptp.runner.health import Health
from ptp.runner.interrupts import Interrupts
from ptp.runner.keeper import SnapshotKeeper
from ptp.runner.live import LiveFeed
from ptp.runner.pictures import open_keeper
from ptp.runner.steering import Steering

SHOW_EVERY = 0.1  # seconds between two looks at a run
SAME_ERROR = 3  # times that one error may be rolled back


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
    badges: int | None = None
    caught: int | None = None
    level: int | None = None


@contextmanager
def _frozen() -> Iterator[None]:
    """Spare the garbage collector what is there already: it stays until the end, and looking at it takes long."""
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


class Watcher:
    """Hears of a run as it goes; the default says nothing."""

    def began(self, directory: Path, engine: Engine) -> None:
        """The run has a directory and is about to play."""

    def ticked(self, progress: Progress) -> None:
        """Some ticks have passed; called a few times a second."""

    def noticed(self, notice: Notice) -> None:
        """Something happened that a person should know."""


class Session:
    """One run from its first tick here to its end."""

    def __init__(self, config: RunConfig, engine: Engine, recorder: Recorder, watcher: Watcher) -> None:
        self.config = config
        self.engine = engine
        self.recorder = recorder
        self.watcher = watcher
        self.keeper = SnapshotKeeper(engine, recorder, config.snapshot)
        self.pictures = open_keeper(config, engine, recorder)
        self.keeper.on_rewind(self._before_rewind, self.pictures.rewound)
        self.live = LiveFeed(engine, self.pictures.ring)
        self.control = ControlServer(recorder.directory.path, engine.clock, self.live)
        self.steering = Steering(config, engine, recorder, self.keeper)
        self.health = Health(engine, recorder)
        self.status: Status = "running"
        self.stop: Stop | None = None
        self.exit_code = 0
        self.error: str | None = None
        self._errors: list[str] = []
        self._first_tick = engine.progress.ticks
        self._first_elapsed = engine.progress.elapsed

    def play(self) -> RunResult:
        """Play until something ends the run, then keep how it ended."""
        self.watcher.began(self.recorder.directory.path, self.engine)
        for remark in self.engine.world.remarks:
            self._say("warning", "world", remark)
        with Interrupts(self.engine.clock) as interrupts, _frozen():
            try:
                self._loop(interrupts)
            except Exception as problem:  # noqa: BLE001 - the edge of the run; kept with its trace and told
                self._crash(problem)
            else:
                self._end(interrupts)
            self.control.close()
            self._finish()
            report = self._export() if self.status != "crashed" else None
            self.recorder.directory.release()
        return self._result(report)

    def _loop(self, interrupts: Interrupts) -> None:
        engine, steering, progress = self.engine, self.steering, self.engine.progress
        shown = progress.elapsed
        self._take_in(engine.check())
        while engine.stop is None and steering.stop is None and interrupts.stop is None:
            if self.control.waiting:
                steering.serve(self.control.waiting)
            if steering.holds():
                self.live.look((), paused=True)
                continue
            self._take_in(self._tick())
            if progress.elapsed - shown > SHOW_EVERY or progress.elapsed < shown:
                shown = progress.elapsed
                self.watcher.ticked(progress)
                if self.health.measure(progress.ticks):
                    self._measure_pictures(progress.ticks)
        self.watcher.ticked(progress)

    def _measure_pictures(self, tick: int) -> None:
        metrics, notices = self.pictures.measure(tick)
        for kind, value, unit in metrics:
            self.recorder.add_metric(self.engine.clock.time(), tick, kind, value, unit)
        self._tell(notices)

    def _tick(self) -> list[Record]:
        try:
            return self.engine.tick()
        except RecordingError:
            raise
        except Exception as problem:
            if not self._roll_back(problem):
                raise
            return []

    def _take_in(self, records: list[Record]) -> None:
        self.live.look(records)
        if not records:
            return
        self._keep(records)
        self._tell(self.pictures.look(records, self.engine.progress.signals.engaged))
        self.keeper.after(records)

    def _tell(self, records: list[msgspec.Struct]) -> None:
        """Keep what the camera told."""
        if records:
            self._keep(records)

    def _keep(self, records: Sequence[msgspec.Struct]) -> None:
        self.recorder.add(records)
        for record in records:
            if type(record) is Notice:
                self.recorder.log(record)
                self.watcher.noticed(record)

    def _before_rewind(self) -> None:
        self._tell(self.pictures.settle())

    def _roll_back(self, problem: Exception) -> bool:
        """Go back to the last good snapshot after an error; one step further each time it comes again."""
        snapshots = self.config.snapshot
        self._errors.append(f"{type(problem).__name__}: {problem.__cause__ or problem}")
        times = self._errors.count(self._errors[-1])
        depth = min(times, snapshots.rollback_grace, len(self.keeper.ring))
        if not snapshots.rollback_on_error or times >= SAME_ERROR or not depth:
            return False
        tick = self.engine.progress.ticks
        header = self.keeper.rollback(depth, f"error at tick {tick}: {problem}")
        self.recorder.add_error(self.engine.clock.time(), tick, problem, f"rolled back to tick {header.tick}")
        self._say("warning", "rolled_back", f"rolled back to tick {header.tick} after an error: {problem}")
        return True

    def _say(self, level: Level, kind: str, message: str) -> None:
        notice = Notice(self.engine.clock.time(), self.engine.progress.ticks, level, kind, message)
        self.recorder.log(notice)
        self.watcher.noticed(notice)

    def _end(self, interrupts: Interrupts) -> None:
        self.stop = interrupts.stop or self.steering.stop or self.engine.stop
        assert self.stop is not None
        self.status = "completed"
        if self.stop.kind == "manual":
            self.status, self.exit_code = "manual_stop", interrupts.exit_code
        elif self.stop.kind != "finished" and self.config.limits.on_limit == "abort":
            self.status, self.exit_code = "crashed", 1
            self.error = f"aborted: {self.stop.message}"
        self._measure_pictures(self.engine.progress.ticks)
        self.keeper.finish()

    def _crash(self, problem: Exception) -> None:
        self.status, self.exit_code = "crashed", 1
        self.error = str(problem) if isinstance(problem, PtpError) else f"{type(problem).__name__}: {problem}"
        try:
            self._tell(self.pictures.look_at_error(self.engine.progress.ticks))
            self.recorder.add_error(self.engine.clock.time(), self.engine.progress.ticks, problem)
        except RecordingError:
            return  # the disk is what failed, and the error says so already

    def _finish(self) -> None:
        metadata, progress = self.recorder.metadata, self.engine.progress
        metadata.status = self.status
        metadata.completed_at = iso(self.engine.clock.time())
        metadata.ticks, metadata.episodes = progress.ticks, progress.episodes
        metadata.total_reward, metadata.total_cost = progress.reward, progress.cost
        metadata.elapsed_seconds = round(progress.elapsed, 6)
        metadata.stop, metadata.error, metadata.exit_code = self.stop, self.error, self.exit_code
        try:
            self._tell(self.pictures.close())
            self.recorder.finish()
        except PtpError as problem:
            metadata.status = self.status = "crashed"
            metadata.error = self.error = self.error or str(problem)
            metadata.exit_code = self.exit_code = 1
            with suppress(RecordingError):  # on a full disk the old header stays; without an owner it means crashed
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
        metadata, progress = self.recorder.metadata, self.engine.progress
        elapsed = progress.elapsed - self._first_elapsed
        return RunResult(
            run_id=metadata.run_id,
            directory=str(self.recorder.directory.path),
            status=self.status,
            exit_code=self.exit_code,
            stop=self.stop,
            error=self.error,
            world=metadata.world.name,
            agent=metadata.agent,
            random_seed=self.engine.seed,
            ticks=progress.ticks,
            episodes=progress.episodes,
            total_reward=progress.reward,
            total_cost=progress.cost,
            elapsed_seconds=round(progress.elapsed, 3),
            ticks_per_second=round((progress.ticks - self._first_tick) / elapsed, 1) if elapsed > 0 else None,
            report=report,
            badges=_whole(progress.signals.values.get("badges")),
            caught=_whole(progress.signals.values.get("caught")),
            level=_whole(progress.signals.values.get("level")),
        )


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)
