"""What the API answers about pictures that were kept."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

Box = Annotated[tuple[float, ...], Meta(min_length=4, max_length=4)]
PixelBox = Annotated[tuple[int, ...], Meta(min_length=4, max_length=4)]


class Resolution(Struct):
    """How large a picture is."""

    width: int
    """Pixels, or characters of a text."""
    height: int
    """Pixels, or lines of a text."""


class DetectedText(Struct):
    """Text that was found in a picture."""

    text: str
    bbox: Box
    """Left, top, right, bottom."""
    confidence: float


class DetectedSprite(Struct):
    """A sprite that was found in a picture."""

    type: str
    name: str
    bbox: Box
    """Left, top, right, bottom."""
    confidence: float


class MenuRegion(Struct):
    """A menu that was found in a picture."""

    type: str
    bbox: Box
    """Left, top, right, bottom."""
    confidence: float


class Annotations(Struct):
    """What was found in a picture."""

    detected_text: list[DetectedText] = []
    detected_sprites: list[DetectedSprite] = []
    menu_regions: list[MenuRegion] = []


class Screenshot(Struct):
    """What is known of a picture."""

    screenshot_id: str
    """Its id; `tick-N` is the picture of tick N, drawn from the tape."""
    timestamp: str | None
    """When it was taken, in UTC."""
    tick: int
    screen_type: str | None
    """The kind of situation, in the world's words."""
    resolution: Resolution
    file_size_bytes: int
    """How large its file is."""
    compression: str
    """jpeg, png, webp or text."""
    quality: int | None
    """Of a lossy compression."""
    annotations: Annotations
    """What was found in it."""


class ScreenshotLine(Struct):
    """A picture in the timeline."""

    id: str
    timestamp: str | None
    """When it was taken, in UTC."""
    screen_type: str | None
    """The kind of situation, in the world's words."""
    thumbnail_url: str
    """Where a small form of it is."""


class ScreenshotList(Struct):
    """A page of the timeline of pictures."""

    screenshots: list[ScreenshotLine]
    total_count: int
    page: int
    page_size: int


class ScreenshotDiff(Struct):
    """How two pictures differ."""

    a: str
    b: str
    comparable: bool
    """Whether both have the same size."""
    equal: bool
    """Whether every pixel is the same."""
    changed_pixels: int | None
    """Pixels that differ; null when the pictures can't be compared."""
    changed_share: float | None
    """Their share of all pixels, from 0 to 1."""
    bbox: PixelBox | None
    """Left, top, right, bottom of the part that differs."""
    image_url: str
    """Where the difference is drawn."""
