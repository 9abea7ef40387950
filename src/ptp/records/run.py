"""What names a run: its world, its header, and how it ended."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

Status = Literal["running", "completed", "crashed", "manual_stop"]
StopKind = Literal["limit", "budget", "timeout", "finished", "manual"]
SnapshotKind = Literal["state", "tape"]


class WorldSpec(msgspec.Struct, frozen=True):
    """Enough to make the same world again: a name, where its class is, and what the class is given."""

    name: str
    entry: str
    options: dict[str, Any] = {}


class Gauge(msgspec.Struct, frozen=True):
    """A figure that a world reports of itself: a signal that limits can watch, or a measurement."""

    name: str
    title: str
    unit: str = ""
    help: str = ""


class WorldFacts(msgspec.Struct, frozen=True):
    """What can be known of a world before it is played."""

    name: str
    family: str
    version: str
    render_modes: tuple[str, ...]
    render_mode: str | None
    control_modes: tuple[str, ...]
    storage_profile: str
    snapshot: SnapshotKind
    signals: tuple[str, ...] = ()
    """The signals that limits can watch; `gauges` describes them."""
    origin: dict[str, str] = {}
    """The versions and files that a replay depends on."""
    gauges: tuple[Gauge, ...] = ()
    milestones: tuple[str, ...] = ()
    """The kinds of events that tell the story of a run."""
    commands: tuple[str, ...] = ()
    """Names of the commands 0, 1, 2, ..., where the world has them."""
    ticks_per_second: float | None = None
    """The pace at which its ticks look as they were made to look; None of a run that did not keep it."""

    def name_command(self, command: str) -> str:
        """Return the name of a command as it stands on the tape; a command without one is shown as it is."""
        return dict(zip(map(str, range(len(self.commands))), self.commands, strict=True)).get(command, command)


class Stop(msgspec.Struct, frozen=True):
    """Why a run ended."""

    kind: StopKind
    name: str
    message: str


class Parent(msgspec.Struct, frozen=True):
    """The run that a forked run came from."""

    run_id: str
    tick: int


class Resumed(msgspec.Struct, frozen=True):
    """A time when a run was resumed."""

    at: str
    tick: int


class Metadata(msgspec.Struct, kw_only=True):
    """The header of a run, kept in `metadata.json`."""

    run_id: str
    status: Status
    ptp_version: str
    schema_version: str
    experiment_name: str
    world: WorldSpec
    facts: WorldFacts
    agent: str
    random_seed: int
    started_at: str
    completed_at: str | None = None
    ticks: int | None = None
    episodes: int | None = None
    total_reward: float | None = None
    total_cost: float | None = None
    elapsed_seconds: float | None = None
    signals: dict[str, float] = {}
    """The world's signals at the end."""
    stop: Stop | None = None
    error: str | None = None
    exit_code: int | None = None
    agent_seed: int | None = None
    parent: Parent | None = None
    evaluates: Parent | None = None
    """The run that learnt what this one plays with, and the tick up to which it had learnt."""
    resumed: list[Resumed] = []
    rewinds: int = 0
    name: str | None = None
    tags: list[str] = []
    notes: str | None = None
    group: str | None = None
    """The run whose vector environment this one is a lane of."""
    seal: str | None = None
    """The head of the seal when the run last ended well, or was pruned or migrated since."""
    tape_digest: str | None = None
    """What stands for the tape: runs that were played equally have the same."""
    checksum: str | None = None
    """What stands for everything else in the header."""


class RunResult(msgspec.Struct):
    """How a run ended."""

    run_id: str
    directory: str
    status: Status
    exit_code: int
    stop: Stop | None
    error: str | None
    world: str
    agent: str
    random_seed: int
    ticks: int
    episodes: int
    total_reward: float
    total_cost: float
    elapsed_seconds: float
    ticks_per_second: float | None
    report: str | None
    signals: dict[str, float] = {}
