"""Answers about snapshots that others may fetch."""

from __future__ import annotations

import msgspec


class SharedSnapshot(msgspec.Struct, frozen=True):
    """A snapshot that others may fetch."""

    run_id: str
    """The run it is of."""
    snapshot_id: str
    """Its id."""
    name: str | None
    """Its name, if a person gave one."""
    message: str | None
    """What it is for, in a person's words."""
    tick: int
    """The tick it was taken at."""
    created_at: str
    """When it was taken, UTC."""
    world: str
    """The world it needs."""
    world_version: str
    """The version of that world."""
    rom_sha1: str | None
    """The cartridge it needs; null for a world without one."""
    agent: str
    """Who played."""
    location: str
    """Where in the world it is, in the world's words."""
    download: str
    """The path, on this server, that `ptp snapshot import` fetches it from."""


class SharedList(msgspec.Struct, frozen=True):
    """Snapshots that others may fetch, newest run first."""

    snapshots: list[SharedSnapshot]
    """The snapshots."""
    more: bool
    """Whether there are others beyond the limit."""
