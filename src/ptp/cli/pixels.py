"""Pictures as characters: two pixels, one above the other, in each; or shades where there are no colors."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from ptp.cli.output import can_print, wants_color
from ptp.frames.pictures import Pixels

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult
    from rich.style import Style

SHADES, PLAIN = " ░▒▓█", " .:*#"  # from dark to bright
Color = tuple[int, int, int]
Cell = tuple[Color, Color]


def fit(pixels: Pixels, columns: int, rows: int | None = None) -> Pixels:
    """Return a picture that is as large as it can be within so many characters: a whole multiple, or made smaller."""
    from PIL import Image

    height, width = pixels.shape[:2]
    share = columns / width if rows is None else min(columns / width, 2 * rows / height)
    share = float(int(share)) if share >= 1 else share
    if rows is None:
        share = min(share, 1.0)  # a picture between other lines is not enlarged
    size = max(1, round(width * share)), max(2, round(height * share) // 2 * 2)
    if size == (width, height):
        return pixels
    import numpy as np

    way = Image.Resampling.NEAREST if share >= 1 else Image.Resampling.BOX
    return np.asarray(Image.fromarray(pixels).resize(size, way))


def cells(pixels: Pixels) -> Iterator[list[Cell]]:
    """Return rows of characters, each the color of the pixel above and of the one below."""
    rows = pixels.tolist()
    for above, below in zip(rows[::2], rows[1::2], strict=False):
        yield [(tuple(a), tuple(b)) for a, b in zip(above, below, strict=True)]


def shade(cell: Cell, shades: str = SHADES) -> str:
    """Return the character that is as bright as two pixels."""
    brightness = sum(0.3 * red + 0.59 * green + 0.11 * blue for red, green, blue in cell) / 2
    return shades[min(len(shades) - 1, int(brightness * len(shades) / 256))]


def as_text(pixels: Pixels) -> str:
    """Return a picture as text: with the codes of its colors for a terminal, else as shades."""
    shades = SHADES if can_print(SHADES) else PLAIN
    if shades == PLAIN or not wants_color(sys.stdout):
        return "\n".join("".join(shade(cell, shades) for cell in row) for row in cells(pixels))
    return "\n".join("".join(map(_coded, row)) + "\033[0m" for row in cells(pixels))


def _coded(cell: Cell) -> str:
    (red, green, blue), (r, g, b) = cell
    return f"\033[38;2;{red};{green};{blue};48;2;{r};{g};{b}m▀"


class Picture:
    """A picture that takes the room it is given on a full screen."""

    def __init__(self, pixels: Pixels) -> None:
        self._pixels = pixels

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich.segment import Segment

        room = options.max_width, options.height or options.max_height
        fitted = fit(self._pixels, *room)
        margin = Segment(" " * max(0, (options.max_width - fitted.shape[1]) // 2))
        for row in cells(fitted):
            yield margin
            if console.no_color or console.color_system is None:
                yield Segment("".join(map(shade, row)))
            else:
                yield from (Segment("▀", _style(cell)) for cell in row)
            yield Segment.line()


@lru_cache(1 << 14)
def _style(cell: Cell) -> Style:
    from rich.color import Color as Shown
    from rich.style import Style

    return Style(color=Shown.from_rgb(*cell[0]), bgcolor=Shown.from_rgb(*cell[1]))
