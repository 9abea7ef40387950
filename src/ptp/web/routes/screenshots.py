"""Pictures that were kept: timeline, metadata, image, thumbnail and difference."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta
from starlette.responses import Response

from ptp.runs.answers import Screenshot, ScreenshotDiff, ScreenshotList
from ptp.web.endpoints import API, Endpoint, Media
from ptp.web.requests import OfRun, Paged, ShotName
from ptp.web.routes.ticks import PICTURE, picture
from ptp.web.services import Services


class WhichPage(Paged, frozen=True, kw_only=True):
    """Which pictures are listed."""

    page_size: Annotated[int, Meta(ge=1, le=500)] = 20
    """Pictures per page."""


class WhichPair(OfRun, frozen=True, kw_only=True):
    """Which pictures are compared."""

    a: ShotName
    """A picture: its id, `latest` or `tick-N`."""
    b: ShotName
    """The other picture."""


class WhichShot(OfRun, frozen=True, kw_only=True):
    """Which picture is meant."""

    screenshot_id: ShotName
    """A picture: its id, `latest`, or `tick-N` for any tick."""


def timeline(services: Services, asked: WhichPage) -> ScreenshotList:
    """Return a page of the pictures that were kept, oldest first."""
    return services.album.list(services.find(asked.run)[0], asked.page, asked.page_size)


def diff(services: Services, asked: WhichPair) -> ScreenshotDiff:
    """Say how two pictures differ."""
    return services.album.diff(*services.find(asked.run), asked.a, asked.b)


def diff_image(services: Services, asked: WhichPair) -> Response:
    """Draw how two pictures differ: what changed is red."""
    return picture(services.album.diff_image(*services.find(asked.run), asked.a, asked.b), lasting=False)


def metadata(services: Services, asked: WhichShot) -> Screenshot:
    """Describe a picture, with what was found in it."""
    return services.album.describe(*services.find(asked.run), asked.screenshot_id)


def image(services: Services, asked: WhichShot) -> Response:
    """Return a picture."""
    return picture(services.album.image(*services.find(asked.run), asked.screenshot_id), lasting=False)


def thumbnail(services: Services, asked: WhichShot) -> Response:
    """Return a small form of a picture."""
    return picture(services.album.thumbnail(*services.find(asked.run), asked.screenshot_id), lasting=False)


SHOTS = f"{API}/screenshots"
ENDPOINTS = (
    Endpoint("GET", SHOTS, timeline, ScreenshotList, WhichPage),
    Endpoint("GET", f"{SHOTS}/diff", diff, ScreenshotDiff, WhichPair),
    Endpoint("GET", f"{SHOTS}/diff/image", diff_image, Media("The difference.", ("image/png",)), WhichPair),
    Endpoint("GET", f"{SHOTS}/{{screenshot_id}}", metadata, Screenshot, WhichShot),
    Endpoint("GET", f"{SHOTS}/{{screenshot_id}}/image", image, PICTURE, WhichShot),
    Endpoint("GET", f"{SHOTS}/{{screenshot_id}}/thumbnail", thumbnail, PICTURE, WhichShot),
)
