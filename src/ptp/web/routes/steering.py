"""What changes a run: controls, snapshots, restore and fork. Each needs the token."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from ptp.agents.registry import find_agent
from ptp.recording import RunDirectory
from ptp.recording.database import Database
from ptp.runner.control import ask, not_running
from ptp.runs.offline import create_snapshot, restore_snapshot, store_of
from ptp.runs.ticks import NoTick, newest_tick
from ptp.snapshots import SnapshotHeader
from ptp.web.answers import Forked, Restored, SnapshotLine, SnapshotList, Steered
from ptp.web.endpoints import API, Endpoint
from ptp.web.requests import END, MOST_TICK, OfRun, SnapshotName, Tick
from ptp.web.services import Services


class WhichSnapshot(OfRun, frozen=True, kw_only=True):
    """Which snapshot is meant."""

    snapshot_id: SnapshotName
    """A snapshot: its name, id, or `latest`."""


class StepRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """How far to step."""

    ticks: Annotated[int, Meta(ge=1, le=1_000_000)] = 1
    """Ticks to play before the run is paused again."""


class SnapshotRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """What the snapshot is for."""

    name: SnapshotName | None = None
    """A name to find it by."""
    message: Annotated[str, Meta(max_length=500, pattern=rf"^[^\x00-\x1f]*{END}")] | None = None
    """A note."""


class RestoreRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """Where to go back to."""

    snapshot: SnapshotName
    """A snapshot: its name, id, or `latest`."""


class RollbackRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """How far to go back."""

    count: Annotated[int, Meta(ge=1, le=10_000)] = 1
    """Snapshots in memory to go back."""


class SetRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """Settings to change."""

    settings: Annotated[dict[str, str], Meta(min_length=1, max_length=20)]
    """Flags of `ptp run`, without their dashes: tick rates, limits, commands."""


class ForkRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """Where the new run leaves the other, and how it differs."""

    tick: Tick | None = None
    """The last tick that both share."""
    snapshot: SnapshotName | None = None
    """Or the snapshot to start from."""
    random_seed: Annotated[int, Meta(ge=0, le=2**31 - 1)] | None = None
    """Another seed for the agent."""
    agent: SnapshotName | None = None
    """Another agent."""
    max_ticks: Annotated[int, Meta(ge=1, le=MOST_TICK)] | None = None
    """Another limit."""
    tick_rate_base: Annotated[int, Meta(ge=0, le=100_000)] | None = None
    """Another tick rate."""


def pause(services: Services, asked: OfRun) -> Steered:
    """Pause a live run."""
    return _steer(services, asked, "pause")


def resume(services: Services, asked: OfRun) -> Steered:
    """Let a paused run play on."""
    return _steer(services, asked, "resume")


def step(services: Services, asked: OfRun, wanted: StepRequest) -> Steered:
    """Let a live run play some ticks, then pause it."""
    return _steer(services, asked, "step", ticks=wanted.ticks)


def rollback(services: Services, asked: OfRun, wanted: RollbackRequest) -> Steered:
    """Take a live run back by some of its snapshots in memory."""
    return _steer(services, asked, "rollback", count=wanted.count)


def stop(services: Services, asked: OfRun) -> Steered:
    """End a live run as Ctrl-C would."""
    return _steer(services, asked, "stop")


def change(services: Services, asked: OfRun, wanted: SetRequest) -> Steered:
    """Change tick rates, limits or command settings of a live run."""
    flags = {"--" + name.removeprefix("--"): value for name, value in wanted.settings.items()}
    return _steer(services, asked, "set", flags=flags)


def snapshot(services: Services, asked: OfRun, wanted: SnapshotRequest) -> Steered:
    """Take a snapshot: of a live run now, of one that has ended at its last tick."""
    directory, metadata = services.find(asked.run)
    if metadata.status == "running":
        return _steer(services, asked, "snapshot", name=wanted.name, message=wanted.message)
    line = _line(create_snapshot(directory, wanted.name, wanted.message))
    return Steered(directory.run_id, line.tick, None, line)


def _steer(services: Services, asked: OfRun, verb: str, **arguments: Any) -> Steered:
    directory, metadata = services.find(asked.run)
    if metadata.status != "running":
        raise not_running(directory)
    answer = ask(directory, verb, **arguments)
    header = answer.get("snapshot")
    taken = None if header is None else _line(msgspec.convert(header, SnapshotHeader))
    tick = answer.get("tick", taken.tick if taken else 0)
    return Steered(directory.run_id, tick, answer.get("paused"), taken)


def restore(services: Services, asked: OfRun, wanted: RestoreRequest) -> Restored:
    """Take a run back to a snapshot; what came after it is discarded."""
    return _restore(services, asked.run, wanted.snapshot)


def restore_by_id(services: Services, asked: WhichSnapshot) -> Restored:
    """Take a run back to a snapshot; what came after it is discarded."""
    return _restore(services, asked.run, asked.snapshot_id)


def _restore(services: Services, run: str | None, wanted: str) -> Restored:
    directory, metadata = services.find(run)
    if metadata.status == "running":
        tick = int(ask(directory, "restore", snapshot=_known_id(directory, wanted))["tick"])
        return Restored(directory.run_id, tick, True, None)
    header = restore_snapshot(directory, wanted)
    return Restored(directory.run_id, header.tick, False, f"ptp resume {directory.run_id}")


def _known_id(directory: RunDirectory, wanted: str) -> str:
    """Return the id that a live run knows a snapshot by; it may be in memory only."""
    for header in _headers(directory, live=True):
        if wanted in (header.snapshot_id, header.name) or wanted == "latest":
            return header.snapshot_id
    return wanted


def snapshots(services: Services, asked: OfRun) -> SnapshotList:
    """List the snapshots of a run, newest first; those in memory too while it is live."""
    directory, metadata = services.find(asked.run)
    lines = [_line(header) for header in _headers(directory, metadata.status == "running")]
    return SnapshotList(lines, len(lines))


def _headers(directory: RunDirectory, live: bool) -> list[SnapshotHeader]:
    if live:
        return msgspec.convert(ask(directory, "snapshots")["snapshots"], list[SnapshotHeader])
    return store_of(directory).headers()


def _line(header: SnapshotHeader) -> SnapshotLine:
    return SnapshotLine(
        snapshot_id=header.snapshot_id,
        name=header.name,
        tick=header.tick,
        episode=header.episode,
        created_at=header.created_at,
        reason=header.reason,
        message=header.message,
        location=header.location,
        bytes=header.payload_bytes,
        on_disk=bool(header.payload_hash),
    )


def fork(services: Services, asked: OfRun, wanted: ForkRequest) -> Forked:
    """Start a new run with another's history up to a tick; it plays in a process of its own."""
    directory, _ = services.find(asked.run)
    tick = _fork_tick(directory, wanted)
    if wanted.agent is not None:
        find_agent(wanted.agent)
    flags = {"random_seed": wanted.random_seed, "agent": wanted.agent, "max_ticks": wanted.max_ticks,
             "tick_rate_base": wanted.tick_rate_base}  # fmt: skip
    given = {"--" + name.replace("_", "-"): str(value) for name, value in flags.items() if value is not None}
    return Forked(services.children.fork(directory, tick, given), directory.run_id, tick)


