"""What a person can do to a live run: pause, step, snapshot, go back, change settings, stop."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import closing, contextmanager

import msgspec

from ptp.config import changed, differences
from ptp.errors import PtpError, SnapshotError
from ptp.recording.labels import relabel
from ptp.records import ConfigChanged, Rewound, Stop
from ptp.replay import Tape
from ptp.replay.travel import check_own, go_back, restore
from ptp.runner import protocol
from ptp.runner.control import Asked
from ptp.runner.protocol import Answer
from ptp.runner.services import Services
from ptp.snapshots import Snapshot, SnapshotHeader
from ptp.snapshots.keys import KeyState

HOLD = 0.05  # seconds between two looks at the controls while paused


class Steering:
    """Answers requests between two ticks, and waits while the run is paused."""

    def __init__(self, services: Services) -> None:
        self._run = services.run
        self._engine = services.engine
        self._services = services
        self.stop: Stop | None = None
        self.until: int | None = None
        """The tick at which a stepped run pauses again."""

    def serve(self, waiting: deque[Asked]) -> None:
        """Answer every request that waits; one that can't be met gets the reason, and the run continues."""
        while waiting:
            asked = waiting.popleft()
            try:
                asked.reply(self._meet(asked.request))
            except PtpError as problem:
                asked.reply(Answer(error=str(problem)))

    def _meet(self, request: protocol.Request) -> Answer:
        snapshot: SnapshotHeader | None = None
        snapshots: list[SnapshotHeader] | None = None
        match request:
            case protocol.Pause():
                self._run.paused, self.until = True, None
                self._log("paused")
            case protocol.Resume():
                self._run.paused, self.until = False, None
                self._log("resumed")
            case protocol.Step(ticks):
                self._run.paused, self.until = False, self._run.tick + ticks
                self._log(f"steps {ticks} ticks")
            case protocol.TakeSnapshot(name, message):
                snapshot = self._services.keeper.create("requested", name=name, message=message)
            case protocol.ListSnapshots():
                snapshots = self._services.keeper.headers()
            case protocol.Restore(wanted):
                snapshot = self.go_back(self._services.keeper.find(wanted), f"restored {wanted}")
            case protocol.Rollback(count):
                snapshot = self.rollback(count, f"rolled back {count} snapshots")
            case protocol.Rewind(ticks, to_tick):
                self.rewind(self._run.tick - ticks if to_tick is None else to_tick)
            case protocol.Change(flags):
                self._change(flags)
            case protocol.Label() as label:
                relabel(self._run.metadata, **msgspec.structs.asdict(label))
                self._services.recorder.directory.write_metadata(self._run.metadata)
            case protocol.End():
                self.stop = Stop("manual", "control", "stopped by request")
                self._log("stopping")
        return Answer(now=self._services.live.now(), snapshot=snapshot, snapshots=snapshots)

    def holds(self) -> bool:
        """Whether the run is paused; then a moment passes, which does not count as played."""
        if self.until is not None and self._run.tick >= self.until:
            self._run.paused, self.until = True, None
        if not self._run.paused:
            return False
        clock = self._run.clock
        began = clock.monotonic()
        clock.sleep(HOLD)
        self._engine.skip(clock.monotonic() - began)
        return True

    def _change(self, flags: dict[str, str]) -> None:
        """Change settings of the running run; all are checked before any is taken over."""
        run = self._run
        config = changed(run.config, flags)
        new = differences(run.config, config)
        self._engine.reconfigure(config)
        run.config = config
        run.tell(ConfigChanged(run.clock.time(), run.tick, new))
        self._services.fanout.hand_over()
        self._services.recorder.keep_config()
        self._log("set " + ", ".join(f"{flag} {text}" for flag, text in flags.items()))

    def _log(self, what: str) -> None:
        self._run.log.info(what, extra={"event": "control", "tick": self._run.tick})

    # -- going back --------------------------------------------------------------------------------------------

    def rollback(self, count: int, reason: str) -> SnapshotHeader:
        """Go back *count* snapshots in memory."""
        return self.go_back(self._services.keeper.ring.back(count), reason)

    def go_back(self, snapshot: Snapshot, reason: str) -> SnapshotHeader:
        """Go back to a snapshot of this run: what led to it is the tape then, and everything else is discarded."""
        header = snapshot.header
        back = self._back(header.tick, reason, header.rewinds)
        with self.tape() as tape:
            check_own(header, tape, self._engine.world.facts)
            shared = tape.shared(header)
            if shared == header.tick:
                restore(self._engine, snapshot, tape)
                self._engine.clear_queue(reason)
        self._tell(back, shared)
        if shared < header.tick:  # it lies in ticks that were given up, which are the tape only now
            with self.tape() as tape:
                restore(self._engine, snapshot, tape)
            self._engine.clear_queue(reason)
        return header

    def rewind(self, tick: int) -> None:
        """Go back to a tick of this run; what came after it is discarded."""
        now = self._run.tick
        check_behind(tick, now)
        self.go_to(self._services.keys.newest(tick), tick, f"rewound {now - tick} ticks")

    def go_to(self, key: KeyState, tick: int, reason: str) -> None:
        """Go back to a tick from a key state at or before it; what came after it is discarded."""
        back = self._back(tick, reason)
        with self.tape() as tape:
            go_back(self._engine, tape, key, tick)
        self._engine.clear_queue(reason)
        self._tell(back, tick)

    def _back(self, tick: int, reason: str, branch: int | None = None) -> Rewound:
        run = self._run
        return Rewound(run.metadata.rewinds + 1, run.clock.time(), run.tick, tick, reason, len(self._engine.buffer),
                       branch)  # fmt: skip

    @contextmanager
    def tape(self) -> Iterator[Tape]:
        """Return the tape with everything that was played."""
        self._services.fanout.hand_over()
        self._services.recorder.flush()
        with closing(Tape(self._services.recorder.directory)) as tape:
            yield tape

    def _tell(self, back: Rewound, shared: int) -> None:
        """Let every sink forget what came after the last tick that stays."""
        self._run.metadata.rewinds, self._run.rewound = back.number, back
        self._services.fanout.rewound(shared)


def check_behind(tick: int, now: int) -> None:
    """Refuse a tick that a run can't go back to, and say how far it can."""
    if not 0 <= tick < now:
        reach = f"it can go back 1 to {now} ticks" if now else "there is nothing before it"
        raise SnapshotError(f"can't go back to tick {tick}; the run is at tick {now}, and {reach}")
