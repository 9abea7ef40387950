"""What every sink is, the run as it knows it, and the sinks that are installed."""

from __future__ import annotations

import importlib.metadata
import logging
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from ptp._util.clock import Clock
from ptp.config import RunConfig
from ptp.engine import Engine, Play
from ptp.errors import PtpError, UnknownName
from ptp.records import ErrorSeen, Level, Metadata, Metric, Notice, Record, Rewound, RunResult

GROUP = "ptp.sinks"  # the entry-point group of plug-ins


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
        """What sinks have reported since the last tick; the run hands it to all of them."""

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


class Sink:
    """Hears one run from its beginning to its end; each method may be left out.

    A sink of one's own runs on a thread beside the run. If it is too slow it loses records, and if it raises it
    receives nothing more; the run continues in both cases, and says so.
    """

    inline: ClassVar[bool] = False
    """Whether it is called by the run's own thread between two ticks; then it must be quick and must not raise."""

    each_tick: bool = False
    """Whether an inline sink is called after every single tick, while the world still shows it."""

    def began(self, run: RunContext) -> None:
        """The run is about to play its first tick, here or at all."""

    def took(self, records: Sequence[Record]) -> None:
        """Some records, in order; those of one tick come together."""

    def rewound(self, tick: int) -> None:
        """The run went back: what came after *tick* did not happen."""

    def ended(self, result: RunResult) -> None:
        """The run is over."""


def sink_names() -> list[str]:
    """Return the names of every installed sink."""
    return sorted(plugin.name for plugin in importlib.metadata.entry_points(group=GROUP))


def find_sink(name: str) -> Sink:
    """Make the sink of that name."""
    for plugin in importlib.metadata.entry_points(group=GROUP, name=name):
        try:
            sink: Sink = plugin.load()()
        except (ImportError, AttributeError) as problem:
            raise PtpError(f"sink {name!r} can't be made: {problem}") from None
        return sink
    raise UnknownName("sink", name, sink_names(), f"install a package with an entry point of the group {GROUP}")
