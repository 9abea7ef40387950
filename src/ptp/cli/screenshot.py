"""`ptp screenshot`: list pictures, show them in the terminal, and write them to files."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ptp.cli.parser import Parser, choose
from ptp.errors import UsageError

if TYPE_CHECKING:
    from ptp.runs.drawing import Drawn

DESCRIPTION = """List pictures, show them in the terminal, and write them to files.

  ptp screenshot latest [--run RUN] [--output FILE]                show the newest picture
  ptp screenshot show ID [--run RUN] [--output FILE]               show one: its id, or tick-N for any tick
  ptp screenshot list [--run RUN] [--page N] [--page-size N]       list those that were kept
  ptp screenshot export -o DIR [--run RUN] [--from N] [--to N]     write those that were kept as files

A run that kept no pictures is drawn from its tape. The terminal shows colors; a pipe gets shades.
"""


def main(argv: list[str]) -> int:
    """Run the verb."""
    actions = {"latest": _latest, "show": _show, "list": _list, "export": _export}
    return choose("screenshot", DESCRIPTION, actions, argv)


def _latest(argv: list[str]) -> int:
    return _display(Parser("ptp screenshot latest", "Show the newest picture."), argv)


def _show(argv: list[str]) -> int:
    parser = Parser("ptp screenshot show", "Show a picture.")
    parser.add_argument("screenshot", metavar="ID", help="A picture: its id, `latest`, or `tick-N` for any tick.")
    return _display(parser, argv)


def _display(parser: Parser, argv: list[str]) -> int:
    parser.add_argument("-o", "--output", metavar="FILE", help="Write the picture to a file.")

    from ptp.cli.output import print_json, say
    from ptp.cli.reading import parse_run
    from ptp.runs.drawing import Painter
    from ptp.runs.shots import Album

    options, system, directory, metadata = parse_run(parser, argv)
    name = getattr(options, "screenshot", "latest")
    painter = Painter()
    try:
        album = Album(painter)
        described = album.describe(directory, metadata, name)
        drawn = album.image(directory, metadata, described.screenshot_id)
    finally:
        painter.close()
    if options.output:
        _write(Path(options.output), drawn.data)
    if options.json:
        print_json(described)
        return 0
    if not options.output:
        say(in_terminal(drawn))
    if system.quiet:
        return 0
    size = f"{described.resolution.width} x {described.resolution.height}"
    say(f"{described.screenshot_id}: tick {described.tick}, {size}, {described.screen_type or 'unknown screen'}")
    return 0


def _write(path: Path, data: bytes) -> None:
    try:
        path.write_bytes(data)
    except OSError as problem:
        raise UsageError(f"-o {path}: {problem.strerror}; name another file") from None


def in_terminal(drawn: Drawn) -> str:
    """Return a picture as text that is no wider than the terminal."""
    import shutil

    if drawn.media_type.startswith("text"):
        return drawn.data.decode()
    from ptp.cli.pixels import as_text, fit
    from ptp.runs.shots import as_pixels

    return as_text(fit(as_pixels(drawn), shutil.get_terminal_size((100, 40)).columns))


def _list(argv: list[str]) -> int:
    parser = Parser("ptp screenshot list", "List the pictures that were kept, oldest first.")
    parser.add_argument("--page", type=int, default=1, metavar="N", help="The page (default: 1).")
    parser.add_argument("--page-size", type=int, default=20, metavar="N", help="Pictures per page (default: 20).")

    from ptp.cli.output import print_json, print_table, runnable, say
    from ptp.cli.reading import parse_run
    from ptp.runs.drawing import Painter
    from ptp.runs.shots import Album

    options, system, directory, _ = parse_run(parser, argv)
    if options.page < 1 or not 1 <= options.page_size <= 10_000:
        raise UsageError("--page is 1 or more, --page-size from 1 to 10000")
    found = Album(Painter()).list(directory, options.page, options.page_size)
    if options.json:
        print_json(found)
    elif not found.total_count:
        say(runnable("the run kept no pictures; any tick can be drawn: `ptp screenshot show tick-1`", argv))
    else:
        print_table(
            ("screenshot", "taken", "screen"),
            [(s.id, s.timestamp or "-", s.screen_type or "-") for s in found.screenshots],
        )
        if not system.quiet:
            say(f"{found.total_count:,} pictures")
    return 0


def _export(argv: list[str]) -> int:
    parser = Parser("ptp screenshot export", "Write the pictures that were kept as files, one for each tick.")
    parser.add_argument("-o", "--output", metavar="DIR", required=True, help="The folder; it is made if need be.")
    parser.add_argument("--from", dest="first", type=int, default=1, metavar="N", help="First tick (default: 1).")
    parser.add_argument("--to", dest="last", type=int, metavar="N", help="Last tick (default: the last of the run).")
    parser.add_argument("--format", choices=("jpeg", "png", "webp"), help="The form (default: as they were kept).")

    from ptp.cli.output import print_json, say
    from ptp.cli.reading import parse_run
    from ptp.cli.sizes import in_words
    from ptp.frames.export import export_pictures

    options, system, directory, _ = parse_run(parser, argv)
    done = export_pictures(directory, Path(options.output), options.first, options.last, options.format)
    if options.json:
        print_json(done)
    elif not system.quiet:
        say(f"{done.path}: {done.pictures:,} pictures, {in_words(done.bytes)}")
    for problem in done.missing[:5]:
        sys.stderr.write(f"ptp: {problem}\n")
    return 1 if done.missing else 0
