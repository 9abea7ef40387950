"""What a person can do to a live run: pause, step, snapshot, go back, change settings, stop."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import msgspec

from ptp.config import RunConfig, changed
from ptp.engine import Engine
from ptp.errors import PtpError, UnknownName, UsageError
from ptp.recording import Recorder
from ptp.recording.log import LOGGER
from ptp.records import Stop
from ptp.runner.control import Request
from ptp.runner.keeper import SnapshotKeeper

HOLD = 0.05  # seconds between two looks at the controls while paused


class Steering:
    """Answers requests between two ticks, and holds the run while it is paused."""

    def __init__(self, config: RunConfig, engine: Engine, recorder: Recorder, keeper: SnapshotKeeper) -> None:
        self._config = config
        self._engine = engine
        self._recorder = recorder
        self._keeper = keeper
        self.stop: Stop | None = None
        self.paused = False
        self._until: int | None = None  # the tick at which a stepped run pauses again
        self.verbs: dict[str, Callable[..., dict[str, Any]]] = {
            "status": self._status,
            "pause": self._pause,
            "resume": self._resume,
            "step": self._step,
            "snapshot": self._snapshot,
            "snapshots": self._snapshots,
            "restore": self._restore,
            "rollback": self._rollback,
            "set": self._set,
            "stop": self._stop,
        }

    def serve(self, waiting: deque[Request]) -> None:
        """Answer every request that waits; a request that can't be met is told why, and the run goes on."""
        while waiting:
            request = waiting.popleft()
            try:
                if request.verb not in self.verbs:
                    raise UnknownName("control verb", request.verb, list(self.verbs))
                request.reply(self.verbs[request.verb](**request.arguments))
            except PtpError as problem:
                request.reply({"error": str(problem)})
            except (TypeError, ValueError) as problem:
                request.reply({"error": f"{request.verb}: {problem}"})

    def holds(self) -> bool:
        """Whether the run is paused; then a moment passes, which does not count as played."""
        if self._until is not None and self._engine.progress.ticks >= self._until:
            self.paused, self._until = True, None
        if not self.paused:
            return False
        began = self._engine.clock.monotonic()
        self._engine.clock.sleep(HOLD)
        self._engine.skip(self._engine.clock.monotonic() - began)
        return True

    def _status(self) -> dict[str, Any]:
        progress = self._engine.progress
        return {
            "run_id": self._recorder.metadata.run_id,
            "paused": self.paused,
            "tick": progress.ticks,
            "episode": self._engine.episode,
            "reward": progress.reward,
            "cost": progress.cost,
            "elapsed": round(progress.elapsed, 3),
            "context": self._engine.world.context(),
        }

    def _pause(self) -> dict[str, Any]:
        self.paused, self._until = True, None
        return self._say("paused")

    def _resume(self) -> dict[str, Any]:
        self.paused = False
        return self._say("resumed")

    def _step(self, ticks: int = 1) -> dict[str, Any]:
        if int(ticks) < 1:
            raise UsageError(f"can't step {ticks} ticks; give a whole number, 1 or more")
        self.paused, self._until = False, self._engine.progress.ticks + ticks
        return self._say("stepped")

    def _snapshot(self, name: str | None = None, message: str | None = None) -> dict[str, Any]:
        header = self._keeper.create("asked for", name=name, message=message)
        return {"snapshot": msgspec.to_builtins(header)}

    def _snapshots(self) -> dict[str, Any]:
        return {"snapshots": msgspec.to_builtins(self._keeper.headers())}

    def _restore(self, snapshot: str) -> dict[str, Any]:
        header = self._keeper.go_back(self._keeper.find(snapshot), f"restored {snapshot}")
        return {"tick": header.tick, "snapshot": msgspec.to_builtins(header)}

    def _rollback(self, count: int = 1) -> dict[str, Any]:
        header = self._keeper.rollback(count, f"rolled back {count} snapshots")
        return {"tick": header.tick, "snapshot": msgspec.to_builtins(header)}

    def _set(self, flags: dict[str, str]) -> dict[str, Any]:
        """Change settings of the running run; all are checked before any is taken over."""
        config = changed(self._config, flags)
        self._engine.reconfigure(config)
        self._config = config
        return self._say("set " + ", ".join(f"{flag} {text}" for flag, text in flags.items()))

    def _stop(self) -> dict[str, Any]:
        self.stop = Stop("manual", "control", "stopped by request")
        return self._say("stopping")

    def _say(self, what: str) -> dict[str, Any]:
        LOGGER.info(what, extra={"event": "control", "tick": self._engine.progress.ticks})
        return {"tick": self._engine.progress.ticks, "paused": self.paused}
