"""`ptp watch` and `ptp actions`: what a run does, as it happens or afterwards."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

import msgspec

from ptp.cli.common import check_pages, opened_run, when_stopped
from ptp.cli.output import DIM, answer, is_terminal, paint, say
from ptp.cli.parser import Options
from ptp.errors import UsageError
from ptp.recording import RunDirectory
from ptp.records import Metadata
from ptp.runner import control
from ptp.runner.protocol import Line, write
from ptp.runs.actions import Action, ActionLog, ActionQuery, as_actions

FRAMES = 12  # pictures per second in the terminal


def watch(options: Options) -> int:
    """Show a live run until it ends or the user leaves."""
    directory = opened_run(options).directory
    metadata, run = directory.read_metadata(), directory.run_id
    if not options.json and not is_terminal(sys.stdout):
        raise UsageError("`ptp watch` needs a terminal; use --json, or `ptp actions --stream`")
    if metadata.status != "running":
        raise control.NotRunning(f"run {run} is not running; see it with `ptp show {run}`, or `ptp resume {run}`")
    lines = control.watch(directory)
    if not options.json:
        return _fill_screen(lines, run, metadata)
    with when_stopped(f"no longer watching run {run}; it continues"):
        return _print(write(msgspec.structs.replace(line, frame=None)).decode() for line in lines)


def _print(lines: Iterable[str]) -> int:
    """Print each line as it comes."""
    for line in lines:
        say(line)
        sys.stdout.flush()
    return 0


def _fill_screen(lines: Iterable[Line], run: str, metadata: Metadata) -> int:
    """Draw the run until it ends or the user leaves; the terminal is then restored."""
    from rich.live import Live

    from ptp.cli.view import View

    view, said = View(metadata), f"run {run} has ended; see `ptp show {run}`"
    try:
        with Live(get_renderable=lambda: view, screen=True, refresh_per_second=FRAMES):
            for line in lines:
                view.take(line)
    except KeyboardInterrupt:
        said = f"run {run} continues after tick {view.tick:,}"
    say(said)
    return 0


def actions(options: Options) -> int:
    """List actions, or stream them."""
    directory = opened_run(options).directory
    if options.stream:
        with when_stopped(f"no longer following run {directory.run_id}; it continues"):
            return _stream(directory, options.json)
    check_pages(options)
    query = ActionQuery(options.kind, options.action, options.search, None, None, True, options.page, options.page_size)
    found = ActionLog().page(directory, directory.read_metadata(), query)
    if not options.json:
        say(*map(_line, reversed(found.actions)))
    return answer(options, found, f"{found.total_count:,} actions")


def _stream(directory: RunDirectory, as_json: bool) -> int:
    happened = (action for line in control.watch(directory) for action in as_actions(line.records, line.now.at))
    return _print(msgspec.json.encode(action).decode() if as_json else _line(action) for action in happened)


def _line(action: Action) -> str:
    context: dict[str, Any] = dict(action.context)
    tick = context.pop("tick", "")
    is_command = "reward" in context
    known = context.get("reasoning") or context.get("location") if is_command else _details(context)
    return f"{tick:>8}  {paint(action.timestamp[11:23], DIM)}  {action.action:<16} {known or ''}".rstrip()


def _details(context: dict[str, Any]) -> str:
    told = (item for item in context.items() if isinstance(item[1], str | int) and item[1] != "")
    return ", ".join(f"{name} {value}" for name, value in told)
