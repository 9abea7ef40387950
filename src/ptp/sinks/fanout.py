"""One run's records to all of its sinks: to some at every tick, to the others many at a time."""

from __future__ import annotations

from collections.abc import Sequence

from ptp.records import Record, RunResult
from ptp.sinks.background import BackgroundSink
from ptp.sinks.context import RunContext
from ptp.sinks.contract import Sink

LOT = 64  # records that are handed on together
LATEST = 0.02  # seconds after which they are handed on, however few


class Fanout:
    """Hands on what happens; a sink that is not `inline` gets a thread and a queue of its own."""

    def __init__(self, run: RunContext, sinks: Sequence[Sink]) -> None:
        self._run = run
        self._sinks = [sink if sink.inline else BackgroundSink(sink) for sink in sinks]
        self._each_tick = [sink.took for sink in self._sinks if sink.each_tick]
        self._others = [sink.took for sink in self._sinks if not sink.each_tick]
        self._pending: list[Record] = []
        self._handed = 0.0

    def began(self) -> None:
        """Let every sink know that the run is about to play."""
        for sink in self._sinks:
            sink.began(self._run)

    def take(self, records: list[Record], now: float) -> None:
        """Hand on the records of one tick."""
        for took in self._each_tick:
            took(records)
        self._pending += records
        if now - self._handed >= LATEST or len(self._pending) >= LOT or self._run.fresh:
            self._handed = now
            self.hand_over()

    def hand_over(self) -> None:
        """Let every sink have everything that is known so far."""
        fresh = self._run.fresh
        while self._pending or fresh:
            told = [fresh.popleft() for _ in range(len(fresh))]
            if told:
                for took in self._each_tick:
                    took(told)
            pending, self._pending = self._pending + told, []
            for took in self._others:
                took(pending)

    def rewound(self, tick: int) -> None:
        """Let every sink know that the run went back."""
        self.hand_over()
        for sink in reversed(self._sinks):
            sink.rewound(tick)
        self.hand_over()

    def ended(self, result: RunResult) -> None:
        """Let every sink finish, the recorder last; what they still tell is kept."""
        for sink in reversed(self._sinks):
            self.hand_over()
            sink.ended(result)
