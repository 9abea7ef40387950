"""A run that somebody else's loop plays: what the loop does is noted, kept, and shown live."""

from __future__ import annotations

import atexit
import secrets
import sys
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from ptp import __version__
from ptp._util.clock import Clock, iso
from ptp._util.ids import uuid7
from ptp.config import RunConfig, changed, differences, replace
from ptp.engine import Play
from ptp.engine.pacing import Pace
from ptp.errors import PtpError, UsageError
from ptp.recording import Recorder, RunDirectory
from ptp.recording.episodes import export_episodes
from ptp.recording.labels import move_labels, relabel
from ptp.recording.log import RunLog
from ptp.recording.report import write_report
from ptp.recording.trust import of_world, trust
from ptp.records import ConfigChanged, Metadata, Record, RunResult, Status, Stop
from ptp.runner import protocol
from ptp.runner.control import Asked, ControlServer
from ptp.runner.live import LiveFeed
from ptp.runner.protocol import Answer
from ptp.runner.services import Health, open_camera
from ptp.sinks import Fanout, RunContext, Sink
from ptp.versioning import SCHEMA_VERSION
from ptp.worlds import Outcome, World
from ptp.worlds.registry import foreign_code

HOLD = 0.05  # seconds between two looks at the controls while paused
CLOSED = Stop("finished", "loop", "the loop closed its environment")
LEFT = Stop("manual", "loop", "the program ended without closing its environment")


