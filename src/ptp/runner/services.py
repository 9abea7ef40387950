"""The parts that serve one run, wired once."""

from __future__ import annotations

from collections.abc import Sequence

from ptp.engine import Engine
from ptp.recording import Recorder
from ptp.recording.log import RunLog
from ptp.runner.control import ControlServer
from ptp.runner.health import Health
from ptp.runner.keeper import SnapshotKeeper
from ptp.runner.live import LiveFeed
from ptp.runner.pictures import open_camera
from ptp.sinks import Fanout, RunContext, Sink


class Services:
    """Recorder, camera, snapshots, live feed and control of one run; all but the last are sinks."""

    def __init__(self, run: RunContext, engine: Engine, recorder: Recorder, sinks: Sequence[Sink]) -> None:
        self.run = run
        self.engine = engine
        self.recorder = recorder
        camera = open_camera(run)
        self.keeper = SnapshotKeeper(run, engine, recorder)
        self.live = LiveFeed(run, camera.ring)
        self.fanout = Fanout(run, [recorder, RunLog(), camera, self.keeper, self.live, Health(), *sinks])
        self.control = ControlServer(run.path, run.clock, self.live)
