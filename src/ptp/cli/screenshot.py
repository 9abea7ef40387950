"""`ptp screenshot`."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from ptp.cli import output
from ptp.cli.common import check_pages, opened_run
from ptp.cli.output import answer, in_bytes, runnable, say, table
from ptp.cli.parser import Options
from ptp.cli.pixels import as_text, fit
from ptp.errors import UsageError
from ptp.frames.kept import export_pictures
from ptp.runs.drawing import Drawn, draw_here
from ptp.runs.shots import Album, as_pixels


def show_latest(options: Options) -> int:
    """Show the newest picture."""
    return show(options, "latest")


def show(options: Options, name: str | None = None) -> int:
    """Show one picture, by default the one that was asked for."""
    directory = opened_run(options).directory
    metadata = directory.read_metadata()
    album = Album(draw_here)
    described = album.describe(directory, metadata, name or options.screenshot)
    drawn = album.image(directory, metadata, described.screenshot_id)
    if options.output:
        try:
            Path(options.output).write_bytes(drawn.data)
        except OSError as problem:
            raise UsageError(f"-o {options.output}: {problem.strerror}; name another file") from None
    elif not options.json:
        say(_in_terminal(drawn))
    size = f"{described.resolution.width} x {described.resolution.height}"
    line = f"{described.screenshot_id}: tick {described.tick}, {size}, {described.screen_type or 'unknown screen'}"
    return answer(options, described, line)


def _in_terminal(drawn: Drawn) -> str:
    if drawn.media_type.startswith("text"):
        return drawn.data.decode()
    return as_text(fit(as_pixels(drawn), shutil.get_terminal_size((100, 40)).columns))


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
