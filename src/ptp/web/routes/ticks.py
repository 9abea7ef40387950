"""Ticks: one of them, the action log, decisions, events, and the picture of any tick."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta
from starlette.responses import Response

from ptp.http.endpoints import END, Endpoint, Media
from ptp.recording.database import Database
from ptp.runs.actions import ActionList, ActionQuery, Kind
from ptp.runs.drawing import Drawn
from ptp.runs.ticks import DecisionList, EventList, list_decisions, list_events, newest_tick, read_tick
from ptp.runs.ticks import Tick as TickAnswer
from ptp.runs.transcript import Transcript, read_picture, read_transcript
from ptp.web.parameters import API, FromTick, Page, PageSize, Run, Text, Tick, ToTick
from ptp.web.services import Services

DecisionId = Annotated[str, Meta(max_length=64, pattern=rf"^[0-9a-f-]+{END}")]
PictureHash = Annotated[str, Meta(max_length=64, pattern=rf"^[0-9a-f]{{64}}{END}", description="Its hash.")]
PICTURE = Media("The picture.", ("image/png", "image/jpeg", "image/webp", "text/plain"))


def picture(drawn: Drawn, lasting: bool) -> Response:
    """Answer with a picture; one that can't change may be kept by the browser for a while."""
    age = "private, max-age=3600" if lasting else "no-store"
    shown = {} if drawn.tick is None else {"X-Tick": str(drawn.tick)}
    return Response(drawn.data, media_type=drawn.media_type, headers={"Cache-Control": age, **shown})


def tick(
    services: Services,
    tick: Annotated[Tick, Meta(description="The tick; 0 is before the first command.")],
    run: Run = None,
) -> TickAnswer:
    """Show everything about one tick: state, action, decision and events."""
    return read_tick(services.find(run)[0], tick)


def frame(
    services: Services,
    run: Run = None,
    tick: Annotated[Tick | None, Meta(description="A tick. Without it: the newest.")] = None,
    near: Annotated[
        bool, Meta(description="Be quick: a live run may give a picture up to 16 ticks older; X-Tick says which.")
    ] = False,
) -> Response:
    """Return the picture after any tick, or after the newest: a kept one, a live run's, or drawn from the tape."""
    directory, metadata = services.find(run)
    if tick is None:
        with Database(directory.database) as database:
            return picture(services.album.at_tick(directory, metadata, newest_tick(database)), lasting=False)
    return picture(services.album.at_tick(directory, metadata, tick, near), lasting=metadata.status != "running")


def actions(
    services: Services,
    run: Run = None,
    kind: Annotated[Kind, Meta(description="Commands, events, or both.")] = "all",
    action: Annotated[Text | None, Meta(description="Only this command or kind of event.")] = None,
    q: Annotated[Text | None, Meta(description="Text in reasons, commands or events.")] = None,
    from_tick: FromTick = None,
    to_tick: ToTick = None,
    order: Annotated[Literal["asc", "desc"], Meta(description="Oldest or newest first.")] = "asc",
    page: Page = 1,
    page_size: Annotated[int, Meta(ge=1, le=1000, description="Lines per page.")] = 100,
) -> ActionList:
    """Return a page of the action log: commands that were applied, and what happened."""
    query = ActionQuery(kind, action, q, from_tick, to_tick, order == "desc", page, page_size)
    return services.actions.page(*services.find(run), query)


def decisions(
    services: Services,
    run: Run = None,
    before: Annotated[DecisionId | None, Meta(description="What the page before gave as next.")] = None,
    q: Annotated[Text | None, Meta(description="Text in reasoning or type.")] = None,
    page_size: PageSize = 50,
) -> DecisionList:
    """Return decisions with their reasoning, newest first."""
    return list_decisions(services.find(run)[0], before, q, page_size)


def events(
    services: Services,
    run: Run = None,
    kinds: Annotated[str, Meta(max_length=500, description="Kinds, joined by commas; all when empty.")] = "",
    from_tick: FromTick = None,
    to_tick: ToTick = None,
    limit: Annotated[int, Meta(ge=1, le=5000, description="Events, at most.")] = 1000,
) -> EventList:
    """Return what happened in a run, with errors and rewinds."""
    wanted = [kind for kind in kinds.split(",") if kind]
    return list_events(services.find(run)[0], wanted, from_tick or 0, to_tick, limit)


def transcript(
    services: Services,
    run: Run = None,
    from_tick: FromTick = None,
    to_tick: ToTick = None,
    limit: Annotated[int, Meta(ge=1, le=1000, description="Calls; those of the last tick are all given.")] = 100,
) -> Transcript:
    """Return what an agent and its model said to each other, oldest first."""
    return read_transcript(services.find(run)[0], from_tick or 0, to_tick, limit)


def transcript_picture(services: Services, picture: PictureHash, run: Run = None) -> Response:
    """Return a picture that a model was shown."""
    data = read_picture(services.find(run)[0], picture)
    return Response(data, media_type="image/png", headers={"Cache-Control": "private, max-age=3600"})


ENDPOINTS = (
    Endpoint("GET", f"{API}/tick/{{tick}}", tick),
    Endpoint("GET", f"{API}/frame", frame, PICTURE),
    Endpoint("GET", f"{API}/actions", actions),
    Endpoint("GET", f"{API}/decisions", decisions),
    Endpoint("GET", f"{API}/events", events),
    Endpoint("GET", f"{API}/transcript", transcript),
    Endpoint("GET", f"{API}/transcript/picture/{{picture}}", transcript_picture, Media("The picture.", ("image/png",))),
)
