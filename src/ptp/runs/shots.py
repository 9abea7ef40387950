"""The pictures of runs: those that were kept, those in a live run's memory, and any other drawn from the tape."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from ptp.errors import PtpError, RunUnreadable, UnknownName
from ptp.frames.kept import read_kept
from ptp.frames.pictures import FORMATS, Picture, Pixels, decode, encode, resolution
from ptp.recording import RunDirectory
from ptp.recording.database import Database
from ptp.records import DecisionMade, FrameKept, Metadata
from ptp.runs.answers import Annotations, Resolution, Screenshot, ScreenshotDiff, ScreenshotLine, ScreenshotList
from ptp.runs.data import stamp
from ptp.runs.drawing import Drawn, Draws
from ptp.runs.remote import held_picture
from ptp.runs.states import check_tick, newest_tick, state_at
from ptp.runs.tables import read, read_named

MEDIA = {"jpeg": "image/jpeg", "png": "image/png", "webp": "image/webp", "text": "text/plain; charset=utf-8"}
PROMPT = 1.0  # seconds in which a live run finds a picture in its memory
NEAR = 16  # ticks that a picture may be older than was asked for
THUMBNAIL = (96, 96)


class Album:
    """The pictures of runs, by id, `latest`, or tick."""

    def __init__(self, painter: Draws) -> None:
        self._painter = painter

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
        compression = facts.get("compression") or FORMATS.get(Path((kept.path or "").partition("#")[0]).suffix, "png")
        return Screenshot(
            name, stamp(kept.at), kept.tick, kept.screen_type, msgspec.convert(size, Resolution, from_attributes=True),
            kept.size or 0, compression, facts.get("quality"), _annotations(kept.annotations),
        )  # fmt: skip

    def image(self, directory: RunDirectory, metadata: Metadata, name: str) -> Drawn:
        """Return a picture as a file."""
        tick = self._drawn_tick(directory, name)
        if tick is None:
            _, kept = self._kept(directory, name)
            if kept.path is not None:
                return read_file(directory, kept.path)
            tick = kept.tick  # it was removed to make room; the tape has the picture still
        return self._painter.draw(directory, metadata.rewinds, tick)

    def at_tick(self, directory: RunDirectory, metadata: Metadata, tick: int, near: bool = False) -> Drawn:
        """Return the picture of a tick: the kept one, or from the memory of a live run, or drawn from the tape.

        With *near*, a live run may give that of a tick shortly before.
        """
        with Database(directory.database) as database:
            check_tick(database, tick)
            found = list(read(database, FrameKept, "WHERE tick = ? AND file_path IS NOT NULL LIMIT 1", tick))
        for kept in found:
            try:
                return read_file(directory, kept.path)
            except RunUnreadable:
                break  # the file was removed to make room; the tape has the picture still
        held = _held(directory, tick) if metadata.status == "running" else None
        if held is not None and held.tick is not None and 0 <= tick - held.tick <= (NEAR if near else 0):
            return held
        return self._painter.draw(directory, metadata.rewinds, tick)

    def thumbnail(self, directory: RunDirectory, metadata: Metadata, name: str) -> Drawn:
        """Return a small form of a picture."""
        from PIL import Image

        drawn = self.image(directory, metadata, name)
        if drawn.media_type.startswith("text"):
            return drawn
        image = Image.fromarray(as_pixels(drawn))
        image.thumbnail(THUMBNAIL)
        file = io.BytesIO()
        image.save(file, "PNG", compress_level=6)
        return Drawn(MEDIA["png"], file.getvalue())

    def diff(self, directory: RunDirectory, metadata: Metadata, a: str, b: str) -> ScreenshotDiff:
        """Tell how two pictures differ."""
        one, other = (as_pixels(self.image(directory, metadata, name)) for name in (a, b))
        url = f"/api/v1/screenshots/diff/image?a={a}&b={b}&run={directory.run_id}"
        if one.shape != other.shape:
            return ScreenshotDiff(a, b, False, False, None, None, None, url)
        changed = (one != other).any(axis=2)
        count = int(changed.sum())
        return ScreenshotDiff(a, b, True, not count, count, round(count / changed.size, 6), _bounds(changed), url)

    def diff_image(self, directory: RunDirectory, metadata: Metadata, a: str, b: str) -> Drawn:
        """Draw how two pictures differ: the second one dimmed, with what changed in red."""
        one, other = (as_pixels(self.image(directory, metadata, name)) for name in (a, b))
        picture = (other // 3 + 150).astype(np.uint8)
        if one.shape == other.shape:
            changed = (one != other).any(axis=2)
            picture[changed] = other[changed] // 3 + np.array([170, 0, 30], np.uint8)
        return Drawn(MEDIA["png"], encode(picture, "png", 0))

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
        drawn = self._painter.draw(directory, metadata.rewinds, tick)
        with Database(directory.database) as database:
            screen = state_at(database, tick).get("screen_type")
            made = read(database, DecisionMade, "WHERE tick < ? ORDER BY tick DESC LIMIT 1", max(1, tick))
            at = next((stamp(decision.at) for decision in made), None)
        size = resolution(as_picture(drawn))
        compression = "text" if drawn.media_type.startswith("text") else "png"
        return Screenshot(
            f"tick-{tick}", at, tick, screen, Resolution(size.width, size.height),
            len(drawn.data), compression, None, Annotations(),
        )  # fmt: skip

    def _kept(self, directory: RunDirectory, name: str) -> tuple[str, FrameKept]:
        rest, values = ("ORDER BY tick DESC LIMIT 1", ()) if name == "latest" else ("WHERE screenshot_id = ?", (name,))
        with Database(directory.database) as database:
            for found in read_named(database, FrameKept, rest, *values):
                return found
        raise UnknownName("screenshot", name[:80], [], "see /api/v1/screenshots, or name a tick as `tick-500`")


def read_file(directory: RunDirectory, name: str) -> Drawn:
    """Return a kept picture."""
    kept = read_kept(directory.path, name)
    return Drawn(MEDIA[kept.format], kept.data)


def _held(directory: RunDirectory, tick: int) -> Drawn | None:
    """Return the picture of a tick, or of one before it, that a live run has in memory."""
    try:
        held, form, data = held_picture(directory, tick, PROMPT)
    except PtpError:
        return None  # it has none, is held by a debugger, or has ended just now; the tape has every picture
    return Drawn(MEDIA[form], data, held)


def as_picture(drawn: Drawn) -> Picture:
    """Return a picture as red, green and blue, or as text."""
    return decode(drawn.data, "text" if drawn.media_type.startswith("text") else "png")


def as_pixels(drawn: Drawn) -> Pixels:
    """Return a picture as red, green and blue; text has no pixels."""
    picture = as_picture(drawn)
    if isinstance(picture, str):
        raise UnknownName("picture", "text", [], "this world draws text, which has no pixels")
    return picture


def _bounds(changed: Any) -> tuple[int, int, int, int] | None:
    rows, columns = np.nonzero(changed.any(axis=1))[0], np.nonzero(changed.any(axis=0))[0]
    if not len(rows):
        return None
    return int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1


def _annotations(value: Any) -> Annotations:
    try:
        return msgspec.convert(value or {}, Annotations)
    except msgspec.ValidationError as problem:
        raise RunUnreadable(f"the annotations of the picture can't be read: {problem}") from None
