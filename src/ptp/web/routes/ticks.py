"""Ticks: one of them, the action log, decisions, events, and the picture of any tick."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import Response

from ptp.recording.database import Database
from ptp.runs import answers
from ptp.runs.actions import ActionQuery, Kind
from ptp.runs.drawing import Drawn
from ptp.runs.states import newest_tick
from ptp.runs.ticks import list_decisions, list_events, read_tick
from ptp.web.parts import Page, RunName, parts_of
from ptp.web.schema import answered_by, answered_with, reply

router = APIRouter(prefix="/api/v1", tags=["ticks"])
MOST_TICK = 1 << 53
OptionalTick = Annotated[int | None, Query(ge=0, le=MOST_TICK, description="A tick.")]


def picture(drawn: Drawn, lasting: bool) -> Response:
    """Answer with a picture; one that can't change may be kept by the browser for a while."""
    age = "private, max-age=3600" if lasting else "no-store"
    shown = {} if drawn.tick is None else {"X-Tick": str(drawn.tick)}
    return Response(drawn.data, media_type=drawn.media_type, headers={"Cache-Control": age, **shown})


@router.get("/tick/{tick}", responses=answered_by(answers.Tick))
def tick(
    request: Request,
    tick: Annotated[int, Path(ge=0, le=MOST_TICK, description="The tick; 0 is before the first command.")],
    run: RunName = None,
) -> Response:
    """Tell everything about one tick: state, action, decision and events."""
    return reply(read_tick(parts_of(request).find(run)[0], tick))


@router.get("/frame", responses=answered_with("The picture.", "image/png", "image/jpeg", "image/webp", "text/plain"))
def frame(
    request: Request,
    run: RunName = None,
    tick: OptionalTick = None,
    near: Annotated[
        bool, Query(description="Be quick: a live run may give a picture up to 16 ticks older; X-Tick says which.")
    ] = False,
) -> Response:
    """Return the picture after any tick, or after the newest: a kept one, a live run's, or drawn from the tape."""
    parts = parts_of(request)
    directory, metadata = parts.find(run)
    if tick is None:
        with Database(directory.database) as database:
            return picture(parts.album.at_tick(directory, metadata, newest_tick(database)), lasting=False)
    return picture(parts.album.at_tick(directory, metadata, tick, near), lasting=metadata.status != "running")


@router.get("/actions", responses=answered_by(answers.ActionList))
def actions(
    request: Request,
    run: RunName = None,
    kind: Annotated[Kind, Query(description="Commands, events, or both.")] = "all",
    action: Annotated[str | None, Query(max_length=200, description="Only this command or kind of event.")] = None,
    q: Annotated[str | None, Query(max_length=200, description="Text in reasons, commands or events.")] = None,
    from_tick: OptionalTick = None,
    to_tick: OptionalTick = None,
    order: Annotated[Literal["asc", "desc"], Query(description="Oldest or newest first.")] = "asc",
    page: Page = 1,
    page_size: Annotated[int, Query(ge=1, le=1000, description="Lines per page.")] = 100,
) -> Response:
    """Return a page of the action log: commands that were applied, and what happened."""
    parts = parts_of(request)
    directory, metadata = parts.find(run)
    query = ActionQuery(kind, action, q, from_tick, to_tick, order == "desc", page, page_size)
    return reply(parts.actions.page(directory, metadata, query))


@router.get("/decisions", responses=answered_by(answers.DecisionList))
def decisions(
    request: Request,
    run: RunName = None,
    before: Annotated[
        str | None, Query(max_length=64, pattern=r"^[0-9a-f-]+$", description="What the page before gave as next.")
    ] = None,
    q: Annotated[str | None, Query(max_length=200, description="Text in reasoning or type.")] = None,
    page_size: Annotated[int, Query(ge=1, le=500, description="Decisions per page.")] = 50,
) -> Response:
    """Return decisions with their reasoning, newest first."""
    return reply(list_decisions(parts_of(request).find(run)[0], before, q, page_size))


@router.get("/events", responses=answered_by(answers.EventList))
def events(
    request: Request,
    run: RunName = None,
    kinds: Annotated[str, Query(max_length=500, description="Kinds, joined by commas; all when empty.")] = "",
    from_tick: Annotated[int, Query(ge=0, le=MOST_TICK, description="The first tick.")] = 0,
    to_tick: OptionalTick = None,
    limit: Annotated[int, Query(ge=1, le=5000, description="Events, at most.")] = 1000,
) -> Response:
    """Return what happened in a run, with errors and rewinds."""
    wanted = [kind for kind in kinds.split(",") if kind]
    return reply(list_events(parts_of(request).find(run)[0], wanted, from_tick, to_tick, limit))
