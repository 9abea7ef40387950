"""`ptp logs`: show or follow a run's log."""

from __future__ import annotations

import argparse
import sys
import time
from typing import TYPE_CHECKING

from ptp.cli.common import when_stopped
from ptp.cli.parser import Parser

if TYPE_CHECKING:
    from ptp.recording import RunDirectory
    from ptp.runs.answers import LogLine

DESCRIPTION = """Show the end of a run's log, and with --follow what comes until the run ends.

examples:
  ptp logs
  ptp logs --follow --level warning
"""

EVERY = 0.3  # seconds between two looks at a log that is followed


def main(argv: list[str]) -> int:
    """Run the verb."""
    parser = Parser("ptp logs", DESCRIPTION)
    parser.add_argument("-f", "--follow", action="store_true", help="Go on until the run ends.")
    parser.add_argument("--lines", type=int, default=50, metavar="N", help="Lines from the end (default: 50).")
    parser.add_argument("--level", choices=("info", "warning", "error"), help="Only lines of at least this level.")

    from ptp.cli.output import print_json
    from ptp.cli.reading import parse_run
    from ptp.runs.logs import read_log

    options, _, directory, _ = parse_run(parser, argv)
    path = directory.path / "run.log"
    found = read_log(path, max(1, options.lines), level=options.level)
    if options.json and not options.follow:
        print_json(found)
        return 0
    _print(found.lines, options.json)
    if options.follow:
        with when_stopped(f"run {directory.run_id} is no longer followed"):
            _follow(directory, found.position, options)
    return 0


def _follow(directory: RunDirectory, position: int, options: argparse.Namespace) -> None:
    """Print what comes, until the run has ended and all of it is printed."""
    from ptp.runs.logs import read_log

    while True:
        alive = directory.is_alive()
        found = read_log(directory.path / "run.log", after=position, level=options.level)
        _print(found.lines, options.json)
        if not alive and not found.lines:
            return
        position = found.position
        time.sleep(EVERY)


def _print(lines: list[LogLine], as_json: bool) -> None:
    from ptp.cli.output import DIM, RED, YELLOW, paint

    if as_json:
        import msgspec

        sys.stdout.writelines(msgspec.json.encode(line).decode() + "\n" for line in lines)
    else:
        colors = {"warning": YELLOW, "error": RED}
        for line in lines:
            at = paint((line.time or "")[11:23], DIM)
            tick = "" if line.tick is None else f"tick {line.tick}"
            message = paint(line.message, colors[line.level]) if line.level in colors else line.message
            sys.stdout.write(f"{at}  {tick:<12} {message}\n")
    sys.stdout.flush()
