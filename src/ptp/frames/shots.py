"""One picture on its way from the world to the disk, at once or in the background, and what all stores share."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec

from ptp._util.attempt import attempt
from ptp.frames.disk import NEARLY
from ptp.frames.pictures import Format, Picture, Resolution, resolution
from ptp.frames.triggers import Trigger
from ptp.records import FrameKept, Notice, Record

PLACE = "frames"  # in the run's folder
LOOK_AFTER = 0.1  # seconds until a picture that is not urgent is found
QUEUE = 32  # pictures that may wait; of large ones that is some 20 MB


class Drawn(msgspec.Struct, frozen=True):
    """A picture of a tick."""

    tick: int
    at: float
    picture: Picture


class Shot(Drawn, frozen=True):
    """A picture that is due, with what is known of its tick."""

    trigger: Trigger
    episode: int
    screen_type: str | None = None
    annotations: Any = None


class ShotMetadata(msgspec.Struct, frozen=True):
    """What `screenshots.metadata` holds."""

    resolution: Resolution
    compression: str
    quality: int | None
    hash: str
    """Of the pixels."""
    trigger: Trigger
    content: str
    """The digest of the file, by which it is verified."""


class Counts(msgspec.Struct):
    """What became of the pictures of a run."""

    kept: int = 0
    """Pictures in the table."""
    repeated: int = 0
    """Those of them that equal one from before and refer to its file."""
    dropped: int = 0
    """Pictures that were due while the queue was full."""
    skipped: int = 0
    """Pictures that were due while the run's quota was used up."""
    failed: int = 0
    """Pictures that could not be drawn or written."""
    shrunk: int = 0
    removed: int = 0
    bytes: int = 0
    """What the pictures take on disk."""


class Store:
    """Where pictures go; this one keeps none."""

    def __init__(self) -> None:
        self.counts = Counts()
        self._told: set[str] = set()

    def keep(self, shot: Shot) -> list[Record]:
        """Keep a picture and return the records of what was done."""
        return []

    def forget_after(self, tick: int) -> None:
        """Forget the pictures, not yet written, of ticks that were taken back."""

    def close(self) -> list[Record]:
        """Finish what was begun."""
        return []

    def _tell(self, moment: Drawn | FrameKept, kind: str, message: str) -> list[Record]:
        """Return a notice the first time that something of its kind happens."""
        if kind in self._told:
            return []
        self._told.add(kind)
        return [Notice(moment.at, moment.tick, "warning", kind, message)]


class LocalStore(Store):
    """Keeps pictures in the run's folder, within a quota."""

    def __init__(self, run: Path, quota: int, format: Format, quality: int, once: bool) -> None:
        super().__init__()
        self._folder = run / PLACE
        self._quota = quota
        self._format = format
        self._quality = quality
        self._once = once

    def _record(self, shot: Shot, name: str, size: int, digest: str, content: str) -> FrameKept:
        compression = "text" if isinstance(shot.picture, str) else self._format
        quality = self._quality if compression in ("jpeg", "webp") else None
        metadata = ShotMetadata(resolution(shot.picture), compression, quality, digest, shot.trigger, content)
        return FrameKept(shot.tick, shot.at, shot.screen_type, f"{PLACE}/{name}", size, shot.annotations, metadata)

    def _warn_when_nearly_full(self, moment: Drawn | FrameKept) -> list[Record]:
        if self.counts.bytes < NEARLY * self._quota:
            return []
        used = f"{self.counts.bytes / self._quota:.0%} of their {self._quota:,} bytes"
        return self._tell(moment, "frames_nearly_full", f"pictures take {used}; see --screenshot-max-storage")


Item = TypeVar("Item", bound=Drawn)


class DirectLane(Generic[Item]):
    """The run waits until a picture is kept.

    *develop* does what is to be done with a picture, and returns the records of it.
    """

    patient = True
    waiting = 0
    """How many pictures are not kept yet."""

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
    def waiting(self) -> int:  # type: ignore[override]
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
