"""Pictures that were kept: timeline, metadata, image, thumbnail and difference."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from ptp.runs import answers
from ptp.web.parts import Page, RunName, ShotName, parts_of
from ptp.web.routes.ticks import picture
from ptp.web.schema import answered_by, answered_with, reply

router = APIRouter(prefix="/api/v1/screenshots", tags=["screenshots"])
FILES = ("image/png", "image/jpeg", "image/webp", "text/plain")
Compared = Annotated[
    str, Query(max_length=64, pattern=r"^[0-9a-zA-Z_-]+$", description="A picture: its id, `latest` or `tick-N`.")
]


@router.get("", responses=answered_by(answers.ScreenshotList))
def timeline(
    request: Request,
    run: RunName = None,
    page: Page = 1,
    page_size: Annotated[int, Query(ge=1, le=500, description="Pictures per page.")] = 20,
) -> Response:
    """Return a page of the pictures that were kept, oldest first."""
    parts = parts_of(request)
    return reply(parts.album.list(parts.find(run)[0], page, page_size))


@router.get("/diff", responses=answered_by(answers.ScreenshotDiff))
def diff(request: Request, a: Compared, b: Compared, run: RunName = None) -> Response:
    """Tell how two pictures differ."""
    parts = parts_of(request)
    return reply(parts.album.diff(*parts.find(run), a, b))


@router.get("/diff/image", responses=answered_with("The difference.", "image/png"))
def diff_image(request: Request, a: Compared, b: Compared, run: RunName = None) -> Response:
    """Draw how two pictures differ: what changed is red."""
    parts = parts_of(request)
    return picture(parts.album.diff_image(*parts.find(run), a, b), lasting=False)


@router.get("/{screenshot_id}", responses=answered_by(answers.Screenshot))
def metadata(request: Request, screenshot_id: ShotName, run: RunName = None) -> Response:
    """Tell what is known of a picture, with what was found in it."""
    parts = parts_of(request)
    return reply(parts.album.describe(*parts.find(run), screenshot_id))


@router.get("/{screenshot_id}/image", responses=answered_with("The picture.", *FILES))
def image(request: Request, screenshot_id: ShotName, run: RunName = None) -> Response:
    """Return a picture."""
    parts = parts_of(request)
    return picture(parts.album.image(*parts.find(run), screenshot_id), lasting=False)


@router.get("/{screenshot_id}/thumbnail", responses=answered_with("The small picture.", *FILES))
def thumbnail(request: Request, screenshot_id: ShotName, run: RunName = None) -> Response:
    """Return a small form of a picture."""
    parts = parts_of(request)
    return picture(parts.album.thumbnail(*parts.find(run), screenshot_id), lasting=False)
