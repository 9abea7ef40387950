"""One picture on its way from the world to the disk."""

from __future__ import annotations

from typing import Any, Protocol

import msgspec

from ptp.frames.pictures import Picture, Resolution, resolution
from ptp.frames.triggers import Trigger
from ptp.records import FrameKept, Record


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


class Store(Protocol):
    """Where pictures go."""

    counts: Counts

    def keep(self, shot: Shot) -> list[Record]:
        """Keep a picture and return the records of what was done."""

    def forget_after(self, tick: int) -> None:
        """Forget the pictures, not yet written, of ticks that were taken back."""

    def close(self) -> list[Record]:
        """Finish what was begun."""


def record_of(shot: Shot, path: str, size: int, metadata: ShotMetadata) -> FrameKept:
    """Return the record of a picture that is kept at *path*."""
    return FrameKept(shot.tick, shot.at, shot.screen_type, path, size, shot.annotations, metadata)


def metadata_of(shot: Shot, format: str, quality: int, digest: str) -> ShotMetadata:
    """Return what is kept beside the picture."""
    compression = "text" if isinstance(shot.picture, str) else format
    lossy = compression in ("jpeg", "webp")
    return ShotMetadata(resolution(shot.picture), compression, quality if lossy else None, digest, shot.trigger)
