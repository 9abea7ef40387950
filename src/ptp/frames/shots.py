"""One picture on its way from the world to the disk, and what every place to keep it has in common."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from ptp.frames.disk import NEARLY
from ptp.frames.pictures import Format, Picture, Resolution, encode, fingerprint, resolution
from ptp.frames.triggers import EVENTS, Trigger
from ptp.records import FrameKept, Notice, Record

PLACE = "frames"  # in the run's folder


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
    trigger: Trigger


class Counts(msgspec.Struct):
    """What became of the pictures of a run."""

    kept: int = 0
    """Pictures in the table."""
    repeated: int = 0
    """Pictures that were equal to the one before and cost nothing."""
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
        self._last = ""

    def keep(self, shot: Shot) -> list[Record]:
        """Keep a picture; one that is equal to the one before costs nothing, unless something happened."""
        digest = fingerprint(shot.picture)
        if self._once and digest == self._last and shot.trigger not in EVENTS:
            self.counts.repeated += 1
            return []
        return self._keep(shot, digest)

    def _keep(self, shot: Shot, digest: str) -> list[Record]:
        raise NotImplementedError

    def forget_after(self, tick: int) -> None:
        """Begin anew: the picture before the next one was taken back."""
        self._last = ""

    def _encode(self, shot: Shot) -> bytes:
        return encode(shot.picture, self._format, self._quality)

    def _record(self, shot: Shot, name: str, size: int, digest: str) -> FrameKept:
        """Return the record of a picture that is kept under *name*."""
        compression = "text" if isinstance(shot.picture, str) else self._format
        quality = self._quality if compression in ("jpeg", "webp") else None
        metadata = ShotMetadata(resolution(shot.picture), compression, quality, digest, shot.trigger)
        return FrameKept(shot.tick, shot.at, shot.screen_type, f"{PLACE}/{name}", size, shot.annotations, metadata)

    def _warn(self, moment: Drawn | FrameKept) -> list[Record]:
        """Return a notice when the quota is nearly used up."""
        if self.counts.bytes < NEARLY * self._quota:
            return []
        used = f"{self.counts.bytes / self._quota:.0%} of their {self._quota:,} bytes"
        return self._tell(moment, "frames_nearly_full", f"pictures take {used}; see --screenshot-max-storage")
