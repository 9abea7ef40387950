"""The pictures that were kept of a run, and how two of them differ."""

from __future__ import annotations

import base64
import io
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from ptp.errors import PtpError, RunUnreadable, UnknownName
from ptp.frames.kept import read_kept
from ptp.frames.pictures import FORMATS, Pixels, decode
from ptp.recording import RunDirectory
from ptp.recording.database import Database
from ptp.records import Metadata
from ptp.runner.control import ask
from ptp.runs.answers import Annotations, Resolution, Screenshot, ScreenshotDiff, ScreenshotLine, ScreenshotList
from ptp.runs.drawing import Drawn, Painter
from ptp.runs.status import last_state
from ptp.runs.ticks import NoTick, newest_tick

MEDIA = {"jpeg": "image/jpeg", "png": "image/png", "webp": "image/webp", "text": "text/plain; charset=utf-8"}
PROMPT = 1.0  # seconds in which a live run finds a picture in its memory
NEAR = 16  # ticks that a picture may be older than was asked for
THUMBNAIL = (96, 96)
_COLUMNS = "screenshot_id, timestamp, tick, screen_type, file_path, file_size_bytes, annotations, metadata"


class Album:
    """The pictures of runs: kept ones from their files, others drawn from the tape."""

    def __init__(self, painter: Painter) -> None:
        self._painter = painter

    def list(self, directory: RunDirectory, page: int, page_size: int) -> ScreenshotList:
        """Return a page of the timeline, oldest first."""
        with Database(directory.database) as database:
            total = database.row("SELECT count(*) FROM screenshots")[0]
            query = "SELECT screenshot_id, timestamp, screen_type FROM screenshots ORDER BY tick LIMIT ? OFFSET ?"
            rows = list(database.rows(query, page_size, (page - 1) * page_size))
        address = "/api/v1/screenshots/{}/thumbnail?run=" + directory.run_id
        lines = [ScreenshotLine(name, at, screen, address.format(name)) for name, at, screen in rows]
        return ScreenshotList(lines, total, page, page_size)

    def describe(self, directory: RunDirectory, metadata: Metadata, name: str) -> Screenshot:
        """Return what is known of a picture: a kept one, the `latest`, or `tick-N`."""
        tick = self._drawn_tick(directory, name)
        if tick is not None:
            return self._describe_drawn(directory, metadata, tick)
        row = self._row(directory, name)
        facts = msgspec.json.decode(row[7]) if row[7] else {}
        size = facts.get("resolution") or {}
        if not size:
            pixels = self.pixels(directory, metadata, name)
            size = {"width": pixels.shape[1], "height": pixels.shape[0]}
        compression = facts.get("compression") or FORMATS.get(Path((row[4] or "").partition("#")[0]).suffix, "png")
        return Screenshot(
            row[0], row[1], row[2], row[3], Resolution(int(size["width"]), int(size["height"])), row[5] or 0,
            compression, facts.get("quality"), _annotations(row[6]),
        )  # fmt: skip

    def image(self, directory: RunDirectory, metadata: Metadata, name: str) -> Drawn:
        """Return a picture as a file."""
        tick = self._drawn_tick(directory, name)
        if tick is not None:
            return self._painter.draw(directory, metadata.rewinds, tick)
        row = self._row(directory, name)
        if row[4] is None:  # removed to make room; the tape has the picture still
            return self._painter.draw(directory, metadata.rewinds, row[2])
        return read_file(directory, row[4])

    def at_tick(self, directory: RunDirectory, metadata: Metadata, tick: int, near: bool = False) -> Drawn:
        """Return the picture of a tick: the kept one, or from the memory of a live run, or drawn from the tape.

        With *near*, a live run may give that of a tick shortly before.
        """
        with Database(directory.database) as database:
            last = newest_tick(database)
            rows = list(
                database.rows(
                    "SELECT file_path FROM screenshots WHERE tick = ? AND file_path IS NOT NULL LIMIT 1", tick
                )
            )
        if not 0 <= tick <= last:
            raise NoTick(tick, last)
        for (path,) in rows:
            try:
                return read_file(directory, path)
            except RunUnreadable:
                break  # the file was removed to make room; the tape has the picture still
        held = _held(directory, tick) if metadata.status == "running" else None
        if held is not None and held.tick is not None and 0 <= tick - held.tick <= (NEAR if near else 0):
            return held
        return self._painter.draw(directory, metadata.rewinds, tick)

    def pixels(self, directory: RunDirectory, metadata: Metadata, name: str) -> Pixels:
        """Return a picture as red, green and blue."""
        drawn = self.image(directory, metadata, name)
        return as_pixels(drawn)

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
        return Drawn("image/png", file.getvalue())

    def diff(self, directory: RunDirectory, metadata: Metadata, a: str, b: str) -> ScreenshotDiff:
        """Tell how two pictures differ."""
        one, other = self.pixels(directory, metadata, a), self.pixels(directory, metadata, b)
        url = f"/api/v1/screenshots/diff/image?a={a}&b={b}&run={directory.run_id}"
        if one.shape != other.shape:
            return ScreenshotDiff(a, b, False, False, None, None, None, url)
        changed = (one != other).any(axis=2)
        count = int(changed.sum())
        return ScreenshotDiff(a, b, True, not count, count, round(count / changed.size, 6), _bounds(changed), url)

    def diff_image(self, directory: RunDirectory, metadata: Metadata, a: str, b: str) -> Drawn:
        """Draw how two pictures differ: the second one dimmed, with what changed in red."""
        from PIL import Image

        one, other = self.pixels(directory, metadata, a), self.pixels(directory, metadata, b)
        picture = (other // 3 + 150).astype(np.uint8)
        if one.shape == other.shape:
            changed = (one != other).any(axis=2)
            picture[changed] = other[changed] // 3 + np.array([170, 0, 30], np.uint8)
        file = io.BytesIO()
        Image.fromarray(picture).save(file, "PNG", compress_level=1)
        return Drawn("image/png", file.getvalue())

    def _drawn_tick(self, directory: RunDirectory, name: str) -> int | None:
        """Return the tick of a picture that is drawn from the tape; None for one that was kept."""
        with Database(directory.database) as database:
            last = newest_tick(database)
            if name == "latest" and not database.row("SELECT count(*) FROM screenshots")[0]:
                return last
        if name.startswith("tick-") and name[5:].isdecimal() and len(name) < 20:
            if int(name[5:]) > last:
                raise NoTick(int(name[5:]), last)
            return int(name[5:])
        return None

    def _describe_drawn(self, directory: RunDirectory, metadata: Metadata, tick: int) -> Screenshot:
        drawn = self._painter.draw(directory, metadata.rewinds, tick)
        with Database(directory.database) as database:
            screen = last_state(database, tick).get("screen_type")
            query = "SELECT timestamp FROM action_history WHERE tick < ? ORDER BY tick DESC LIMIT 1"
            at = next((row[0] for row in database.rows(query, max(1, tick))), None)
        if drawn.media_type.startswith("text"):
            lines = drawn.data.decode().splitlines()
            size, compression = Resolution(max(map(len, lines), default=0), len(lines)), "text"
        else:
            pixels = as_pixels(drawn)
            size, compression = Resolution(pixels.shape[1], pixels.shape[0]), "png"
        return Screenshot(
            f"tick-{tick}", at, tick, screen, size, len(drawn.data), compression, None, Annotations()
        )  # fmt: skip

    def _row(self, directory: RunDirectory, name: str) -> tuple[Any, ...]:
        order = "ORDER BY tick DESC LIMIT 1"
        with Database(directory.database) as database:
            if name == "latest":
                rows = database.rows(f"SELECT {_COLUMNS} FROM screenshots {order}")
            else:
                rows = database.rows(f"SELECT {_COLUMNS} FROM screenshots WHERE screenshot_id = ?", name)
            for row in rows:
                return row
        raise UnknownName("screenshot", name[:80], [], "see /api/v1/screenshots, or name a tick as `tick-500`")


def read_file(directory: RunDirectory, name: str) -> Drawn:
    """Return a kept picture."""
    kept = read_kept(directory.path, name)
    return Drawn(MEDIA[kept.format], kept.data)


def _held(directory: RunDirectory, tick: int) -> Drawn | None:
    """Return the picture of a tick, or of one before it, that a live run has in memory."""
    try:
        frame = ask(directory, "picture", PROMPT, tick=tick)
    except PtpError:
        return None  # it has none, is held by a debugger, or has ended just now; the tape has every picture
    data = frame["data"].encode() if frame["format"] == "text" else base64.b64decode(frame["data"])
    return Drawn(MEDIA[frame["format"]], data, frame["tick"])


def as_pixels(drawn: Drawn) -> Pixels:
    """Return a picture as red, green and blue; text has no pixels."""
    if drawn.media_type.startswith("text"):
        raise UnknownName("picture", "text", [], "this world draws text, which has no pixels")
    picture = decode(drawn.data, "png")
    assert not isinstance(picture, str)
    return picture


def _bounds(changed: Any) -> tuple[int, int, int, int] | None:
    rows, columns = np.nonzero(changed.any(axis=1))[0], np.nonzero(changed.any(axis=0))[0]
    if not len(rows):
        return None
    return int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1


def _annotations(text: str | None) -> Annotations:
    if not text:
        return Annotations()
    try:
        return msgspec.json.decode(text, type=Annotations)
    except msgspec.DecodeError as problem:
        raise RunUnreadable(f"the annotations of the picture can't be read: {problem}") from None