class Lane:
    """One environment of a loop, as a run."""

    def __init__(
        self, world: World, config: RunConfig, *, agent: str, sinks: Sequence[Sink] = (), group: str | None = None
    ) -> None:
        clock = Clock()
        seed = config.system.random_seed
        self.play = Play(world, clock, secrets.randbelow(2**31) if seed is None else seed)
        if foreign_code(world.spec):
            trust(Path(config.system.data_dir), of_world(world.spec))
        directory = RunDirectory.create(Path(config.system.data_dir), uuid7())
        try:
            metadata = _introduce(directory, self.play, config, agent, group)
            self.run = RunContext(directory.path, metadata, move_labels(config, metadata), self.play)
            self._recorder = Recorder(directory, self.run)
        except (PtpError, KeyboardInterrupt):
            directory.discard()
            raise
        camera = open_camera(self.run)
        self._live = LiveFeed(self.run, camera.ring)
        health = Health(camera.disk_used)
        self._fanout = Fanout(self.run, [self._recorder, RunLog(), camera, self._live, health, *sinks])
        self._control = ControlServer(directory.path, clock, self._live)
        self._waiting: deque[Asked] = self._control.waiting
        self._pace = Pace(config, clock)
        self._until: int | None = None
        self._now = clock.monotonic
        self.result: RunResult | None = None
        self._fanout.began()
        atexit.register(self._leave)

    # -- what the loop does ------------------------------------------------------------------------------------

    def before_step(self) -> None:
        """Let a person pause, slow down or stop the loop."""
        if self._waiting:
            self._serve()
        while self.run.paused or self._until is not None:
            if self._until is not None and self.run.tick >= self._until:
                self.run.paused, self._until = True, None
            if not self.run.paused:
                break
            self._hold()
        if self._pace.limited:
            self._pace.wait(self._pace.target(engaged=False, over_budget=False))

    def stepped(self, command: Any, outcome: Outcome) -> None:
        """Note what a command did."""
        play, records = self.play, list[Record]()
        play.note(outcome, play.world.encode(command), records)
        now = self._now()
        play.progress.elapsed = now - play.started
        self._fanout.take(records, now)

    def began(self, observation: Any, seed: int | None, options: dict[str, Any] | None) -> None:
        """Note that an episode began; one that was under way was broken off."""
        records: list[Record] = []
        if not self.play.over:
            self.play.end(False, self._now() - self.play.started, records)
        records.append(self.play.note_begin(observation, seed, options))
        self._fanout.take(records, self._now())

    def log(self, values: dict[str, float]) -> None:
        """Keep measurements of the loop, such as its loss."""
        for name, value in values.items():
            self.run.measure(name, float(value), "")

    # -- what a person does ------------------------------------------------------------------------------------

    def _hold(self) -> None:
        self._fanout.hand_over()
        self._live.took(())
        began = self._now()
        self.run.clock.sleep(HOLD)
        self.play.started += self._now() - began
        self._serve()

    def _serve(self) -> None:
        while self._waiting:
            asked = self._waiting.popleft()
            try:
                self._meet(asked.request)
                asked.reply(Answer(now=self._live.now()))
            except KeyboardInterrupt:
                asked.reply(Answer(now=self._live.now()))
                raise
            except PtpError as problem:
                asked.reply(Answer(error=str(problem)))

    def _meet(self, request: protocol.Request) -> None:
        match request:
            case protocol.Status():
                pass
            case protocol.Pause():
                self.run.paused, self._until = True, None
            case protocol.Resume():
                self.run.paused, self._until = False, None
            case protocol.Step(ticks):
                self.run.paused, self._until = False, self.run.tick + ticks
            case protocol.Change(flags):
                self._change(flags)
            case protocol.Label() as label:
                relabel(self.run.metadata, **msgspec.structs.asdict(label))
                self._recorder.directory.write_metadata(self.run.metadata)
            case protocol.End():
                raise KeyboardInterrupt("stopped by request")
            case _:
                raise UsageError(
                    f"run {self.run.run_id} is played by a recorded loop, which can't do that; fork the run instead"
                )

    def _change(self, flags: dict[str, str]) -> None:
        if any(not flag.startswith("--tick-rate-") for flag in flags):
            raise UsageError("only the tick rates of a recorded loop can be changed")
        config = changed(self.run.config, flags)
        self.run.tell(ConfigChanged(self.run.clock.time(), self.run.tick, differences(self.run.config, config)))
        self.run.config = config
        self._pace.configure(config)
        self._recorder.keep_config()

    # -- how it ends -------------------------------------------------------------------------------------------

    def close(self, stop: Stop = CLOSED, status: Status = "completed", error: str | None = None) -> RunResult:
        """End the run, once."""
        if self.result is not None:
            return self.result
        atexit.unregister(self._leave)
        self._control.close()
        self._write_down(stop, status, error)
        self.result = self._make_result(stop, status, error)
        self._fanout.ended(self.result)
        directory = self._recorder.directory
        if status != "crashed":
            export_episodes(directory)
            self.result.report = str(write_report(directory))
        directory.release()
        return self.result

    def _leave(self) -> None:
        """End a run whose program ends without closing it: by itself, or by an error that nobody caught."""
        problem = getattr(sys, "last_value", None)
        if problem is None or isinstance(problem, KeyboardInterrupt):
            self.close(LEFT, "manual_stop")
        else:
            self.close(LEFT, "crashed", f"{type(problem).__name__}: {problem}")

    def _write_down(self, stop: Stop, status: Status, error: str | None) -> None:
        metadata, progress = self.run.metadata, self.play.progress
        metadata.status, metadata.stop, metadata.error = status, stop, error
        metadata.exit_code = 1 if status == "crashed" else 0
        metadata.completed_at = iso(self.run.clock.time())
        metadata.ticks, metadata.episodes = progress.ticks, progress.episodes
        metadata.total_reward, metadata.total_cost = progress.reward, progress.cost
        metadata.elapsed_seconds = round(progress.elapsed, 6)

    def _make_result(self, stop: Stop, status: Status, error: str | None) -> RunResult:
        metadata, progress = self.run.metadata, self.play.progress
        rate = round(progress.ticks / progress.elapsed, 1) if progress.elapsed > 0 else None
        return RunResult(
            metadata.run_id, str(self.run.path), status, metadata.exit_code or 0, stop, error, metadata.world.name,
            metadata.agent, metadata.random_seed, progress.ticks, progress.episodes, progress.reward, progress.cost,
            round(progress.elapsed, 3), rate, None,
        )  # fmt: skip


def _introduce(directory: RunDirectory, play: Play, config: RunConfig, agent: str, group: str | None) -> Metadata:
    return Metadata(
        run_id=directory.run_id,
        status="running",
        ptp_version=__version__,
        schema_version=SCHEMA_VERSION,
        experiment_name=config.experiment.name,
        world=play.world.spec,
        facts=play.world.facts,
        agent=agent,
        random_seed=play.seed,
        started_at=iso(play.clock.time()),
        group=group,
    )


def settings(config: RunConfig | None, data_dir: str | Path, seed: int | None) -> RunConfig:
    """Return the settings of a recorded loop, which sets its own pace."""
    config = config or RunConfig()
    system = replace(config.system, data_dir=str(data_dir), random_seed=seed)
    pace = config.tick_rate if config.tick_rate != RunConfig().tick_rate else replace(config.tick_rate, normal=0)
    return replace(config, system=system, tick_rate=pace, agent=replace(config.agent, name="loop"))
