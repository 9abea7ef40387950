"""Streams: what a live run tells as server-sent events, and tables as files."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response, StreamingResponse

from ptp.errors import UsageError
from ptp.runs.answers.streams import Frame, LiveActions, LiveEnd, LiveState
from ptp.runs.exports import MEDIA, Format, What, export
from ptp.runs.run import Run
from ptp.web.live import not_live
from ptp.web.parts import RunName, parts_of
from ptp.web.schema import Events, answered_with, streamed

router = APIRouter(prefix="/api/v1", tags=["streams"])
MOST_STREAMS = 500
ABOUT = """Server-sent events, about thirty times a second: `state` (tick, pace, the world's state), `frame`
(the picture: PNG as base64, or text), `actions` (commands, events, decisions since), and `end`."""
EVENTS: Events = {"state": LiveState, "frame": Frame, "actions": LiveActions, "end": LiveEnd}
ONLY_ACTIONS: Events = {"actions": LiveActions, "end": LiveEnd}
Seconds = Annotated[
    float | None, Query(gt=0, le=86_400, description="Seconds to listen for. Without it: until the run ends.")
]


@router.get("/live", responses=streamed(ABOUT, EVENTS))
async def live(request: Request, run: RunName = None, seconds: Seconds = None) -> Response:
    """Listen to a live run; the stream of a run that nobody plays ends at once."""
    parts = parts_of(request)
    directory, metadata = await run_in_threadpool(parts.find, run)
    if parts.hub.listeners >= MOST_STREAMS:
        raise UsageError(f"{MOST_STREAMS} streams are open already; close one first")

    async def nothing() -> AsyncIterator[bytes]:
        yield not_live()

    stream = parts.hub.listen(directory, seconds) if metadata.status == "running" else nothing()
    return StreamingResponse(stream, media_type="text/event-stream", headers={"X-Accel-Buffering": "no"})


@router.get("/actions/stream", responses=streamed("Server-sent events `actions`, and `end`.", ONLY_ACTIONS))
async def actions(request: Request, run: RunName = None, seconds: Seconds = None) -> Response:
    """Listen to the actions of a live run only."""
    parts = parts_of(request)
    directory, metadata = await run_in_threadpool(parts.find, run)

    async def only_actions() -> AsyncIterator[bytes]:
        if metadata.status == "running":
            async for message in parts.hub.listen(directory, seconds):
                kept = [
                    part for part in message.split(b"\n\n") if part.startswith((b"event: actions", b"event: end", b":"))
                ]
                if kept:
                    yield b"\n\n".join(kept) + b"\n\n"
        else:
            yield not_live()

    return StreamingResponse(only_actions(), media_type="text/event-stream", headers={"X-Accel-Buffering": "no"})


@router.get("/export", responses=answered_with("The file.", *{kind.partition(";")[0] for kind in MEDIA.values()}))
def export_run(
    request: Request,
    run: RunName = None,
    what: Annotated[What, Query(description="Which table, or the status.")] = "steps",
    format: Annotated[Format, Query(description="The form of the file.")] = "json",
) -> Response:
    """Return a table of a run as a file."""
    directory, _ = parts_of(request).find(run)
    pieces = export([Run(directory)], what, format)
    first = next(pieces, b"")  # what goes wrong at the start is answered as an error

    def whole() -> Iterator[bytes]:
        yield first
        yield from pieces

    name = f"{directory.run_id[:13]}-{what}.{format}"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return StreamingResponse(whole(), media_type=MEDIA[format], headers=headers)
