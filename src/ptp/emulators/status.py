"""A pool and its emulators as others see them."""

from __future__ import annotations

from msgspec import Struct

from ptp.emulators.health import Level, Vitals


class MemberStatus(Struct, frozen=True, kw_only=True):
    """An emulator of a pool as others see it."""

    name: str
    url: str | None
    level: Level
    reasons: tuple[str, ...]
    is_busy: bool
    served: int
    """Tasks that it has done."""
    bad: int
    """Tasks that it failed."""
    restarts: int
    busy_seconds: float
    speed: float | None
    """Commands per second."""
    answer_ms: float | None
    vitals: Vitals | None


class PoolStatus(Struct, frozen=True, kw_only=True):
    """A pool as others see it."""

    backend: str
    size: int
    busy: int
    waiting: int
    """Tasks that wait for an emulator."""
    executed: int
    """Tasks that were done."""
    unsuccessful: int
    """Those of them that did not succeed."""
    retried: int
    """Attempts that failed because of an emulator, and were made again."""
    replaced: int
    """Emulators that were replaced."""
    median_ms: float | None
    """Of the last thousand tasks; null before the first."""
    p95_ms: float | None
    commands_per_second: float
    """What the emulators play together at their latest speed."""
    alerts: tuple[str, ...]
    """What somebody should look at, newest last."""
    members: tuple[MemberStatus, ...]
