"""The way of a picture to its store: at once, or in the background through a short queue."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Generic, TypeVar

from ptp._util.attempt import attempt
from ptp.frames.shots import Drawn
from ptp.records import Notice, Record

Item = TypeVar("Item", bound=Drawn)

LOOK_AFTER = 0.1  # seconds until a picture that is not urgent is found
QUEUE = 32  # pictures that may wait; of large ones that is some 20 MB


class DirectLane(Generic[Item]):
    """The run waits until a picture is kept.

    *develop* does what is to be done with a picture, and returns the records of it.
    """

    patient = True

    def __init__(self, develop: Callable[[Item], list[Record]]) -> None:
        self._develop = develop
        self._done: deque[Record] = deque()

    def put(self, drawn: Item, urgent: bool = True) -> bool:
        """Hand a picture over; False when it is dropped."""
        self._done += self._develop(drawn)
        return True

    def done(self) -> list[Record]:
        """Return the records since the last call."""
        return [self._done.popleft() for _ in range(len(self._done))] if self._done else []

    def settle(self) -> list[Record]:
        """Wait until nothing is under way, and return the records since the last call."""
        return self.done()

    def close(self, patience: float | None = None) -> list[Record]:
        """Keep what is waiting, for so many seconds at most, and return the last records."""
        return self.done()


class BackgroundLane(DirectLane[Item]):
    """A thread keeps pictures; one that finds the queue full is dropped, or the run waits if it is *patient*."""

    def __init__(self, develop: Callable[[Item], list[Record]], *, patient: bool, size: int = QUEUE) -> None:
        super().__init__(develop)
        self.patient = patient
        self._size = size
        self._waiting: deque[Item] = deque()
        self._changed = threading.Condition()
        self._closing = False
        self._busy = False
        self._thread = threading.Thread(target=self._run, name="pictures", daemon=True)
        self._thread.start()

    @property
    def waiting(self) -> int:
        """How many pictures are not kept yet."""
        return len(self._waiting)

    def put(self, drawn: Item, urgent: bool = True) -> bool:
        """Leave a picture for the thread; to wake it costs more than some pictures take."""
        with self._changed:
            while self.patient and len(self._waiting) >= self._size and self._thread.is_alive():
                self._changed.wait(0.1)
            if len(self._waiting) >= self._size or not self._thread.is_alive():
                return False
            self._waiting.append(drawn)
            if urgent or 2 * len(self._waiting) >= self._size:
                self._changed.notify_all()
        return True

    def settle(self) -> list[Record]:
        """Wait until nothing is under way, and return the records since the last call."""
        with self._changed:
            while (self._waiting or self._busy) and self._thread.is_alive():
                self._changed.wait(0.1)
        return self.done()

    def close(self, patience: float | None = None) -> list[Record]:
        """End the thread."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        self._thread.join(patience)
        return self.done()

    def _run(self) -> None:
        while (drawn := self._next()) is not None:
            kept = attempt(partial(self._develop, drawn))
            if isinstance(kept, Exception):
                ended = f"no more pictures are kept: {kept!r}"
                self._done.append(Notice(drawn.at, drawn.tick, "error", "frames_ended", ended))
                return
            self._done.extend(kept)

    def _next(self) -> Item | None:
        with self._changed:
            self._busy = False
            self._changed.notify_all()
            while not self._waiting and not self._closing:
                self._changed.wait(LOOK_AFTER)
            self._busy = bool(self._waiting)
            return self._waiting.popleft() if self._waiting else None
