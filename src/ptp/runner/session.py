"""A run under way: ticks become records, records go to sinks, and every way to end is distinguished."""

from __future__ import annotations

import gc
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

from ptp._util.attempt import attempt
from ptp._util.clock import Clock, iso
from ptp._util.loading import blame
from ptp.engine import Engine
from ptp.errors import PtpError, RecordingError
from ptp.recording import Recorder
from ptp.recording.episodes import export_episodes
from ptp.recording.learning import export_learning
from ptp.recording.report import write_report
from ptp.records import Record, RunResult, Stop
from ptp.runner.recovery import Recovery, trace
from ptp.runner.services import Services
from ptp.runner.steering import Steering
from ptp.runner.warned import hearing_warnings
from ptp.sinks import RunContext, Sink

NAMES = {signal.SIGINT: "Ctrl-C", signal.SIGTERM: "SIGTERM"}
SELDOM = (20_000, 20, 20)  # objects made between two looks of the garbage collector, and how often it looks deeper
_USUAL = gc.get_threshold()
_sessions = 0
_counting = threading.Lock()


@contextmanager
def _frozen() -> Iterator[None]:
    """Spare the garbage collector what is there already, and let it come less often: records hold no cycles."""
    global _sessions
    with _counting:
        _sessions += 1
        if _sessions == 1:
            gc.set_threshold(*SELDOM)
        gc.freeze()
    try:
        yield
    finally:
        with _counting:
            _sessions -= 1
            if not _sessions:
                gc.unfreeze()
                gc.set_threshold(*_USUAL)


class Interrupts:
    """While entered, the first signal asks for a clean stop; a second one acts as it always did."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._old: dict[signal.Signals, Any] = {}
        self.stop: Stop | None = None
        self.exit_code = 0

    def __enter__(self) -> Interrupts:
        if threading.current_thread() is threading.main_thread():
            self._old = {number: signal.signal(number, self._hear) for number in NAMES}
        return self

    def __exit__(self, *problem: object) -> None:
        for number, handler in self._old.items():
            signal.signal(number, handler)
        self._old = {}

    def _hear(self, number: int, frame: FrameType | None) -> None:
        self.__exit__()
        name = NAMES[signal.Signals(number)]
        self.stop = Stop("manual", name, f"stopped by {name}")
        self.exit_code = 128 + number
        self._clock.wake()


class Session:
    """One run from its first tick here to its end."""

    def __init__(self, run: RunContext, engine: Engine, recorder: Recorder, sinks: Sequence[Sink]) -> None:
        self._run = run
        self._engine = engine
        self._services = Services(run, engine, recorder, sinks)
        self._steering = Steering(self._services)
        self._recovery = Recovery(self._services, self._steering)
        self._first_tick = run.tick
        self._first_elapsed = engine.progress.elapsed

    def play(self) -> RunResult:
        """Play until something ends the run, then keep how it ended."""
        with Interrupts(self._run.clock) as interrupts, _frozen(), hearing_warnings(self._run):
            try:
                self._services.fanout.began()
                for remark in self._engine.world.remarks:
                    self._run.notice("warning", "world", remark)
                self._loop(interrupts)
            except Exception as problem:  # noqa: BLE001 - the edge of the run; kept with its trace and reported
                self._crash(str(problem) if isinstance(problem, PtpError) else blame(problem))
                self._run.error(problem, trace(problem))
            else:
                self._end(interrupts)
            self._services.control.close()
            result = self._finish()
            self._services.keeper.close()
            if result.status != "crashed":
                self._export(result)
            self._services.recorder.directory.release()
        return result

    def _loop(self, interrupts: Interrupts) -> None:
        engine, steering, progress = self._engine, self._steering, self._engine.progress
        services, take, run = self._services, self._services.fanout.take, self._run
        waiting = services.control.waiting
        take(engine.start(), progress.elapsed)
        self._recovery.began()
        while engine.stop is None and steering.stop is None and interrupts.stop is None:
            if waiting:
                steering.serve(waiting)
            if (run.paused or steering.until is not None) and steering.holds():
                services.fanout.hand_over()
                services.live.took(())
                continue
            take(self._tick(), progress.elapsed)

    def _tick(self) -> list[Record]:
        """Play a tick; after an error the run may be back at a good state."""
        try:
            return self._engine.tick()
        except RecordingError:
            raise
        except Exception as problem:
            if not self._recovery.recover(problem):
                raise
            return []

    # -- how it ends -------------------------------------------------------------------------------------------

    def _end(self, interrupts: Interrupts) -> None:
        metadata = self._run.metadata
        stop = metadata.stop = interrupts.stop or self._steering.stop or self._engine.stop
        assert stop is not None
        metadata.status, metadata.exit_code = "completed", 0
        if stop.kind == "manual":
            metadata.status, metadata.exit_code = "manual_stop", interrupts.exit_code
        elif stop.kind != "finished" and self._run.config.limits.on_limit == "abort":
            self._crash(f"aborted: {stop.message}")
        self._services.fanout.hand_over()
        self._services.keeper.finish()

    def _crash(self, error: str) -> None:
        metadata = self._run.metadata
        metadata.status, metadata.exit_code, metadata.error = "crashed", 1, metadata.error or error

    def _finish(self) -> RunResult:
        """Let agent and sinks finish; a recorder that can't is what the run ends with."""
        failed = attempt(self._engine.agent.close)
        if failed is not None:
            self._run.notice("warning", "agent", f"the agent can't be closed: {failed!r}")
        metadata, progress = self._run.metadata, self._engine.progress
        metadata.completed_at = iso(self._run.clock.time())
        metadata.ticks, metadata.episodes = progress.ticks, progress.episodes
        metadata.total_reward, metadata.total_cost = progress.reward, progress.cost
        metadata.elapsed_seconds = round(progress.elapsed, 6)
        metadata.signals = progress.signals.values
        result = self._result()
        try:
            self._services.fanout.ended(result)
        except PtpError as problem:
            self._crash(str(problem))
            with suppress(RecordingError):  # on a full disk the old header stays; without an owner it means crashed
                self._services.recorder.directory.write_metadata(metadata)
            result = self._result()
        return result

    def _export(self, result: RunResult) -> None:
        """Write what can be made from the database; that can be made again, so a failure costs no data."""
        directory = self._services.recorder.directory
        at_limit = result.stop is not None and result.stop.kind not in {"manual", "finished"}
        try:
            export_episodes(directory)
            export_learning(directory, self._run.config.agent.statistics_episodes)
            if not at_limit or self._run.config.limits.on_limit == "save-and-exit":
                result.report = str(write_report(directory))
        except (OSError, PtpError) as problem:
            result.error = f"the run is recorded, but its report can't be written: {problem}"
            result.exit_code = 1

    def _result(self) -> RunResult:
        metadata, progress = self._run.metadata, self._engine.progress
        elapsed = progress.elapsed - self._first_elapsed
        return RunResult(
            run_id=metadata.run_id,
            directory=str(self._run.path),
            status=metadata.status,
            exit_code=metadata.exit_code or 0,
            stop=metadata.stop,
            error=metadata.error,
            world=metadata.world.name,
            agent=metadata.agent,
            random_seed=metadata.random_seed,
            ticks=progress.ticks,
            episodes=progress.episodes,
            total_reward=progress.reward,
            total_cost=progress.cost,
            elapsed_seconds=round(progress.elapsed, 3),
            ticks_per_second=round((progress.ticks - self._first_tick) / elapsed, 1) if elapsed > 0 else None,
            report=None,
            signals=progress.signals.values,
        )
