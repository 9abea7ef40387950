"""Pictures that were kept: timeline, metadata, image, thumbnail and difference."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta
from starlette.responses import Response

from ptp.http.endpoints import Endpoint, Media
from ptp.runs.shots import Screenshot, ScreenshotDiff, ScreenshotList
from ptp.web.parameters import API, Page, PageSize, Run, ShotName
from ptp.web.routes.ticks import PICTURE, picture
from ptp.web.services import Services

Compared = Annotated[ShotName, Meta(description="A picture: its id, `latest` or `tick-N`.")]
Shown = Annotated[ShotName, Meta(description="A picture: its id, `latest`, or `tick-N` for any tick.")]


def timeline(services: Services, run: Run = None, page: Page = 1, page_size: PageSize = 20) -> ScreenshotList:
    """Return a page of the pictures that were kept, oldest first."""
    return services.album.list(services.find(run)[0], page, page_size)


def diff(services: Services, a: Compared, b: Compared, run: Run = None) -> ScreenshotDiff:
    """Say how two pictures differ."""
    return services.album.diff(*services.find(run), a, b)


def diff_image(services: Services, a: Compared, b: Compared, run: Run = None) -> Response:
    """Draw two pictures side by side: what changed is framed, and the rest faded."""
    return picture(services.album.diff_image(*services.find(run), a, b), lasting=False)


def metadata(services: Services, screenshot_id: Shown, run: Run = None) -> Screenshot:
    """Describe a picture, with what was found in it."""
    return services.album.describe(*services.find(run), screenshot_id)


def image(services: Services, screenshot_id: Shown, run: Run = None) -> Response:
    """Return a picture."""
    return picture(services.album.image(*services.find(run), screenshot_id), lasting=False)


def thumbnail(services: Services, screenshot_id: Shown, run: Run = None) -> Response:
    """Return a small form of a picture."""
    return picture(services.album.thumbnail(*services.find(run), screenshot_id), lasting=False)


SHOTS = f"{API}/screenshots"
ENDPOINTS = (
    Endpoint("GET", SHOTS, timeline),
    Endpoint("GET", f"{SHOTS}/diff", diff),
    Endpoint("GET", f"{SHOTS}/diff/image", diff_image, Media("The difference.", ("image/png",))),
    Endpoint("GET", f"{SHOTS}/{{screenshot_id}}", metadata),
    Endpoint("GET", f"{SHOTS}/{{screenshot_id}}/image", image, PICTURE),
    Endpoint("GET", f"{SHOTS}/{{screenshot_id}}/thumbnail", thumbnail, PICTURE),
)