def _fork_tick(directory: RunDirectory, wanted: ForkRequest) -> int:
    """Return the tick of the snapshot, the one that is asked for, or the newest."""
    with Database(directory.database) as database:
        last = newest_tick(database)
    if wanted.snapshot is not None:
        return store_of(directory).find(wanted.snapshot).tick
    tick = last if wanted.tick is None else wanted.tick
    if tick > last:
        raise NoTick(tick, last)
    return tick


CONTROL, SNAPSHOT = f"{API}/control", f"{API}/snapshot"
ENDPOINTS = (
    Endpoint("POST", f"{CONTROL}/pause", pause, Steered),
    Endpoint("POST", f"{CONTROL}/resume", resume, Steered),
    Endpoint("POST", f"{CONTROL}/step", step, Steered, OfRun, StepRequest),
    Endpoint("POST", f"{CONTROL}/rollback", rollback, Steered, OfRun, RollbackRequest),
    Endpoint("POST", f"{CONTROL}/restore", restore, Restored, OfRun, RestoreRequest),
    Endpoint("POST", f"{CONTROL}/stop", stop, Steered),
    Endpoint("POST", f"{CONTROL}/set", change, Steered, OfRun, SetRequest),
    Endpoint("POST", f"{CONTROL}/snapshot", snapshot, Steered, OfRun, SnapshotRequest),
    Endpoint("GET", f"{SNAPSHOT}/list", snapshots, SnapshotList),
    Endpoint("POST", f"{SNAPSHOT}/restore/{{snapshot_id}}", restore_by_id, Restored, WhichSnapshot),
    Endpoint("POST", f"{API}/fork", fork, Forked, OfRun, ForkRequest),
)
