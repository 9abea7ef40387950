"""`ptp actions`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import msgspec

from ptp.cli.common import check_pages, opened_run, when_stopped
from ptp.cli.output import DIM, answer, paint
from ptp.cli.parser import Options
from ptp.recording import RunDirectory
from ptp.runner.control import watch
from ptp.runs.actions import Action, ActionLog, ActionQuery, as_actions


def main(options: Options) -> int:
    """List actions, or stream them."""
    directory = opened_run(options).directory
    if options.stream:
        with when_stopped(f"no longer following run {directory.run_id}; it continues"):
            return _stream(directory, options.json)
    check_pages(options)
    query = ActionQuery(options.kind, options.action, options.search, None, None, True, options.page, options.page_size)
    found = ActionLog().page(directory, directory.read_metadata(), query)
    if not options.json:
        sys.stdout.writelines(f"{_line(action)}\n" for action in reversed(found.actions))
    return answer(options, found, f"{found.total_count:,} actions")


def _stream(directory: RunDirectory, as_json: bool) -> int:
    """Print each action as it happens."""
    for action in _live(directory):
        text = msgspec.json.encode(action).decode() if as_json else _line(action)
        sys.stdout.write(text + "\n")
        sys.stdout.flush()
    return 0


def _live(directory: RunDirectory) -> Iterator[Action]:
    for line in watch(directory):
        yield from as_actions(line.records, line.now.at)


def _line(action: Action) -> str:
    context: dict[str, Any] = dict(action.context)
    tick = context.pop("tick", "")
    is_command = "reward" in context
    known = context.get("reasoning") or context.get("location") if is_command else _details(context)
    return f"{tick:>8}  {paint(action.timestamp[11:23], DIM)}  {action.action:<16} {known or ''}".rstrip()


def _details(context: dict[str, Any]) -> str:
    return ", ".join(
        f"{name} {value}" for name, value in context.items() if isinstance(value, str | int) and value != ""
    )
