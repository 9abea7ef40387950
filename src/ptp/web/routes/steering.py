"""What changes a run: controls, snapshots, restore and fork. Each needs the token."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Body, Path, Request
from pydantic import BaseModel, ConfigDict, Field, model_validator
from starlette.responses import Response

from ptp.agents.registry import find_agent
from ptp.runs import answers
from ptp.runs.answers.steering import line_of
from ptp.runs.offline import store_of
from ptp.runs.run import Run
from ptp.runs.states import NoTick
from ptp.web.parts import RunName, parts_of
from ptp.web.schema import answered_by, reply

router = APIRouter(prefix="/api/v1", tags=["steering"])
NAME = r"^[A-Za-z0-9][A-Za-z0-9 ._-]*$"
SnapshotName = Annotated[str, Path(max_length=80, pattern=NAME, description="A snapshot: its name, id, or `latest`.")]


class _Wish(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    @model_validator(mode="before")
    @classmethod
    def _take_whole_numbers(cls, wish: object) -> object:
        """Let 3.0 be 3, which JSON does not tell apart."""
        if not isinstance(wish, dict):
            return wish
        return {name: int(it) if isinstance(it, float) and it.is_integer() else it for name, it in wish.items()}


class StepWish(_Wish):
    """How far to step."""

    ticks: int = Field(default=1, ge=1, le=1_000_000, description="Ticks to play before the run is held again.")


class SnapshotWish(_Wish):
    """What the snapshot is for."""

    name: str | None = Field(default=None, max_length=80, pattern=NAME, description="A name to find it by.")
    message: str | None = Field(default=None, max_length=500, pattern=r"^[^\x00-\x1f]*$", description="A note.")


class RestoreWish(_Wish):
    """Where to go back to."""

    snapshot: str = Field(max_length=80, pattern=NAME, description="A snapshot: its name, id, or `latest`.")


class RollbackWish(_Wish):
    """How far to go back."""

    count: int = Field(default=1, ge=1, le=10_000, description="Snapshots in memory to go back.")


class SetWish(_Wish):
    """Settings to change."""

    settings: dict[str, str] = Field(
        min_length=1,
        max_length=20,
        description="Flags of `ptp run`, without their dashes: tick rates, limits, commands.",
    )


class ForkWish(_Wish):
    """Where the new run leaves the other, and how it differs."""

    tick: int | None = Field(default=None, ge=0, le=1 << 53, description="The last tick that both share.")
    snapshot: str | None = Field(
        default=None, max_length=80, pattern=NAME, description="Or the snapshot to begin from."
    )
    random_seed: int | None = Field(default=None, ge=0, le=2**31 - 1, description="Another seed for the agent.")
    agent: str | None = Field(default=None, max_length=80, pattern=NAME, description="Another agent.")
    max_ticks: int | None = Field(default=None, ge=1, le=1 << 53, description="Another limit.")
    tick_rate_base: int | None = Field(default=None, ge=0, le=100_000, description="Another tick rate.")


def _find(request: Request, name: str | None) -> Run:
    return Run(parts_of(request).find(name)[0])


@router.post("/control/pause", responses=answered_by(answers.Steered))
def pause(request: Request, run: RunName = None) -> Response:
    """Hold a live run."""
    return reply(_find(request, run).pause())


@router.post("/control/resume", responses=answered_by(answers.Steered))
def resume(request: Request, run: RunName = None) -> Response:
    """Let a held run go on."""
    return reply(_find(request, run).unpause())


@router.post("/control/step", responses=answered_by(answers.Steered))
def step(request: Request, run: RunName = None, wish: Annotated[StepWish | None, Body()] = None) -> Response:
    """Let a live run play some ticks, then hold it."""
    return reply(_find(request, run).step((wish or StepWish()).ticks))


@router.post("/control/rollback", responses=answered_by(answers.Steered))
def rollback(request: Request, run: RunName = None, wish: Annotated[RollbackWish | None, Body()] = None) -> Response:
    """Take a live run back by some of its snapshots in memory."""
    return reply(_find(request, run).rollback((wish or RollbackWish()).count))


@router.post("/control/restore", responses=answered_by(answers.Restored))
def restore(request: Request, wish: RestoreWish, run: RunName = None) -> Response:
    """Take a run back to a snapshot; what came after it is given up."""
    return reply(_find(request, run).restore(wish.snapshot))


@router.post("/control/stop", responses=answered_by(answers.Steered))
def stop(request: Request, run: RunName = None) -> Response:
    """End a live run as Ctrl-C would."""
    return reply(_find(request, run).stop())


@router.post("/control/set", responses=answered_by(answers.Steered))
def change(request: Request, wish: SetWish, run: RunName = None) -> Response:
    """Change tick rates, limits or command settings of a live run."""
    changes = {name.removeprefix("--"): value for name, value in wish.settings.items()}
    return reply(_find(request, run).set(**changes))


@router.post("/control/snapshot", responses=answered_by(answers.Steered))
def snapshot(request: Request, run: RunName = None, wish: Annotated[SnapshotWish | None, Body()] = None) -> Response:
    """Take a snapshot: of a live run now, of one that has ended at its last tick."""
    wanted = wish or SnapshotWish()
    found = _find(request, run)
    line = line_of(found.snapshot(wanted.name, wanted.message))
    return reply(answers.Steered(found.id, line.tick, None, line))


@router.get("/snapshot/list", responses=answered_by(answers.SnapshotList))
def snapshots(request: Request, run: RunName = None) -> Response:
    """List the snapshots of a run, newest first; those in memory too while it is live."""
    lines = [line_of(header) for header in _find(request, run).snapshots()]
    return reply(answers.SnapshotList(lines, len(lines)))


@router.post("/snapshot/restore/{snapshot_id}", responses=answered_by(answers.Restored))
def restore_by_id(request: Request, snapshot_id: SnapshotName, run: RunName = None) -> Response:
    """Take a run back to a snapshot; what came after it is given up."""
    return reply(_find(request, run).restore(snapshot_id))


@router.post("/fork", responses=answered_by(answers.Forked))
def fork(request: Request, wish: ForkWish, run: RunName = None) -> Response:
    """Begin a new run with another's history up to a tick; it plays in a process of its own."""
    parts = parts_of(request)
    directory, _ = parts.find(run)
    tick = wish.tick
    if wish.snapshot is not None:
        tick = store_of(directory).find(wish.snapshot).tick
    last = Run(directory).last_tick
    if tick is None:
        tick = last
    if tick > last:
        raise NoTick(tick, last)
    if wish.agent is not None:
        find_agent(wish.agent)
    flags = {"random_seed": wish.random_seed, "agent": wish.agent, "max_ticks": wish.max_ticks,
             "tick_rate_base": wish.tick_rate_base}  # fmt: skip
    given = {"--" + name.replace("_", "-"): str(value) for name, value in flags.items() if value is not None}
    return reply(answers.Forked(parts.children.fork(directory, tick, given), directory.run_id, tick))
