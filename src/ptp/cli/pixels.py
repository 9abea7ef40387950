"""Pictures as characters: two pixels, one above the other, in each; or shades where there are no colors."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from ptp.cli.output import can_print, wants_color
from ptp.frames.pictures import Pixels

SHADES, PLAIN = " ░▒▓█", " .:*#"  # from dark to bright
Color = tuple[int, int, int]
Cell = tuple[Color, Color]


def fit(pixels: Pixels, columns: int, rows: int | None = None) -> Pixels:
    """Return a picture that is as large as it can be within so many characters: a whole multiple, or made smaller."""
    from PIL import Image

    height, width = pixels.shape[:2]
    most = 1.0 if rows is None else 2 * rows / height  # a picture between other lines is not enlarged
    share = min(columns / width, most)
    share = int(share) if share >= 1 else share
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
