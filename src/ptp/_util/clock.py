"""Time as an object, so that tests can turn it."""

from __future__ import annotations

import re
import time
from contextlib import suppress
from queue import Empty, SimpleQueue

from ptp.errors import UsageError

UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}


class Clock:
    """The machine's clock; `wake` ends a sleep early."""

    monotonic = staticmethod(time.perf_counter)
    time = staticmethod(time.time)

    def __init__(self) -> None:
        self._woken: SimpleQueue[None] = SimpleQueue()  # an event's lock may be held where a signal comes

    def sleep(self, seconds: float) -> None:
        """Wait for *seconds*, or until `wake` is called."""
        with suppress(Empty):
            self._woken.get(timeout=max(0.0, seconds))
            while True:
                self._woken.get_nowait()

    def wake(self) -> None:
        """End the present sleep, or the next one, at once; called from any thread, and from a signal."""
        self._woken.put(None)


def iso(seconds: float) -> str:
    """Return a UTC timestamp with milliseconds."""
    whole, milliseconds = divmod(round(seconds * 1000), 1000)
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(whole))}.{milliseconds:03d}Z"


def parse_age(text: str) -> float:
    """Return the seconds of an age such as 7d, 12h or 30m."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([smhdw])", text.strip().lower())
    if match is None:
        raise UsageError(f"{text!r} is not an age; write it as a number and s, m, h, d or w, such as 7d")
    return float(match[1]) * UNITS[match[2]]
