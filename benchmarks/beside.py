"""A bare loop that takes turns with a recorded run, ten times a second, so that both meet the same machine.

The bare loop has a process of its own: it shares neither Python's lock nor a cache with the run.
"""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from typing import Any

from ptp.records import Record, RunResult
from ptp.sinks import RunContext, Sink

Loop = Callable[[int], None]
STRETCH = 0.1  # seconds of the run between two turns of the bare loop


class Beside(Sink):
    """Lets a bare loop do, after each stretch of a run, as many ticks as the run did, or *times* as many.

    A fast loop needs many, to be warm for most of its turn.
    """

    inline = True

    def __init__(self, make: Callable[..., Loop], *arguments: Any, times: int = 1) -> None:
        self._times = times
        context = multiprocessing.get_context("spawn")
        self._line, other = context.Pipe()
        self._process = context.Process(target=_serve, args=(other, make, arguments), daemon=True)
        self._process.start()
        self._line.recv()  # it is ready
        self._ticks = 0
        self._looked = 0.0
        self.alone = 0.0
        """Seconds that the bare loop took."""
        self.held_up = 0.0
        """Seconds that the run waited for it."""

    def began(self, run: RunContext) -> None:
        self._progress = run.play.progress
        self._ticks = self._progress.ticks

    def took(self, records: Sequence[Record]) -> None:
        if self._progress.elapsed - self._looked > STRETCH:
            self._looked = self._progress.elapsed
            self.let_it_play(self._progress.ticks)

    def ended(self, result: RunResult) -> None:
        self.let_it_play(self._progress.ticks)

    def let_it_play(self, ticks: int) -> None:
        """Let the bare loop do as many ticks as the run has done since its last turn."""
        began = time.perf_counter()
        self._line.send((ticks - self._ticks) * self._times)
        self._ticks = ticks
        self.alone += self._line.recv() / self._times
        self.held_up += time.perf_counter() - began

    def ratio(self, elapsed: float) -> float:
        """Return the speed of the run as a share of the bare loop's, and end the bare loop."""
        self._line.send(None)
        self._process.join()
        return self.alone / (elapsed - self.held_up)


def _serve(line: Connection, make: Callable[..., Loop], arguments: tuple[Any, ...]) -> None:
    loop = make(*arguments)
    line.send(None)
    while (ticks := line.recv()) is not None:
        began = time.perf_counter()
        loop(ticks)
        line.send(time.perf_counter() - began)
