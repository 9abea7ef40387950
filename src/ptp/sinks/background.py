"""One bounded queue and one thread for a sink that may be slow or broken."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial

from ptp._util.attempt import attempt
from ptp.records import Record, RunResult
from ptp.sinks.context import RunContext
from ptp.sinks.contract import Sink

MOST = 20_000  # records that may wait
FAREWELL = 10.0  # seconds that the end of a run waits for a sink
GATHER = 0.02  # seconds in which records are gathered, so that the run seldom has to wake the thread


class BackgroundSink(Sink):
    """Lets a sink work beside the run: it loses records rather than time, and fails alone."""

    inline = True

    def __init__(self, sink: Sink, most: int = MOST) -> None:
        self._sink = sink
        self._most = most
        self._jobs: deque[Sequence[Record] | Callable[[], None]] = deque()
        self._waiting = 0
        self._changed = threading.Condition()
        self._closing = False
        self.lost = 0
        """Records that were dropped because the sink is too slow."""
        self.failure: Exception | None = None

    @property
    def name(self) -> str:
        """What the sink is called."""
        return type(self._sink).__name__

    def began(self, run: RunContext) -> None:
        """Start the thread."""
        self._run = run
        self._jobs.append(partial(self._sink.began, run))
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
            self._jobs.append(records)

    def rewound(self, tick: int) -> None:
        """Leave word that the run went back."""
        self._jobs.append(partial(self._sink.rewound, tick))

    def ended(self, result: RunResult) -> None:
        """Let the sink finish, and give up one that takes too long."""
        self._jobs.append(partial(self._sink.ended, result))
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
                self._do(self._jobs.popleft())

    def _do(self, job: Sequence[Record] | Callable[[], None]) -> None:
        if callable(job):
            outcome: Exception | None = attempt(job)
        else:
            with self._changed:
                self._waiting -= len(job)
            outcome = attempt(partial(self._sink.took, job))
        if isinstance(outcome, Exception):
            self.failure = outcome
            message = f"{self.name} failed and hears no more: {outcome!r}"
            self._run.notice("warning", "sink_failed", message)
            self._run.log.warning(message, extra={"event": "sink_failed"}, exc_info=outcome)
