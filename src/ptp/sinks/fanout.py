"""One run's records to all of its sinks: to some at every tick, to the others many at a time."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial

from ptp._util.attempt import attempt
from ptp.records import Record, RunResult
from ptp.sinks.contract import RunContext, Sink

LOT = 64  # records that are handed on together
LATEST = 0.02  # seconds after which they are handed on, however few
MOST = 20_000  # records that may wait
FAREWELL = 10.0  # seconds that the end of a run waits for a sink
GATHER = 0.02  # seconds in which records are gathered, so that the run seldom has to wake the thread


class BackgroundSink(Sink):
    """Lets a sink work beside the run: it loses records rather than time, and fails alone."""

    inline = True

    def __init__(self, sink: Sink, most: int = MOST) -> None:
        self.name = type(sink).__name__
        self._sink = sink
        self._most = most
        self._jobs: deque[tuple[int, Callable[[], None]]] = deque()  # each with its number of records
        self._waiting = 0
        self._changed = threading.Condition()
        self._closing = False
        self.lost = 0
        """Records that were dropped because the sink is too slow."""
        self.failure: Exception | None = None

    def began(self, run: RunContext) -> None:
        """Start the thread."""
        self._run = run
        self._jobs.append((0, partial(self._sink.began, run)))
        self._thread = threading.Thread(target=self._work, name=f"sink {self.name}", daemon=True)
        self._thread.start()

    def took(self, records: Sequence[Record]) -> None:
        """Leave records for the sink."""
        if self.failure is not None:
            return
        if self._waiting + len(records) > self._most:
            if not self.lost:
                self._run.notice("warning", "sink_slow", f"{self.name} is too slow; it loses records")
            self.lost += len(records)
            return
        with self._changed:
            self._waiting += len(records)
            self._jobs.append((len(records), partial(self._sink.took, records)))

    def rewound(self, tick: int) -> None:
        """Leave word that the run went back."""
        self._jobs.append((0, partial(self._sink.rewound, tick)))

    def ended(self, result: RunResult) -> None:
        """Let the sink finish, and give up one that takes too long."""
        self._jobs.append((0, partial(self._sink.ended, result)))
        with self._changed:
            self._closing = True
            self._changed.notify()
        self._thread.join(FAREWELL)
        if self._thread.is_alive():
            self._run.log.warning("%s did not finish in %.0f s", self.name, FAREWELL, extra={"event": "sink_slow"})
        if self.lost:
            self._run.log.warning("%s lost %d records", self.name, self.lost, extra={"event": "sink_slow"})

    def _work(self) -> None:
        while self.failure is None:
            with self._changed:
                if not self._jobs and self._closing:
                    return
                self._changed.wait(GATHER)
            while self._jobs and self.failure is None:
                size, job = self._jobs.popleft()
                with self._changed:
                    self._waiting -= size
                outcome: object = attempt(job)  # anything, if the sink is somebody's own
                if isinstance(outcome, Exception):
                    self.failure = outcome
        message = f"{self.name} failed and hears no more: {self.failure!r}"
        self._run.notice("warning", "sink_failed", message)
        self._run.log.warning(message, extra={"event": "sink_failed"}, exc_info=self.failure)


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
        """Let every sink finish, the recorder last; what they still report is kept."""
        for sink in reversed(self._sinks):
            self.hand_over()
            sink.ended(result)
