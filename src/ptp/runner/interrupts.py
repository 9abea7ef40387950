"""Ctrl-C and SIGTERM as a clean stop."""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import Any

from ptp._util.clock import Clock
from ptp.records import Stop

NAMES = {signal.SIGINT: "Ctrl-C", signal.SIGTERM: "SIGTERM"}


class Interrupts:
    """While entered, the first signal asks for a clean stop; a second one acts as it always did."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._old: dict[signal.Signals, Any] = {}
        self.stop: Stop | None = None
        self.exit_code = 0

    def __enter__(self) -> Interrupts:
        if threading.current_thread() is threading.main_thread():
            self._old = {number: signal.signal(number, self._hear) for number in NAMES}
        return self

    def __exit__(self, *problem: object) -> None:
        self._restore()

    def _restore(self) -> None:
        for number, handler in self._old.items():
            signal.signal(number, handler)
        self._old = {}

    def _hear(self, number: int, frame: FrameType | None) -> None:
        self._restore()
        name = NAMES[signal.Signals(number)]
        self.stop = Stop("manual", name, f"stopped by {name}")
        self.exit_code = 128 + number
        self._clock.wake()
