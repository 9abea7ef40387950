"""A run as its sinks know it: what it is, where it is kept, and how it stands."""

from __future__ import annotations

import logging
from collections import deque
from pathlib import Path

from ptp._util.clock import Clock
from ptp.config import RunConfig
from ptp.engine import Engine, Play
from ptp.records import ErrorSeen, Level, Metadata, Metric, Notice, Record, Rewound


class RunContext:
    """All that belongs to one run and not to the process: clock, log, settings as they are now, and what plays."""

    def __init__(
        self, path: Path, metadata: Metadata, config: RunConfig, play: Play, engine: Engine | None = None
    ) -> None:
        self.run_id = metadata.run_id
        self.path = path
        self.metadata = metadata
        self.config = config
        """The settings as they are now."""
        self.play = play
        self.engine = engine
        """None when somebody else's loop plays."""
        self.clock: Clock = play.clock
        self.log = logging.Logger(f"ptp.{metadata.run_id}")
        self.paused = False
        self.rewound: Rewound | None = None
        """The last time that the run went back."""
        self.fresh: deque[Record] = deque()
        """What sinks have told since the last tick; the run hands it to all of them."""

    @property
    def tick(self) -> int:
        """The newest tick."""
        return self.play.progress.ticks

    def tell(self, *records: Record) -> None:
        """Let every sink have more records; from any thread."""
        self.fresh.extend(records)

    def notice(self, level: Level, kind: str, message: str) -> None:
        """Tell what a person should know."""
        self.tell(Notice(self.clock.time(), self.tick, level, kind, message))

    def measure(self, name: str, value: float, unit: str) -> None:
        """Tell a measurement."""
        self.tell(Metric(self.clock.time(), self.tick, name, value, unit))

    def error(self, problem: BaseException, trace: str, recovery: str | None = None) -> None:
        """Tell of an error, and what was done about it."""
        name = type(problem).__name__
        self.tell(
            ErrorSeen(self.clock.time(), self.tick, name, str(problem), trace, recovery is not None, recovery)
        )  # fmt: skip
