"""A bar below a picture that tells what happens in it."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from ptp.frames.pictures import Pixels, as_rgb
from ptp.frames.video import enlargement

if TYPE_CHECKING:
    from PIL.ImageFont import FreeTypeFont, ImageFont

LINE = 20  # pixels from one line of text to the next
MARGIN = 8
REASONS = 2  # lines for the agent's reasons
GROUND, BRIGHT, DIM = (18, 20, 26), (235, 238, 245), (150, 160, 178)


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
    pen.text((MARGIN, MARGIN), _facts(caption), fill=BRIGHT, font=_font())
    for number, line in enumerate(_wrap(caption.reasoning or "", width - 2 * MARGIN), 1):
        pen.text((MARGIN, MARGIN + LINE * number), line, fill=DIM, font=_font())
    return np.concatenate([large, np.asarray(bar)])


def _facts(caption: Caption) -> str:
    reward = "-" if caption.reward is None else f"{caption.reward:+.3g}"
    return (
        f"tick {caption.tick:,}   episode {caption.episode}   action {caption.action}   "
        f"reward {reward}   total {caption.total:,.4g}"
    )


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
