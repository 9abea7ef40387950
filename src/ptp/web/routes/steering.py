"""What changes a run: controls, snapshots, restore and fork. Each needs the token."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from ptp.agents.registry import find_agent
from ptp.http.endpoints import END, Endpoint
from ptp.runs.steering import Restored, SnapshotList, Steered, line_of, store_of
from ptp.runs.ticks import NoTick
from ptp.web.parameters import API, Name, Run, Tick
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


class Forked(Struct, frozen=True):
    """A new run that was started from another."""

    run_id: str
    """The new run."""
    parent: str
    """The run it came from."""
    tick: int
    """The last tick that both share."""


def pause(services: Services, run: Run = None) -> Steered:
    """Pause a live run."""
    return services.open(run).pause()


def resume(services: Services, run: Run = None) -> Steered:
    """Let a paused run play on."""
    return services.open(run).unpause()


def step(
    services: Services,
    run: Run = None,
    ticks: Annotated[int, Meta(ge=1, le=1_000_000, description="Ticks to play before the run is paused again.")] = 1,
) -> Steered:
    """Let a live run play some ticks, then pause it."""
    return services.open(run).step(ticks)


def rollback(
    services: Services,
    run: Run = None,
    count: Annotated[int, Meta(ge=1, le=10_000, description="Snapshots in memory to go back.")] = 1,
) -> Steered:
    """Take a live run back by some of its snapshots in memory."""
    return services.open(run).rollback(count)


def rewind(
    services: Services,
    run: Run = None,
    ticks: Annotated[int, Meta(ge=1, le=1_000_000_000, description="Ticks to go back.")] = 1,
) -> Restored:
    """Take a run back by some ticks; what came after is discarded. A live run plays on from there."""
    return services.open(run).rewind(ticks)


def stop(services: Services, run: Run = None) -> Steered:
    """End a live run as Ctrl-C would."""
    return services.open(run).stop()


def change(services: Services, settings: NewSettings, run: Run = None) -> Steered:
    """Change tick rates, limits or command settings of a live run."""
    return services.open(run).set(**settings)


def snapshot(
    services: Services,
    run: Run = None,
    name: Annotated[Name | None, Meta(description="A name to find it by.")] = None,
    message: Annotated[Note | None, Meta(description="A note.")] = None,
) -> Steered:
    """Take a snapshot: of a live run now, of one that has ended at its last tick."""
    opened = services.open(run)
    line = line_of(opened.snapshot(name, message))
    return Steered(opened.id, line.tick, None, line)


def restore(services: Services, snapshot: SnapshotName, run: Run = None) -> Restored:
    """Take a run back to a snapshot; what came after it is discarded."""
    return services.open(run).restore(snapshot)


def restore_by_id(services: Services, snapshot_id: SnapshotName, run: Run = None) -> Restored:
    """Take a run back to a snapshot; what came after it is discarded."""
    return services.open(run).restore(snapshot_id)


def snapshots(services: Services, run: Run = None) -> SnapshotList:
    """List the snapshots of a run, newest first; those in memory too while it is live."""
    lines = [line_of(header) for header in services.open(run).snapshots()]
    return SnapshotList(lines, len(lines))


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
    parent = services.open(run)
    if snapshot is not None:
        tick = store_of(parent.directory).find(snapshot).tick
    elif tick is None:
        tick = parent.last_tick
    elif tick > parent.last_tick:
        raise NoTick(tick, parent.last_tick)
    if agent is not None:
        find_agent(agent)
    flags = {"random-seed": random_seed, "agent": agent, "max-ticks": max_ticks, "tick-rate-base": tick_rate_base}
    given = {f"--{name}": str(value) for name, value in flags.items() if value is not None}
    return Forked(services.children.fork(parent.id, tick, given), parent.id, tick)


CONTROL, SNAPSHOT = f"{API}/control", f"{API}/snapshot"
ENDPOINTS = (
    Endpoint("POST", f"{CONTROL}/pause", pause),
    Endpoint("POST", f"{CONTROL}/resume", resume),
    Endpoint("POST", f"{CONTROL}/step", step),
    Endpoint("POST", f"{CONTROL}/rollback", rollback),
    Endpoint("POST", f"{CONTROL}/rewind", rewind),
    Endpoint("POST", f"{CONTROL}/restore", restore),
    Endpoint("POST", f"{CONTROL}/stop", stop),
    Endpoint("POST", f"{CONTROL}/set", change),
    Endpoint("POST", f"{CONTROL}/snapshot", snapshot),
    Endpoint("GET", f"{SNAPSHOT}/list", snapshots),
    Endpoint("POST", f"{SNAPSHOT}/restore/{{snapshot_id}}", restore_by_id),
    Endpoint("POST", f"{API}/fork", fork),
)
