"""`ptp watch`, `actions` and `dashboard`: what a run does, as it happens or afterwards."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import msgspec

from ptp._util.attempt import attempt
from ptp.cli.common import check_pages, opened_run, when_stopped
from ptp.cli.output import BOLD, DIM, answer, is_terminal, paint, say, show
from ptp.cli.parser import Options
from ptp.errors import UsageError
from ptp.recording.database import Database
from ptp.recording.directory import RunDirectory, run_paths
from ptp.records import DecisionMade, EpisodeEnded, Event, Record, Step
from ptp.runner import control
from ptp.runner.protocol import Line, write
from ptp.runs.actions import Action, ActionLog, ActionQuery, as_actions
from ptp.runs.tables import read
from ptp.runs.ticks import VALID

if TYPE_CHECKING:
    from ptp.cli.keys import Keys
    from ptp.cli.view import View

FRAMES = 12  # pictures per second in the terminal
LOOK = 0.1  # seconds between two looks at the keyboard
RECENT = 60  # events, episodes and commands from before the user came


def watch(options: Options) -> int:
    """Show a live run until it ends or the user leaves."""
    opened = opened_run(options)
    directory, metadata, run = opened.directory, opened.metadata, opened.id
    if not options.json and not is_terminal(sys.stdout):
        raise UsageError("`ptp watch` needs a terminal; use --json, or `ptp actions --stream`")
    if metadata.status != "running":
        raise control.NotRunning(f"run {run} is not running; see it with `ptp show {run}`, or `ptp resume {run}`")
    lines = control.watch(directory)
    if options.json:
        with when_stopped(f"no longer watching run {run}; it continues"):
            return _print(write(msgspec.structs.replace(line, frame=None)).decode() for line in lines)
    from rich.live import Live

    from ptp.cli.keys import Keys, reading_keys
    from ptp.cli.view import View

    view, ended = View(metadata), False
    screen = Live(get_renderable=lambda: view, screen=True, refresh_per_second=FRAMES)
    with suppress(KeyboardInterrupt), reading_keys() as has_keys, screen:
        ended = _follow(view, lines, directory, Keys(opened, view) if has_keys else None)
    left = f"run {run} continues after tick {view.tick:,}"
    say(f"run {run} has ended; see `ptp show {run}`" if ended else left)  # once the terminal is restored
    return 0


def _follow(view: View, lines: Iterator[Line], directory: RunDirectory, keys: Keys | None) -> bool:
    """Show a run and act on keys until it ends or the user leaves; return whether it has ended."""
    from ptp.cli.keys import next_keys

    def show() -> None:
        for number, line in enumerate(lines):
            if number == 0:  # from here on nothing is missed
                view.fill(recent_records(directory))
            view.take(line)

    failures: list[object] = []
    showing = threading.Thread(target=lambda: failures.append(attempt(show)), daemon=True)
    showing.start()
    try:
        while showing.is_alive():
            if keys is None:
                showing.join(LOOK)
            elif not all(map(keys.press, next_keys(LOOK))):
                return False
            else:
                keys.look()
    finally:
        if keys is not None:
            keys.let_go()
    for failure in failures:
        if isinstance(failure, Exception):
            raise failure
    return True


def recent_records(directory: RunDirectory) -> list[Record]:
    """Return the newest events, episodes, commands and the last decision of a run, oldest first."""
    with Database(directory.database) as database:
        found: list[Record] = [
            *read(database, Event, f"WHERE kind != 'PartySeen' ORDER BY tick DESC, event_id DESC LIMIT {RECENT}"),
            *read(database, EpisodeEnded, f"ORDER BY last_tick DESC LIMIT {RECENT}"),
            *read(database, Step, f"ORDER BY tick DESC LIMIT {RECENT}"),
            *read(database, DecisionMade, f"WHERE {VALID} ORDER BY decision_id DESC LIMIT 1"),
        ]
    return found[::-1]


def _print(lines: Iterable[str]) -> int:
    for line in lines:
        say(line)
        sys.stdout.flush()
    return 0


def actions(options: Options) -> int:
    """List actions, or stream them."""
    directory = opened_run(options).directory
    metadata = directory.read_metadata()
    if options.stream:
        with when_stopped(f"no longer following run {directory.run_id}; it continues"):
            lines = control.watch(directory)
            happened = (action for line in lines for action in as_actions(line.records, line.now.at, metadata.facts))
            return _print(msgspec.json.encode(it).decode() if options.json else _line(it) for it in happened)
    check_pages(options)
    query = ActionQuery(options.kind, options.action, options.search, None, None, True, options.page, options.page_size)
    found = ActionLog().page(directory, metadata, query)
    if not options.json:
        say(*map(_line, reversed(found.actions)))
    return answer(options, found, f"{found.total_count:,} actions")


def _line(action: Action) -> str:
    context: dict[str, Any] = dict(action.context)
    tick = context.pop("tick", "")
    if "reward" in context:  # it is a command
        known = context.get("reasoning") or context.get("location")
    else:
        shown = (item for item in context.items() if isinstance(item[1], str | int) and item[1] != "")
        known = ", ".join(f"{name} {value}" for name, value in shown)
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
