"""`ptp actions`: list or stream what was done and what happened."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from ptp.cli.common import when_stopped
from ptp.cli.parser import Parser

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ptp.recording import RunDirectory
    from ptp.runs.answers import Action

DESCRIPTION = """List the action log of a run: commands that were applied, and events; or stream it as it grows.

examples:
  ptp actions
  ptp actions --stream
  ptp actions --search "needs rest" --kind commands
"""


def main(argv: list[str]) -> int:
    """Run the verb."""
    parser = Parser("ptp actions", DESCRIPTION)
    parser.add_argument(
        "--stream", action="store_true", help="Print what happens until the run ends; JSON lines with --json."
    )
    parser.add_argument("--kind", choices=("all", "commands", "events"), default="all", help="What to list.")
    parser.add_argument("--action", metavar="NAME", help="Only this command or kind of event.")
    parser.add_argument("--search", metavar="TEXT", help="Only with this text in a reason, command or event.")
    parser.add_argument("--page", type=int, default=1, metavar="N", help="The page, newest first (default: 1).")
    parser.add_argument("--page-size", type=int, default=20, metavar="N", help="Lines per page (default: 20).")

    from ptp.cli.output import print_json, say
    from ptp.cli.reading import parse_run
    from ptp.errors import UsageError
    from ptp.runs.actions import ActionLog, ActionQuery

    options, system, directory, metadata = parse_run(parser, argv)
    if options.stream:
        with when_stopped(f"run {directory.run_id} is no longer followed; it goes on"):
            return _stream(directory, options.json)
    if options.page < 1 or not 1 <= options.page_size <= 10_000:
        raise UsageError("--page is 1 or more, --page-size from 1 to 10000")
    query = ActionQuery(options.kind, options.action, options.search, None, None, True, options.page, options.page_size)
    found = ActionLog().page(directory, metadata, query)
    if options.json:
        print_json(found)
        return 0
    for action in reversed(found.actions):
        say(_line(action))
    if not system.quiet:
        say(f"{found.total_count:,} actions")
    return 0


def _stream(directory: RunDirectory, as_json: bool) -> int:
    """Print each action as it happens."""
    import msgspec

    for action in _live(directory):
        text = msgspec.json.encode(action).decode() if as_json else _line(action)
        sys.stdout.write(text + "\n")
        sys.stdout.flush()
    return 0


def _live(directory: RunDirectory) -> Iterator[Action]:
    import msgspec

    from ptp.runner.control import watch
    from ptp.web.live import as_actions, decode_line

    for text in watch(directory):
        line = decode_line(msgspec.json.encode(text))
        yield from as_actions(line.records, line.now.at)


def _line(action: Action) -> str:
    from ptp.cli.output import DIM, paint

    context: dict[str, Any] = dict(action.context)
    tick = context.pop("tick", "")
    is_command = "reward" in context
    known = context.get("reasoning") or context.get("location") if is_command else _words(context)
    return f"{tick:>8}  {paint(action.timestamp[11:23], DIM)}  {action.action:<16} {known or ''}".rstrip()


def _words(context: dict[str, Any]) -> str:
    return ", ".join(
        f"{name} {value}" for name, value in context.items() if isinstance(value, str | int) and value != ""
    )
