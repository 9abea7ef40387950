"""What only the web answers: refusals, settings, sharing and streams. What readers return stands beside them."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from msgspec import Struct

from ptp.records import Record
from ptp.runner.protocol import Now
from ptp.runs.actions import Action


class Problem(Struct, frozen=True):
    """Why a request was refused."""

    error: str
    """The kind of error."""
    message: str
    """What is wrong, and what to do about it."""


class Forked(Struct, frozen=True):
    """A new run that was started from another."""

    run_id: str
    """The new run."""
    parent: str
    """The run it came from."""
    tick: int
    """The last tick that both share."""


class SharedSnapshot(Struct, frozen=True):
    """A snapshot that others may download."""

    run_id: str
    snapshot_id: str
    name: str | None
    """The name that a person gave it."""
    message: str | None
    """What a person noted."""
    tick: int
    """The tick it was taken at."""
    created_at: str
    """When, in UTC."""
    world: str
    """The world it needs."""
    world_version: str
    rom_sha1: str | None
    """The cartridge it needs; null for a world without one."""
    agent: str
    location: str
    """The kind of situation, in the world's words."""
    download: str
    """The path, on this server, that `ptp snapshot import` downloads it from."""


class SharedList(Struct, frozen=True):
    """Snapshots that others may download, newest run first."""

    snapshots: list[SharedSnapshot]
    more: bool
    """Whether there are others beyond the limit."""


class LiveState(Struct, frozen=True):
    """How a live run stands: the data of the event `state`."""

    now: Now
    """Tick, time, pace and the like."""
    rate: float | None
    """Ticks per second over the last second."""
    state: msgspec.Raw
    """The world's state."""


class LiveRecords(Struct, frozen=True):
    """What happened since: the data of the event `records`."""

    records: list[Record]
    """Steps, decisions, events and notices as the engine made them; steps and decisions without their state."""
    lost: int
    """Records that came too fast to be passed on; the database has them."""


class LiveActions(Struct, frozen=True):
    """What happened since, as lines of the action log: the data of the event `actions`."""

    actions: list[Action]
    lost: int
    """Records that came too fast to be passed on; the database has them."""


class LiveEnd(Struct, frozen=True):
    """The run is played no longer: the data of the event `end`."""

    live: bool
    """Always false."""


class Settings(Struct):
    """The settings a run was recorded with."""

    run_id: str
    config: dict[str, Any]
    """Every setting, by section; as `--config-file` takes them. Empty where an older run kept none."""


class Health(Struct):
    """Whether the server serves."""

    status: Literal["ok"]
    """Always ok; a server that isn't does not answer."""
    version: str
