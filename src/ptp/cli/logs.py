"""`ptp logs`."""

from __future__ import annotations

import sys
import time

import msgspec

from ptp.cli.common import opened_run, when_stopped
from ptp.cli.output import DIM, RED, YELLOW, paint, say, show
from ptp.cli.parser import Options
from ptp.recording import RunDirectory
from ptp.runs.answers import LogLine
from ptp.runs.logs import read_log

EVERY = 0.3  # seconds between two looks at a log that is followed
COLORS = {"warning": YELLOW, "error": RED}


def main(options: Options) -> int:
    """Show a log, or follow it."""
    directory = opened_run(options).directory
    found = read_log(directory.path / "run.log", max(1, options.lines), level=options.level)
    if options.json and not options.follow:
        return show(options, found)
    _print(found.lines, options.json)
    if options.follow:
        with when_stopped(f"no longer following run {directory.run_id}"):
            _follow(directory, found.position, options)
    return 0


def _follow(directory: RunDirectory, position: int, options: Options) -> None:
    """Print new lines until the run has ended and all of them are printed."""
    while True:
        alive = directory.is_alive()
        found = read_log(directory.path / "run.log", after=position, level=options.level)
        _print(found.lines, options.json)
        if not alive and not found.lines:
            return
        position = found.position
        time.sleep(EVERY)


def _print(lines: list[LogLine], as_json: bool) -> None:
    say(*(msgspec.json.encode(line).decode() if as_json else _line(line) for line in lines))
    sys.stdout.flush()


def _line(line: LogLine) -> str:
    tick = "" if line.tick is None else f"tick {line.tick}"
    message = paint(line.message, COLORS[line.level]) if line.level in COLORS else line.message
    return f"{paint((line.time or '')[11:23], DIM)}  {tick:<12} {message}"
