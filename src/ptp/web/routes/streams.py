"""Streams: what a live run sends as server-sent events, and tables as files."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from itertools import chain
from typing import Annotated

from msgspec import Meta
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response, StreamingResponse

from ptp.errors import UsageError
from ptp.http.endpoints import Endpoint, Events, Media
from ptp.runs.exports import MEDIA, Format, What, export
from ptp.web.live import EVENTS, not_live
from ptp.web.parameters import API, Run
from ptp.web.services import Services

MOST_STREAMS = 500
LIVE = Events(
    "Server-sent events, about thirty times a second: `state` (tick, pace, the world's state), `frame` (the picture: "
    "PNG as base64, or text), `records` (steps, decisions, events and notices since), and `end`.",
    {name: EVENTS[name] for name in ("state", "frame", "records", "end")},
)
ACTIONS = Events("Server-sent events `actions`, and `end`.", {name: EVENTS[name] for name in ("actions", "end")})
FILE = Media("The file.", tuple(kind.partition(";")[0] for kind in MEDIA.values()))
Seconds = Annotated[
    Annotated[float, Meta(gt=0, le=86_400)] | None,
    Meta(description="Seconds to listen for. Without it: until the run ends."),
]


async def live(services: Services, run: Run = None, seconds: Seconds = None) -> Response:
    """Listen to a live run; the stream of a run that is not live ends at once."""
    return await _stream(services, run, seconds, LIVE)


async def actions(services: Services, run: Run = None, seconds: Seconds = None) -> Response:
    """Listen to the actions of a live run only."""
    return await _stream(services, run, seconds, ACTIONS)


async def _stream(services: Services, run: str | None, seconds: float | None, events: Events) -> Response:
    directory, metadata = await run_in_threadpool(services.find, run)
    if services.hub.listeners >= MOST_STREAMS:
        raise UsageError(f"{MOST_STREAMS} streams are open already; close one first")
    stream: AsyncIterator[bytes] | Iterator[bytes] = iter([not_live()])
    if metadata.status == "running":
        stream = services.hub.listen(directory, metadata.facts, frozenset(events.data), seconds)
    return StreamingResponse(stream, media_type="text/event-stream", headers={"X-Accel-Buffering": "no"})


def export_run(
    services: Services,
    run: Run = None,
    what: Annotated[What, Meta(description="Which table, or the status.")] = "steps",
    format: Annotated[Format, Meta(description="The form of the file.")] = "json",
) -> Response:
    """Return a table of a run as a file."""
    opened = services.open(run)
    pieces = export([opened], what, format)
    first = next(pieces, b"")  # what goes wrong at the start is answered as an error
    name = f"{opened.id[:13]}-{what}.{format}"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return StreamingResponse(chain([first], pieces), media_type=MEDIA[format], headers=headers)


ENDPOINTS = (
    Endpoint("GET", f"{API}/live", live, LIVE),
    Endpoint("GET", f"{API}/actions/stream", actions, ACTIONS),
    Endpoint("GET", f"{API}/export", export_run, FILE),
)
