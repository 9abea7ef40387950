"""What the streams tell: the data of each server-sent event."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from ptp.records import DecisionMade
from ptp.runner.live import Frame, Now
from ptp.runs.answers.ticks import Action

__all__ = ["Frame", "LiveActions", "LiveEnd", "LiveState", "Now"]


class LiveState(Struct):
    """How a live run stands: the data of the event `state`."""

    now: Now
    """Tick, time, pace and the like."""
    rate: float | None
    """Ticks per second over the last second."""
    state: msgspec.Raw
    """The world's state."""


class LiveActions(Struct):
    """What happened since: the data of the event `actions`."""

    actions: list[Action]
    """Commands and events, as in the action log."""
    decisions: list[DecisionMade]
    """Decisions that were made."""
    titles: list[tuple[int, str, str]]
    """Tick, kind and title of each event."""
    notices: list[dict[str, Any]]
    """What a person should know."""
    lost: int
    """Records that came too fast to be passed on; the database has them."""


class LiveEnd(Struct):
    """The run is played no longer: the data of the event `end`."""

    live: bool
    """Always false."""
