"""What changes a run: controls, snapshots, restore and fork. Each needs the token."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from ptp.agents.registry import find_agent
from ptp.recording import RunDirectory
from ptp.recording.database import Database
from ptp.runner.control import ask, not_running
from ptp.runs.offline import create_snapshot, restore_snapshot, store_of
from ptp.runs.ticks import NoTick, newest_tick
from ptp.snapshots import SnapshotHeader
from ptp.web.answers import Forked, Restored, SnapshotLine, SnapshotList, Steered, from_header
from ptp.web.endpoints import API, Endpoint
from ptp.web.requests import END, Name, Run, Tick
from ptp.web.services import Services

SnapshotName = Annotated[Name, Meta(description="A snapshot: its name, id, or `latest`.")]
NewSettings = Annotated[
    dict[str, str],
    Meta(min_length=1, max_length=20, description="Flags of `ptp run`, without dashes: tick rates, limits, commands."),
]
Seed = Annotated[int, Meta(ge=0, le=2**31 - 1)]
Limit = Annotated[int, Meta(ge=1, le=1 << 53)]
Rate = Annotated[int, Meta(ge=0, le=100_000)]
Note = Annotated[str, Meta(max_length=500, pattern=rf"^[^\x00-\x1f]*{END}")]


def pause(services: Services, run: Run = None) -> Steered:
    """Pause a live run."""
    return _steer(services, run, "pause")


def resume(services: Services, run: Run = None) -> Steered:
    """Let a paused run play on."""
    return _steer(services, run, "resume")


def step(
    services: Services,
    run: Run = None,
    ticks: Annotated[int, Meta(ge=1, le=1_000_000, description="Ticks to play before the run is paused again.")] = 1,
) -> Steered:
    """Let a live run play some ticks, then pause it."""
    return _steer(services, run, "step", ticks=ticks)


def rollback(
    services: Services,
    run: Run = None,
    count: Annotated[int, Meta(ge=1, le=10_000, description="Snapshots in memory to go back.")] = 1,
) -> Steered:
    """Take a live run back by some of its snapshots in memory."""
    return _steer(services, run, "rollback", count=count)


def stop(services: Services, run: Run = None) -> Steered:
    """End a live run as Ctrl-C would."""
    return _steer(services, run, "stop")


def change(services: Services, settings: NewSettings, run: Run = None) -> Steered:
    """Change tick rates, limits or command settings of a live run."""
    flags = {"--" + name.removeprefix("--"): value for name, value in settings.items()}
    return _steer(services, run, "set", flags=flags)


def snapshot(
    services: Services,
    run: Run = None,
    name: Annotated[Name | None, Meta(description="A name to find it by.")] = None,
    message: Annotated[Note | None, Meta(description="A note.")] = None,
) -> Steered:
    """Take a snapshot: of a live run now, of one that has ended at its last tick."""
    directory, metadata = services.find(run)
    if metadata.status == "running":
        return _steer(services, run, "snapshot", name=name, message=message)
    line = _line(create_snapshot(directory, name, message))
    return Steered(directory.run_id, line.tick, None, line)


def _steer(services: Services, run: str | None, verb: str, **arguments: Any) -> Steered:
    directory, metadata = services.find(run)
    if metadata.status != "running":
        raise not_running(directory)
    answer = ask(directory, verb, **arguments)
    header = answer.get("snapshot")
    taken = None if header is None else _line(msgspec.convert(header, SnapshotHeader))
    tick = answer.get("tick", taken.tick if taken else 0)
    return Steered(directory.run_id, tick, answer.get("paused"), taken)


def restore(services: Services, snapshot: SnapshotName, run: Run = None) -> Restored:
    """Take a run back to a snapshot; what came after it is discarded."""
    return _restore(services, run, snapshot)


def restore_by_id(services: Services, snapshot_id: SnapshotName, run: Run = None) -> Restored:
    """Take a run back to a snapshot; what came after it is discarded."""
    return _restore(services, run, snapshot_id)


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


def snapshots(services: Services, run: Run = None) -> SnapshotList:
    """List the snapshots of a run, newest first; those in memory too while it is live."""
    directory, metadata = services.find(run)
    lines = [_line(header) for header in _headers(directory, metadata.status == "running")]
    return SnapshotList(lines, len(lines))


def _headers(directory: RunDirectory, live: bool) -> list[SnapshotHeader]:
    if live:
        return msgspec.convert(ask(directory, "snapshots")["snapshots"], list[SnapshotHeader])
    return store_of(directory).headers()


def _line(header: SnapshotHeader) -> SnapshotLine:
    return from_header(SnapshotLine, header, bytes=header.payload_bytes, on_disk=bool(header.payload_hash))


def fork(
    services: Services,
    run: Run = None,
    tick: Annotated[Tick | None, Meta(description="The last tick that both share.")] = None,
    snapshot: Annotated[Name | None, Meta(description="Or the snapshot to start from.")] = None,
    random_seed: Annotated[Seed | None, Meta(description="Another seed for the agent.")] = None,
    agent: Annotated[Name | None, Meta(description="Another agent.")] = None,
    max_ticks: Annotated[Limit | None, Meta(description="Another limit.")] = None,
    tick_rate_base: Annotated[Rate | None, Meta(description="Another tick rate.")] = None,
) -> Forked:
    """Start a new run with another's history up to a tick; it plays in a process of its own."""
    directory, _ = services.find(run)
    tick = _fork_tick(directory, tick) if snapshot is None else store_of(directory).find(snapshot).tick
    if agent is not None:
        find_agent(agent)
    flags = {"random-seed": random_seed, "agent": agent, "max-ticks": max_ticks, "tick-rate-base": tick_rate_base}
    given = {f"--{name}": str(value) for name, value in flags.items() if value is not None}
    return Forked(services.children.fork(directory, tick, given), directory.run_id, tick)


def _fork_tick(directory: RunDirectory, wanted: int | None) -> int:
    """Return the tick that is asked for, or the newest."""
    with Database(directory.database) as database:
        last = newest_tick(database)
    if wanted is not None and wanted > last:
        raise NoTick(wanted, last)
    return last if wanted is None else wanted


CONTROL, SNAPSHOT = f"{API}/control", f"{API}/snapshot"
ENDPOINTS = (
    Endpoint("POST", f"{CONTROL}/pause", pause),
    Endpoint("POST", f"{CONTROL}/resume", resume),
    Endpoint("POST", f"{CONTROL}/step", step),
    Endpoint("POST", f"{CONTROL}/rollback", rollback),
    Endpoint("POST", f"{CONTROL}/restore", restore),
    Endpoint("POST", f"{CONTROL}/stop", stop),
    Endpoint("POST", f"{CONTROL}/set", change),
    Endpoint("POST", f"{CONTROL}/snapshot", snapshot),
    Endpoint("GET", f"{SNAPSHOT}/list", snapshots),
    Endpoint("POST", f"{SNAPSHOT}/restore/{{snapshot_id}}", restore_by_id),
    Endpoint("POST", f"{API}/fork", fork),
)
