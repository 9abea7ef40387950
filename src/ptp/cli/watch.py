"""`ptp watch`."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

import msgspec

from ptp.cli.common import opened_run, when_stopped
from ptp.cli.parser import Options
from ptp.cli.view import View
from ptp.errors import UsageError
from ptp.recording import RunDirectory
from ptp.records import Metadata
from ptp.runner.control import NotRunning, watch
from ptp.runner.protocol import Line, write

FRAMES = 12  # pictures per second in the terminal


def main(options: Options) -> int:
    """Show a live run until it ends or the user leaves."""
    directory = opened_run(options).directory
    metadata = directory.read_metadata()
    if not options.json and (not sys.stdout.isatty() or os.environ.get("TERM") == "dumb"):
        raise UsageError("`ptp watch` needs a terminal; use --json, or `ptp actions --stream`")
    if metadata.status != "running":
        run = directory.run_id
        raise NotRunning(f"run {run} is not running; see it with `ptp show {run}`, or `ptp resume {run}`")
    lines = watch(directory)
    if not options.json:
        return _show(lines, directory, metadata)
    with when_stopped(f"no longer watching run {directory.run_id}; it continues"):
        return _print(lines)


def _print(lines: Iterator[Line]) -> int:
    for line in lines:
        sys.stdout.write(write(msgspec.structs.replace(line, frame=None)).decode() + "\n")
        sys.stdout.flush()
    return 0


def _show(lines: Iterator[Line], directory: RunDirectory, metadata: Metadata) -> int:
    """Fill the screen until the run ends or the user leaves; the terminal is then restored."""
    from rich.live import Live

    view, run = View(metadata), directory.run_id
    said = f"run {run} has ended; see `ptp show {run}`"
    try:
        with Live(get_renderable=view.draw, screen=True, refresh_per_second=FRAMES):
            for line in lines:
                view.take(line)
    except KeyboardInterrupt:
        said = f"run {run} continues after tick {view.tick:,}"
    sys.stdout.write(f"{said}\n")
    return 0
