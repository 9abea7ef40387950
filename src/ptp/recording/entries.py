"""Records that the recorder itself makes, beside those of the engine."""

from __future__ import annotations

import msgspec


class ErrorSeen(msgspec.Struct, frozen=True, gc=False):
    """Something went wrong."""

    number: int
    at: float
    tick: int
    type: str
    message: str
    trace: str | None
    recovered: bool
    recovery: str | None


class MetricTaken(msgspec.Struct, frozen=True, gc=False):
    """A measurement of the run itself."""

    number: int
    at: float
    tick: int
    type: str
    value: float
    unit: str
