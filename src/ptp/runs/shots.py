"""The pictures of runs: those that were kept, those in a live run's memory, and any other drawn from the tape."""

from __future__ import annotations

import base64
from itertools import product
from pathlib import Path
from typing import Annotated, Any

import msgspec
import numpy as np
from msgspec import Meta, Struct
from PIL import Image, ImageDraw

from ptp.errors import PtpError, RunUnreadable, UnknownName
from ptp.frames.kept import read_kept
from ptp.frames.pictures import FORMATS, Picture, Pixels, Resolution, decode, encode, resolution
from ptp.recording import RunDirectory
from ptp.recording.database import Database
from ptp.records import DecisionMade, FrameKept, Metadata
from ptp.runner import protocol
from ptp.runner.control import ask
from ptp.runs.drawing import MEDIA, Draw, Drawn
from ptp.runs.tables import read, read_named, stamp
from ptp.runs.ticks import check_tick, newest_tick, state_at

PROMPT = 1.0  # seconds in which a live run finds a picture in its memory
NEAR = 16  # ticks that a picture may be older than requested
THUMBNAIL = (96, 96)
BLOCK = 8  # pixels; a tile of the Game Boy
MOST_REGIONS = 40
GAP = 8  # pixels between two pictures that are compared
FRAME_COLOR = (217, 119, 6)
Box = Annotated[tuple[float, ...], Meta(min_length=4, max_length=4)]
PixelBox = Annotated[tuple[int, ...], Meta(min_length=4, max_length=4)]


class Found(Struct):
    """Something that was found in a picture."""

    bbox: Box
    """Left, top, right, bottom."""
    confidence: float


class DetectedText(Found):
    """Text that was found in a picture."""

    text: str


class DetectedSprite(Found):
    """A sprite that was found in a picture."""

    type: str
    name: str


class MenuRegion(Found):
    """A menu that was found in a picture."""

    type: str


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
    regions: list[PixelBox]
    """The same for each of the parts that lie apart; one for all where there are very many."""
    image_url: str
    """Where the difference is drawn."""


