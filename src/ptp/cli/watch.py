"""`ptp watch`, `actions` and `dashboard`: what a run does, as it happens or afterwards."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from typing import Any

import msgspec

from ptp.cli.common import check_pages, opened_run, when_stopped
from ptp.cli.output import BOLD, DIM, answer, is_terminal, paint, say, show
from ptp.cli.parser import Options
from ptp.errors import UsageError
from ptp.recording.directory import run_paths
from ptp.runner import control
from ptp.runner.protocol import write
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
    if options.json:
        with when_stopped(f"no longer watching run {run}; it continues"):
            return _print(write(msgspec.structs.replace(line, frame=None)).decode() for line in lines)
    from rich.live import Live

    from ptp.cli.view import View

    view, said = View(metadata), f"run {run} has ended; see `ptp show {run}`"
    try:
        with Live(get_renderable=lambda: view, screen=True, refresh_per_second=FRAMES):
            for line in lines:
                view.take(line)
    except KeyboardInterrupt:
        said = f"run {run} continues after tick {view.tick:,}"
    say(said)  # once the terminal is restored
    return 0


def _print(lines: Iterable[str]) -> int:
    for line in lines:
        say(line)
        sys.stdout.flush()
    return 0


def actions(options: Options) -> int:
    """List actions, or stream them."""
    directory = opened_run(options).directory
    if options.stream:
        with when_stopped(f"no longer following run {directory.run_id}; it continues"):
            facts, lines = directory.read_metadata().facts, control.watch(directory)
            happened = (action for line in lines for action in as_actions(line.records, line.now.at, facts))
            return _print(msgspec.json.encode(it).decode() if options.json else _line(it) for it in happened)
    check_pages(options)
    query = ActionQuery(options.kind, options.action, options.search, None, None, True, options.page, options.page_size)
    found = ActionLog().page(directory, directory.read_metadata(), query)
    if not options.json:
        say(*map(_line, reversed(found.actions)))
    return answer(options, found, f"{found.total_count:,} actions")


def _line(action: Action) -> str:
    context: dict[str, Any] = dict(action.context)
    tick = context.pop("tick", "")
    if "reward" in context:  # it is a command
        known = context.get("reasoning") or context.get("location")
    else:
        told = (item for item in context.items() if isinstance(item[1], str | int) and item[1] != "")
        known = ", ".join(f"{name} {value}" for name, value in told)
    return f"{tick:>8}  {paint(action.timestamp[11:23], DIM)}  {action.action:<16} {known or ''}".rstrip()


def dashboard(options: Options) -> int:
    """Serve the dashboard until it is stopped."""
    from ptp.web.app import bind, serve  # here, so that those who watch in the terminal do not pay for it

    run_paths(options.folder)  # which refuses a folder that can't be read
    listener, address = bind(options.host, options.port, options.token or os.environ.get("PTP_TOKEN"))
    show(options, address, paint(address.url, BOLD))
    if options.talks:
        sys.stderr.write(f"serving the runs in {options.folder}; Ctrl-C stops the dashboard, runs continue\n")
    sys.stdout.flush()
    with when_stopped("the dashboard has stopped; runs continue"):
        serve(options.folder, listener, address)
    return 0
