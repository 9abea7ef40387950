"""The way of a picture to its store: at once, or in the background through a short queue."""

from __future__ import annotations

import threading
from collections import deque
from functools import partial

import msgspec

from ptp._util.attempt import attempt
from ptp.engine.records import Notice
from ptp.frames.shots import Shot, Store

QUEUE = 32  # pictures that may wait; of large ones that is some 20 MB


class DirectLane:
    """The run waits until a picture is kept."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._done: list[msgspec.Struct] = []

    def put(self, shot: Shot) -> bool:
        """Keep a picture."""
        self._done += self._store.keep(shot)
        return True

    def done(self) -> list[msgspec.Struct]:
        """Return the records since the last call."""
        done, self._done = self._done, []
        return done

    def settle(self) -> list[msgspec.Struct]:
        """Return the records since the last call; nothing is under way."""
        return self.done()

    def close(self) -> list[msgspec.Struct]:
        """Finish, and return the last records."""
        return self.done() + self._store.close()


class BackgroundLane:
    """A thread keeps pictures; one that finds the queue full is dropped."""

    def __init__(self, store: Store, size: int = QUEUE) -> None:
        self._store = store
        self._size = size
        self._waiting: deque[Shot] = deque()
        self._done: deque[msgspec.Struct] = deque()
        self._changed = threading.Condition()
        self._closing = False
        self._busy = False
        self._thread = threading.Thread(target=self._run, name="pictures", daemon=True)
        self._thread.start()

    def put(self, shot: Shot) -> bool:
        """Hand a picture over; False when too many are waiting."""
        with self._changed:
            if len(self._waiting) >= self._size or not self._thread.is_alive():
                return False
            self._waiting.append(shot)
            self._changed.notify_all()
        return True

    def done(self) -> list[msgspec.Struct]:
        """Return the records since the last call."""
        if not self._done:
            return []
        return [self._done.popleft() for _ in range(len(self._done))]

    def settle(self) -> list[msgspec.Struct]:
        """Wait until nothing is under way, and return the records since the last call."""
        with self._changed:
            while (self._waiting or self._busy) and self._thread.is_alive():
                self._changed.wait(0.1)
        return self.done()

    def close(self) -> list[msgspec.Struct]:
        """Keep what is waiting, and return the last records."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        self._thread.join()
        return self.done() + self._store.close()

    def _run(self) -> None:
        while (shot := self._next()) is not None:
            kept = attempt(partial(self._store.keep, shot))
            if isinstance(kept, Exception):
                ended = f"no more pictures are kept: {kept!r}"
                self._done.append(Notice(shot.at, shot.tick, "error", "frames_ended", ended))
                return
            self._done.extend(kept)

    def _next(self) -> Shot | None:
        with self._changed:
            self._busy = False
            self._changed.notify_all()
            while not self._waiting and not self._closing:
                self._changed.wait()
            self._busy = bool(self._waiting)
            return self._waiting.popleft() if self._waiting else None