class Album:
    """The pictures of runs, by id, `latest`, or tick."""

    def __init__(self, draw: Draw) -> None:
        self._draw = draw

    def list(self, directory: RunDirectory, page: int, page_size: int) -> ScreenshotList:
        """Return a page of the timeline, oldest first."""
        with Database(directory.database) as database:
            total = database.row("SELECT count(*) FROM screenshots")[0]
            rest = "ORDER BY tick LIMIT ? OFFSET ?"
            found = list(read_named(database, FrameKept, rest, page_size, (page - 1) * page_size))
        address = "/api/v1/screenshots/{}/thumbnail?run=" + directory.run_id
        lines = [ScreenshotLine(name, stamp(kept.at), kept.screen_type, address.format(name)) for name, kept in found]
        return ScreenshotList(lines, total, page, page_size)

    def describe(self, directory: RunDirectory, metadata: Metadata, name: str) -> Screenshot:
        """Return what is known of a picture: a kept one, the `latest`, or `tick-N`."""
        tick = self._drawn_tick(directory, name)
        if tick is not None:
            return self._describe_drawn(directory, metadata, tick)
        name, kept = self._kept(directory, name)
        facts: dict[str, Any] = kept.metadata or {}
        size = facts.get("resolution") or resolution(as_picture(self.image(directory, metadata, name)))
        try:
            annotations = msgspec.convert(kept.annotations or {}, Annotations)
        except msgspec.ValidationError as problem:
            raise RunUnreadable(f"the annotations of the picture can't be read: {problem}") from None
        compression = facts.get("compression") or FORMATS.get(Path((kept.path or "").partition("#")[0]).suffix, "png")
        return Screenshot(
            name, stamp(kept.at), kept.tick, kept.screen_type, msgspec.convert(size, Resolution, from_attributes=True),
            kept.size or 0, compression, facts.get("quality"), annotations,
        )  # fmt: skip

    def image(self, directory: RunDirectory, metadata: Metadata, name: str) -> Drawn:
        """Return a picture as a file."""
        tick = self._drawn_tick(directory, name)
        if tick is None:
            _, kept = self._kept(directory, name)
            if kept.path is not None:
                return _read(directory, kept.path)
            tick = kept.tick  # it was removed to make room; the tape has the picture still
        return self._draw(directory.path, metadata.rewinds, tick)

    def at_tick(self, directory: RunDirectory, metadata: Metadata, tick: int, near: bool = False) -> Drawn:
        """Return the picture of a tick: the kept one, or from the memory of a live run, or drawn from the tape.

        With *near*, a live run may give that of a tick shortly before.
        """
        with Database(directory.database) as database:
            check_tick(database, tick)
            found = list(read(database, FrameKept, "WHERE tick = ? AND file_path IS NOT NULL LIMIT 1", tick))
        for kept in found:
            try:
                return _read(directory, kept.path)
            except RunUnreadable:
                break  # the file was removed to make room; the tape has the picture still
        held = _held(directory, tick) if metadata.status == "running" else None
        if held is not None and held.tick is not None and 0 <= tick - held.tick <= (NEAR if near else 0):
            return held
        return self._draw(directory.path, metadata.rewinds, tick)

    def thumbnail(self, directory: RunDirectory, metadata: Metadata, name: str) -> Drawn:
        """Return a small form of a picture."""
        drawn = self.image(directory, metadata, name)
        if drawn.media_type.startswith("text"):
            return drawn
        image = Image.fromarray(as_pixels(drawn))
        image.thumbnail(THUMBNAIL)
        return Drawn(MEDIA["png"], encode(np.asarray(image), "png", 0))

    def diff(self, directory: RunDirectory, metadata: Metadata, a: str, b: str) -> ScreenshotDiff:
        """Tell how two pictures differ."""
        _, _, changed = self._compare(directory, metadata, a, b)
        url = f"/api/v1/screenshots/diff/image?a={a}&b={b}&run={directory.run_id}"
        if changed is None:
            return ScreenshotDiff(a, b, False, False, None, None, None, [], url)
        count = int(changed.sum())
        bounds = Image.fromarray(changed.view(np.uint8)).getbbox()
        share = round(count / changed.size, 6)
        return ScreenshotDiff(a, b, True, not count, count, share, bounds, [*_regions(changed)], url)

    def diff_image(self, directory: RunDirectory, metadata: Metadata, a: str, b: str) -> Drawn:
        """Draw two pictures side by side: what changed is framed, and the rest faded."""
        one, other, changed = self._compare(directory, metadata, a, b)
        sheet = Image.new("RGB", (one.shape[1] + GAP + other.shape[1], max(one.shape[0], other.shape[0])), "white")
        regions = [] if changed is None else _regions(changed)
        for picture, left in ((one, 0), (other, one.shape[1] + GAP)):
            sheet.paste(Image.fromarray(picture), (left, 0))
            if changed is not None:
                sheet.paste(Image.fromarray((picture // 3 + 160).astype(np.uint8)), (left, 0))
            for box in regions:
                sheet.paste(Image.fromarray(picture).crop(box), (left + box[0], box[1]))
                ImageDraw.Draw(sheet).rectangle(
                    (left + box[0] - 1, box[1] - 1, left + box[2], box[3]), outline=FRAME_COLOR, width=2
                )
        return Drawn(MEDIA["png"], encode(np.asarray(sheet), "png", 0))

    def _compare(
        self, directory: RunDirectory, metadata: Metadata, a: str, b: str
    ) -> tuple[Pixels, Pixels, Pixels | None]:
        """Return two pictures and which of their pixels differ; None where the sizes differ."""
        one, other = (as_pixels(self.image(directory, metadata, name)) for name in (a, b))
        return one, other, (one != other).any(axis=2) if one.shape == other.shape else None

    def _drawn_tick(self, directory: RunDirectory, name: str) -> int | None:
        """Return the tick of a picture that is drawn from the tape; None for one that was kept."""
        with Database(directory.database) as database:
            if name == "latest" and not database.row("SELECT count(*) FROM screenshots")[0]:
                return newest_tick(database)
            if not (name.startswith("tick-") and name[5:].isdecimal() and len(name) < 20):
                return None
            check_tick(database, int(name[5:]))
        return int(name[5:])

    def _describe_drawn(self, directory: RunDirectory, metadata: Metadata, tick: int) -> Screenshot:
        drawn = self._draw(directory.path, metadata.rewinds, tick)
        with Database(directory.database) as database:
            screen = state_at(database, tick).get("screen_type")
            made = read(database, DecisionMade, "WHERE tick < ? ORDER BY tick DESC LIMIT 1", max(1, tick))
            at = next((stamp(decision.at) for decision in made), None)
        compression = "text" if drawn.media_type.startswith("text") else "png"
        return Screenshot(
            f"tick-{tick}", at, tick, screen, resolution(as_picture(drawn)),
            len(drawn.data), compression, None, Annotations(),
        )  # fmt: skip

    def _kept(self, directory: RunDirectory, name: str) -> tuple[str, FrameKept]:
        rest, values = ("ORDER BY tick DESC LIMIT 1", ()) if name == "latest" else ("WHERE screenshot_id = ?", (name,))
        with Database(directory.database) as database:
            for found in read_named(database, FrameKept, rest, *values):
                return found
        raise UnknownName("screenshot", name[:80], [], "see /api/v1/screenshots, or name a tick as `tick-500`")


def _regions(changed: Pixels) -> list[tuple[int, int, int, int]]:
    """Return the boxes of the parts that differ; what touches, or nearly so, is one part."""
    height, width = changed.shape
    padded = np.pad(changed, ((0, -height % BLOCK), (0, -width % BLOCK)))
    blocks = padded.reshape(padded.shape[0] // BLOCK, BLOCK, padded.shape[1] // BLOCK, BLOCK).any(axis=(1, 3))
    left = {(row, column) for row, column in np.argwhere(blocks).tolist()}
    parts = []
    while left:
        part = [left.pop()]
        for row, column in part:  # which grows meanwhile
            near = left & set(product(range(row - 1, row + 2), range(column - 1, column + 2)))
            left -= near
            part += near
        parts.append(part)
    if len(parts) > MOST_REGIONS:
        parts = [[block for part in parts for block in part]]
    found = []
    for part in parts:
        rows, columns = zip(*part, strict=True)
        right, bottom = min(width, (max(columns) + 1) * BLOCK), min(height, (max(rows) + 1) * BLOCK)
        found.append((min(columns) * BLOCK, min(rows) * BLOCK, right, bottom))
    return sorted(found)


def _read(directory: RunDirectory, name: str) -> Drawn:
    kept = read_kept(directory.path, name)
    return Drawn(MEDIA[kept.format], kept.data)


def _held(directory: RunDirectory, tick: int) -> Drawn | None:
    """Return the picture of a tick, or of one before it, that a live run has in memory."""
    try:
        frame = ask(directory, protocol.Picture(tick), PROMPT).frame
    except PtpError:
        return None  # it has none, is held by a debugger, or has ended just now; the tape has every picture
    assert frame is not None
    data = frame.data.encode() if frame.format == "text" else base64.b64decode(frame.data)
    return Drawn(MEDIA[frame.format], data, frame.tick)


def as_picture(drawn: Drawn) -> Picture:
    """Return a picture as red, green and blue, or as text."""
    return decode(drawn.data, "text" if drawn.media_type.startswith("text") else "png")


def as_pixels(drawn: Drawn) -> Pixels:
    """Return a picture as red, green and blue; text has no pixels."""
    picture = as_picture(drawn)
    if isinstance(picture, str):
        raise UnknownName("picture", "text", [], "this world draws text, which has no pixels")
    return picture
