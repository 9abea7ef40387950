"""`ptp screenshot`, and pictures as characters.

Each character is two pixels, one above the other; or a shade where there are no colors.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from ptp.cli import output
from ptp.cli.common import check_pages, opened_run
from ptp.cli.output import answer, can_print, in_bytes, runnable, say, table, wants_color
from ptp.cli.parser import Options
from ptp.errors import UsageError
from ptp.frames.kept import export_pictures
from ptp.frames.pictures import Pixels
from ptp.runs.drawing import draw_here
from ptp.runs.shots import Album, as_pixels

SHADES, PLAIN = " ░▒▓█", " .:*#"  # from dark to bright
Color = tuple[int, int, int]
Cell = tuple[Color, Color]


def show(options: Options) -> int:
    """Show one picture, the newest when the verb takes no name of one."""
    directory = opened_run(options).directory
    metadata = directory.read_metadata()
    album = Album(draw_here)
    described = album.describe(directory, metadata, getattr(options, "screenshot", "latest"))
    drawn = album.image(directory, metadata, described.screenshot_id)
    if options.output:
        try:
            Path(options.output).write_bytes(drawn.data)
        except OSError as problem:
            raise UsageError(f"-o {options.output}: {problem.strerror}; name another file") from None
    elif not options.json:
        is_text, columns = drawn.media_type.startswith("text"), shutil.get_terminal_size((100, 40)).columns
        say(drawn.data.decode() if is_text else as_text(fit(as_pixels(drawn), columns)))
    size = f"{described.resolution.width} x {described.resolution.height}"
    line = f"{described.screenshot_id}: tick {described.tick}, {size}, {described.screen_type or 'unknown screen'}"
    return answer(options, described, line)


def list_kept(options: Options) -> int:
    """List the pictures that were kept."""
    directory = opened_run(options).directory
    check_pages(options)
    found = Album(draw_here).list(directory, options.page, options.page_size)
    if not found.total_count:
        none = "the run kept no pictures; draw any tick with `ptp screenshot show tick-1`"
        return output.show(options, found, runnable(none, options.words))
    rows = [(s.id, s.timestamp or "-", s.screen_type or "-") for s in found.screenshots]
    count = [f"{found.total_count:,} pictures"] if options.talks else []
    return output.show(options, found, *table(("screenshot", "taken", "screen"), rows), *count)


def export(options: Options) -> int:
    """Write the pictures that were kept to files."""
    directory = opened_run(options).directory
    done = export_pictures(directory, Path(options.output), options.first, options.last, options.format)
    sys.stderr.writelines(f"ptp: {problem}\n" for problem in done.missing[:5])
    line = f"{done.path}: {done.pictures:,} pictures, {in_bytes(done.bytes)}"
    return answer(options, done, line, failed=bool(done.missing))


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
    coded = "\033[38;2;{};{};{};48;2;{};{};{}m▀"
    rows = ("".join(coded.format(*above, *below) for above, below in row) for row in cells(pixels))
    return "\n".join(f"{row}\033[0m" for row in rows)
