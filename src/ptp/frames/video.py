"""Pictures become an H.264 video, in a thread of its own, with a bar below them that tells what happens."""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from ptp._util.attempt import attempt
from ptp.errors import RecordingError, WorldError
from ptp.frames.pictures import Pixels, as_rgb
from ptp.worlds import World

if TYPE_CHECKING:
    from av.container import OutputContainer
    from av.video.frame import VideoFrame
    from av.video.reformatter import VideoReformatter
    from av.video.stream import VideoStream
    from PIL.ImageFont import FreeTypeFont, ImageFont

QUEUE = 8  # pictures that may wait; after that the run waits for the encoder
WIDE = 640  # pixels: a smaller screen is enlarged by the largest whole number that stays within
OPTIONS = {"preset": "ultrafast", "qp": "20"}  # one quality throughout; half the work of a rate that adapts
LINE = 20  # pixels from one line of text to the next
MARGIN = 8
REASONS = 2  # lines for the agent's reasons
GROUND, BRIGHT, DIM = (18, 20, 26), (235, 238, 245), (150, 160, 178)


def enlargement(width: int, height: int) -> int:
    """Return the whole number that a small screen is enlarged by."""
    return max(1, WIDE // max(width, height))


def ticks_per_second(world: World) -> float:
    """Return the rate at which a world's ticks look as it was made to look."""
    rate = world.facts.ticks_per_second
    assert rate is not None, "a world that was made here has one"
    return rate


def video_of_run(run: Path, world: World, first_tick: int) -> VideoWriter:
    """Return the video of a run that begins, or goes on, at *first_tick*."""
    check_video(world)
    return VideoWriter(run / "video" / f"run_from_{first_tick:06d}.mp4", ticks_per_second(world))


def check_video(world: World) -> None:
    """Refuse a video of a world that draws no pixels, or without the library that encodes it."""
    needs_av()
    facts = world.facts
    if facts.render_mode == "rgb_array":
        return
    if "rgb_array" in facts.render_modes:
        raise WorldError(f"a video needs pixels, and {facts.name!r} draws {facts.render_mode}; leave out --render-mode")
    modes = ", ".join(mode for mode in facts.render_modes if mode != "human") or "none"
    raise WorldError(f"world {facts.name!r} has no pictures to make a video of; it offers: {modes}")


def needs_av() -> Any:
    """Return the encoder library, or say how to get it."""
    try:
        import av
    except ImportError:
        raise RecordingError("video needs PyAV, which ptp comes with; put it back with `pip install av`") from None
    return av


class VideoWriter:
    """Writes an MP4 that plays everywhere; the file appears under its name only when it is whole."""

    def __init__(self, path: Path, frames_per_second: float) -> None:
        needs_av()
        self.path = path
        self.frames = 0
        """Pictures that were encoded."""
        self.problem: str | None = None
        """Why the video ended early, when it did."""
        self._rate = Fraction(frames_per_second).limit_denominator(1000)
        self._temporary = path.with_name(f".{path.stem}.{os.getpid()}.mp4")
        # Plain queues, since a signal that is raised inside `queue.Queue` can leave its lock taken for ever.
        self._waiting: queue.SimpleQueue[Pixels | None] = queue.SimpleQueue()
        self._free: queue.SimpleQueue[None] = queue.SimpleQueue()
        for _ in range(QUEUE):
            self._free.put(None)
        self._encoder: _Encoder | None = None
        self._thread = threading.Thread(target=self._run, name="video", daemon=True)
        self._thread.start()

    def add(self, pixels: Pixels) -> None:
        """Hand over a picture that nobody will change; waits while the encoder is behind."""
        if self.problem is None:
            self._free.get()
            self._waiting.put(pixels)

    def close(self) -> Path | None:
        """Encode what is waiting and return the finished file; None when there is none."""
        self._waiting.put(None)
        self._thread.join()
        return self.path if self.problem is None and self.frames else None

    def discard(self) -> None:
        """Give the video up and leave nothing behind."""
        self.problem = self.problem or "given up"
        self.close()

    def _run(self) -> None:
        while (pixels := self._waiting.get()) is not None:
            if self.problem is None:  # after a failure pictures are still taken in, so that nobody waits
                self._attempt(partial(self._encode, pixels))
            self._free.put(None)
        if self._encoder is not None:
            self._attempt(self._encoder.close)
            if self.problem is None:
                self._attempt(lambda: os.replace(self._temporary, self.path))
        with suppress(OSError):
            self._temporary.unlink(missing_ok=True)

    def _attempt(self, work: Callable[[], None]) -> None:
        problem = attempt(work)
        if problem is not None:  # told to whoever closes the video
            self.problem = self.problem or f"{type(problem).__name__}: {problem}"

    def _encode(self, pixels: Pixels) -> None:
        self._encoder = self._encoder or _Encoder(self._temporary, self._rate, pixels)
        self._encoder.encode(pixels)
        self.frames += 1


def _same(one: Pixels, other: Pixels | None) -> bool:
    """Whether two pictures are equal; most that are not differ in a few points already."""
    if other is None or not np.array_equal(one[::16, ::16], other[::16, ::16]):
        return False
    return np.array_equal(one, other)


class _Encoder:
    """One file under way; its size is that of the first picture."""

    def __init__(self, path: Path, rate: Fraction, first: Pixels) -> None:
        import av
        from av.video.reformatter import Interpolation, VideoReformatter

        path.parent.mkdir(parents=True, exist_ok=True)
        self._height, self._width = first.shape[0], first.shape[1]
        scale = enlargement(self._width, self._height)
        self._pad = (self._height * scale % 2, self._width * scale % 2)
        self._size = ((self._width + self._pad[1]) * scale, (self._height + self._pad[0]) * scale)
        self._container: OutputContainer = av.open(str(path), "w", options={"movflags": "faststart"})
        self._stream: VideoStream = self._container.add_stream("libx264", rate=rate, options=dict(OPTIONS))
        self._stream.width, self._stream.height = self._size
        self._stream.pix_fmt = "yuv420p"
        self._stream.codec_context.thread_count = 1  # the run has better uses for the other processors
        self._reformatter: VideoReformatter = VideoReformatter()
        # Keeps pixels sharp, and is the fastest: with the flag swscale uses its vector code for colours, too.
        self._interpolation = Interpolation.POINT | Interpolation.FULL_CHR_H_INP
        self._count = 0
        self._shown: Pixels | None = None
        self._frame: VideoFrame | None = None

    def encode(self, pixels: Pixels) -> None:
        """Add a picture; one of another size is fitted into the first one's."""
        import av

        if self._frame is None or not _same(pixels, self._shown):
            frame = av.VideoFrame.from_numpy_buffer(self._fit(as_rgb(pixels)), format="rgb24")  # without a copy
            width, height = self._size
            self._frame = self._reformatter.reformat(
                frame, width=width, height=height, format="yuv420p", interpolation=self._interpolation, threads=1
            )
            self._shown = pixels
        frame = self._frame
        frame.pts = self._count
        frame.time_base = 1 / Fraction(self._stream.average_rate or 1)
        self._count += 1
        self._container.mux(self._stream.encode(frame))

    def _fit(self, pixels: Pixels) -> Pixels:
        if pixels.shape[:2] != (self._height, self._width):
            fitted = np.zeros((self._height, self._width, 3), np.uint8)
            part = pixels[: self._height, : self._width]
            fitted[: part.shape[0], : part.shape[1]] = part
            pixels = fitted
        if self._pad == (0, 0):
            return pixels
        return np.pad(pixels, ((0, self._pad[0]), (0, self._pad[1]), (0, 0)), mode="edge")

    def close(self) -> None:
        """Write what the encoder still holds, and the index that players need."""
        self._container.mux(self._stream.encode())
        self._container.close()


class Caption(msgspec.Struct, frozen=True):
    """What the bar says of a tick."""

    tick: int
    episode: int
    action: str
    reward: float | None
    total: float
    reasoning: str | None = None


def draw(pixels: Pixels, caption: Caption) -> Pixels:
    """Return the picture, enlarged if it is small, with the bar below it."""
    from PIL import Image, ImageDraw

    pixels = as_rgb(pixels)
    scale = enlargement(pixels.shape[1], pixels.shape[0])
    large = pixels.repeat(scale, 0).repeat(scale, 1)
    width = large.shape[1]
    bar = Image.new("RGB", (width, MARGIN * 2 + LINE * (1 + REASONS)), GROUND)
    pen = ImageDraw.Draw(bar)
    reward = "-" if caption.reward is None else f"{caption.reward:+.3g}"
    facts = (
        f"tick {caption.tick:,}   episode {caption.episode}   action {caption.action}   "
        f"reward {reward}   total {caption.total:,.4g}"
    )
    pen.text((MARGIN, MARGIN), facts, fill=BRIGHT, font=_font())
    for number, line in enumerate(_wrap(caption.reasoning or "", width - 2 * MARGIN), 1):
        pen.text((MARGIN, MARGIN + LINE * number), line, fill=DIM, font=_font())
    return np.concatenate([large, np.asarray(bar)])


@cache
def _font() -> FreeTypeFont | ImageFont:
    from PIL import ImageFont

    return ImageFont.load_default(14)


def _wrap(text: str, width: int) -> list[str]:
    """Return the text in at most so many lines of so many pixels; what does not fit ends in an ellipsis."""
    lines: list[str] = []
    words = text.split()
    while words and len(lines) < REASONS:
        line = words.pop(0)
        while words and _font().getlength(f"{line} {words[0]}") <= width:
            line += " " + words.pop(0)
        lines.append(_cut(line, width))
    if words:
        lines[-1] = _cut(lines[-1] + " …", width)
    return lines


def _cut(line: str, width: int) -> str:
    if _font().getlength(line) <= width:
        return line
    line = line.removesuffix(" …")
    while line and _font().getlength(line + "…") > width:
        line = line[:-1]
    return line + "…"
