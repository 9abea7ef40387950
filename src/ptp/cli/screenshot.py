"""`ptp screenshot`."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from ptp.cli.common import check_pages, opened_run
from ptp.cli.output import answer, in_bytes, print_json, print_table, runnable, say
from ptp.cli.parser import Options
from ptp.cli.pixels import as_text, fit
from ptp.errors import UsageError
from ptp.frames.kept import export_pictures
from ptp.runs.drawing import Drawn, Painter
from ptp.runs.shots import Album, as_pixels


def show_latest(options: Options) -> int:
    """Show the newest picture."""
    return _display(options, "latest")


def show(options: Options) -> int:
    """Show one picture."""
    return _display(options, options.screenshot)


def _display(options: Options, name: str) -> int:
    directory = opened_run(options).directory
    metadata = directory.read_metadata()
    painter = Painter()
    try:
        album = Album(painter)
        described = album.describe(directory, metadata, name)
        drawn = album.image(directory, metadata, described.screenshot_id)
    finally:
        painter.close()
    if options.output:
        _write(Path(options.output), drawn.data)
    elif not options.json:
        say(in_terminal(drawn))
    size = f"{described.resolution.width} x {described.resolution.height}"
    line = f"{described.screenshot_id}: tick {described.tick}, {size}, {described.screen_type or 'unknown screen'}"
    return answer(options, described, line)


def _write(path: Path, data: bytes) -> None:
    try:
        path.write_bytes(data)
    except OSError as problem:
        raise UsageError(f"-o {path}: {problem.strerror}; name another file") from None


def in_terminal(drawn: Drawn) -> str:
    """Return a picture as text that is no wider than the terminal."""
    if drawn.media_type.startswith("text"):
        return drawn.data.decode()
    return as_text(fit(as_pixels(drawn), shutil.get_terminal_size((100, 40)).columns))


def list_kept(options: Options) -> int:
    """List the pictures that were kept."""
    directory = opened_run(options).directory
    check_pages(options)
    found = Album(Painter()).list(directory, options.page, options.page_size)
    if options.json:
        print_json(found)
    elif not found.total_count:
        say(runnable("the run kept no pictures; draw any tick with `ptp screenshot show tick-1`", options.words))
    else:
        rows = [(s.id, s.timestamp or "-", s.screen_type or "-") for s in found.screenshots]
        print_table(("screenshot", "taken", "screen"), rows)
        if options.talks:
            say(f"{found.total_count:,} pictures")
    return 0


def export(options: Options) -> int:
    """Write the pictures that were kept to files."""
    directory = opened_run(options).directory
    done = export_pictures(directory, Path(options.output), options.first, options.last, options.format)
    answer(options, done, f"{done.path}: {done.pictures:,} pictures, {in_bytes(done.bytes)}")
    for problem in done.missing[:5]:
        sys.stderr.write(f"ptp: {problem}\n")
    return 1 if done.missing else 0
