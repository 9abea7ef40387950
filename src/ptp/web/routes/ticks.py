"""Ticks: one of them, the action log, decisions, events, and the picture of any tick."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta
from starlette.responses import Response

from ptp.recording.database import Database
from ptp.runs.actions import ActionQuery, Kind
from ptp.runs.answers import ActionList, DecisionList, EventList
from ptp.runs.answers import Tick as TickAnswer
from ptp.runs.drawing import Drawn
from ptp.runs.ticks import list_decisions, list_events, newest_tick, read_tick
from ptp.web.endpoints import API, Endpoint, Media
from ptp.web.requests import END, OfRun, Paged, Text, Tick
from ptp.web.services import Services

PICTURE = Media("The picture.", ("image/png", "image/jpeg", "image/webp", "text/plain"))


class WhichTick(OfRun, frozen=True, kw_only=True):
    """Which tick is meant."""

    tick: Tick
    """The tick; 0 is before the first command."""


class WhichFrame(OfRun, frozen=True, kw_only=True):
    """Which picture is meant."""

    tick: Tick | None = None
    """A tick. Without it: the newest."""
    near: bool = False
    """Be quick: a live run may give a picture up to 16 ticks older; X-Tick says which."""


class WhichActions(Paged, frozen=True, kw_only=True):
    """Which lines of the action log are wanted."""

    kind: Kind = "all"
    """Commands, events, or both."""
    action: Text | None = None
    """Only this command or kind of event."""
    q: Text | None = None
    """Text in reasons, commands or events."""
    from_tick: Tick | None = None
    """The first tick."""
    to_tick: Tick | None = None
    """The last tick."""
    order: Literal["asc", "desc"] = "asc"
    """Oldest or newest first."""
    page_size: Annotated[int, Meta(ge=1, le=1000)] = 100
    """Lines per page."""


class WhichDecisions(OfRun, frozen=True, kw_only=True):
    """Which decisions are wanted."""

    before: Annotated[str, Meta(max_length=64, pattern=rf"^[0-9a-f-]+{END}")] | None = None
    """What the page before gave as next."""
    q: Text | None = None
    """Text in reasoning or type."""
    page_size: Annotated[int, Meta(ge=1, le=500)] = 50
    """Decisions per page."""


class WhichEvents(OfRun, frozen=True, kw_only=True):
    """Which events are wanted."""

    kinds: Annotated[str, Meta(max_length=500)] = ""
    """Kinds, joined by commas; all when empty."""
    from_tick: Tick = 0
    """The first tick."""
    to_tick: Tick | None = None
    """The last tick."""
    limit: Annotated[int, Meta(ge=1, le=5000)] = 1000
    """Events, at most."""


def picture(drawn: Drawn, lasting: bool) -> Response:
    """Answer with a picture; one that can't change may be kept by the browser for a while."""
    age = "private, max-age=3600" if lasting else "no-store"
    shown = {} if drawn.tick is None else {"X-Tick": str(drawn.tick)}
    return Response(drawn.data, media_type=drawn.media_type, headers={"Cache-Control": age, **shown})


def tick(services: Services, asked: WhichTick) -> TickAnswer:
    """Show everything about one tick: state, action, decision and events."""
    return read_tick(services.find(asked.run)[0], asked.tick)


def frame(services: Services, asked: WhichFrame) -> Response:
    """Return the picture after any tick, or after the newest: a kept one, a live run's, or drawn from the tape."""
    directory, metadata = services.find(asked.run)
    if asked.tick is None:
        with Database(directory.database) as database:
            return picture(services.album.at_tick(directory, metadata, newest_tick(database)), lasting=False)
    drawn = services.album.at_tick(directory, metadata, asked.tick, asked.near)
    return picture(drawn, lasting=metadata.status != "running")


def actions(services: Services, asked: WhichActions) -> ActionList:
    """Return a page of the action log: commands that were applied, and what happened."""
    query = ActionQuery(
        asked.kind, asked.action, asked.q, asked.from_tick, asked.to_tick, asked.order == "desc", asked.page,
        asked.page_size,
    )  # fmt: skip
    return services.actions.page(*services.find(asked.run), query)


def decisions(services: Services, asked: WhichDecisions) -> DecisionList:
    """Return decisions with their reasoning, newest first."""
    return list_decisions(services.find(asked.run)[0], asked.before, asked.q, asked.page_size)


def events(services: Services, asked: WhichEvents) -> EventList:
    """Return what happened in a run, with errors and rewinds."""
    wanted = [kind for kind in asked.kinds.split(",") if kind]
    return list_events(services.find(asked.run)[0], wanted, asked.from_tick, asked.to_tick, asked.limit)


ENDPOINTS = (
    Endpoint("GET", f"{API}/tick/{{tick}}", tick, TickAnswer, WhichTick),
    Endpoint("GET", f"{API}/frame", frame, PICTURE, WhichFrame),
    Endpoint("GET", f"{API}/actions", actions, ActionList, WhichActions),
    Endpoint("GET", f"{API}/decisions", decisions, DecisionList, WhichDecisions),
    Endpoint("GET", f"{API}/events", events, EventList, WhichEvents),
)
