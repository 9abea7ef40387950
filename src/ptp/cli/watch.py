"""`ptp watch`: watch a live run in the terminal."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from ptp.cli.common import when_stopped
from ptp.cli.parser import Parser
from ptp.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ptp.recording import RunDirectory
    from ptp.records import Metadata

FRAMES = 12  # pictures per second in the terminal
DESCRIPTION = """Watch a live run in the terminal: screen, state, decisions and events. Ctrl-C ends it, the run goes on.

With --json each line that the run tells is printed as JSON, without pictures.

examples:
  ptp watch
  ptp watch --run latest --json | jq .now.tick
"""


def main(argv: list[str]) -> int:
    """Run the verb."""
    from ptp.cli.reading import parse_run
    from ptp.runner.control import NotRunning, watch

    options, _, directory, metadata = parse_run(Parser("ptp watch", DESCRIPTION), argv)
    if not options.json and (not sys.stdout.isatty() or os.environ.get("TERM") == "dumb"):
        raise UsageError("`ptp watch` needs a terminal; use --json, or `ptp actions --stream`")
    if metadata.status != "running":
        run = directory.run_id
        raise NotRunning(f"run {run} is not running; see it with `ptp show {run}`, go on with it by `ptp resume {run}`")
    lines = watch(directory)
    if not options.json:
        return _show(lines, directory, metadata)
    with when_stopped(f"run {directory.run_id} is no longer watched; it goes on"):
        return _print(lines)


def _print(lines: Iterator[dict[str, Any]]) -> int:
    import json

    for line in lines:
        line.pop("frame", None)
        sys.stdout.write(json.dumps(line) + "\n")
        sys.stdout.flush()
    return 0


def _show(lines: Iterator[dict[str, Any]], directory: RunDirectory, metadata: Metadata) -> int:
    """Fill the screen until the run ends or the user has seen enough; the terminal is then as it was."""
    from rich.live import Live

    from ptp.cli.view import View

    view, run = View(f"{metadata.agent} in {metadata.world.name}"), directory.run_id
    said = f"run {run} has ended; see `ptp show {run}`"
    try:
        with Live(get_renderable=view.draw, screen=True, refresh_per_second=FRAMES):
            for line in lines:
                view.take(line)
    except KeyboardInterrupt:
        said = f"run {run} goes on after tick {view.tick:,}"
    sys.stdout.write(f"{said}\n")
    return 0
