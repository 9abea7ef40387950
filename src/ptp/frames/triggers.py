"""When a picture is due.

A tick has one picture at most; of several reasons the first in this order counts::

    ERROR > BATTLE > STATE_CHANGE > REWARD > INTERVAL
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import StrEnum

import msgspec

from ptp.config.tree import Screenshot
from ptp.records import ErrorSeen, Event, Notice, Record, Step


class Trigger(StrEnum):
    """Why a picture was kept."""

    ERROR = "ERROR"
    BATTLE = "BATTLE"
    STATE_CHANGE = "STATE_CHANGE"
    REWARD = "REWARD"
    INTERVAL = "INTERVAL"


class Moment(msgspec.Struct, frozen=True, gc=False):
    """A tick as the camera sees it."""

    tick: int
    step: Step | None
    trigger: Trigger | None


class Triggers:
    """Reads the records of one tick after the other and tells which picture is due."""

    def __init__(
        self,
        config: Screenshot,
        keep_every: int = 1,
        spikes_only: bool = False,
        turns: frozenset[str] = frozenset(),
    ) -> None:
        self._config = config
        self._turns = turns  # the events that begin a turn
        self._interval = config.interval * keep_every
        self._spikes = Spikes() if spikes_only else None
        self._error_left = 0
        self._turn_left = 0
        self._was_engaged = False

    def read(self, records: Sequence[Record], engaged: bool) -> Moment | None:
        """Return what the records of a tick say; None when nothing was played and nothing went wrong."""
        step: Step | None = None
        failed: int | None = None
        for record in records:
            if type(record) is Step:
                step = record
            elif type(record) is Notice:
                failed = record.tick if record.level == "error" else failed
            elif type(record) is ErrorSeen:
                failed = record.tick
            elif type(record) is Event and record.kind in self._turns:
                self._turn_left = self._config.battle_turn
        if failed is not None:
            self._error_left = self._config.on_error
        if step is not None:
            return Moment(step.tick, step, self._due(step, engaged))
        return None if failed is None else Moment(failed, None, self._take_error())

    def _take_error(self) -> Trigger | None:
        if not self._error_left:
            return None
        self._error_left -= 1
        return Trigger.ERROR

    def _due(self, step: Step, engaged: bool) -> Trigger | None:
        if engaged and not self._was_engaged:
            self._turn_left = self._config.battle_turn  # the first turn, also of a world without turns
        self._was_engaged = engaged
        due = None
        if self._config.on_change and step.state is not None:
            due = Trigger.STATE_CHANGE
        elif self._spikes is not None:
            if self._spikes.feed(step.reward or 0.0) or step.step == 1 or step.terminated:
                due = Trigger.REWARD
        elif step.tick % self._interval == 0:
            due = Trigger.INTERVAL
        if engaged and self._turn_left:
            self._turn_left -= 1
            due = Trigger.BATTLE
        return self._take_error() or due


class Spikes:
    """Tells a reward that is far from the others from one that is not."""

    ENOUGH = 30  # rewards that must be known before one can stand out
    FAR = 3.0  # standard deviations

    def __init__(self) -> None:
        self._count = 0
        self._mean = 0.0
        self._squares = 0.0

    def feed(self, reward: float) -> bool:
        """Take in a reward and return whether it is a spike."""
        deviation = math.sqrt(self._squares / self._count) if self._count else 0.0
        spike = self._count >= self.ENOUGH and abs(reward - self._mean) > self.FAR * deviation
        self._count += 1
        delta = reward - self._mean
        self._mean += delta / self._count
        self._squares += delta * (reward - self._mean)
        return spike
