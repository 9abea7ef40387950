"""`ptp pause`, `step`, `stop`, `rollback` and `set`: steer a live run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ptp.cli.common import RUN_HELP, data_dir, parse_common
from ptp.cli.parser import Parser
from ptp.config.flags import COMMON
from ptp.config.tree import BY_FLAG
from ptp.errors import UnknownName, UsageError

SET = """Change tick rates, limits or command settings of a live run.

examples:
  ptp set max-ticks=500
  ptp set --tick-rate-base 60 --max-time 3600"""


PAUSE = """Hold a live run; `ptp resume` lets it go on.

examples:
  ptp pause
  ptp step 5
  ptp resume"""

STOP = """End a live run as Ctrl-C would.

examples:
  ptp stop
  ptp stop --run 01a1e290"""

STEP = """Let a live run play N ticks, then hold it.

examples:
  ptp step
  ptp step 5"""

ROLLBACK = """Take a live run back by N of its snapshots in memory; what came after is given up.

examples:
  ptp rollback
  ptp rollback 3"""


def _ask(parser: Parser, argv: list[str], verb: str, **arguments: Any) -> int:
    parser.add_argument("--run", default="latest", metavar="RUN", help=RUN_HELP)
    options, system = parse_common(parser, argv)

    from ptp.cli.output import print_json, say
    from ptp.runner.control import ask
    from ptp.runs.library import find_run

    given = {name: function(options) for name, function in arguments.items()}
    directory = find_run(data_dir(system), options.run)
    answer = ask(directory, verb, **given)
    if options.json:
        print_json(answer)
    elif not system.quiet:
        say(f"{verb}: run {directory.run_id} is at tick {answer['tick']}")
    return 0


def pause(argv: list[str]) -> int:
    """Hold a live run."""
    return _ask(Parser("ptp pause", PAUSE), argv, "pause")


def stop(argv: list[str]) -> int:
    """End a live run."""
    return _ask(Parser("ptp stop", STOP), argv, "stop")


def step(argv: list[str]) -> int:
    """Let a live run play a few ticks, then hold it."""
    parser = Parser("ptp step", STEP)
    parser.add_argument("ticks", metavar="N", nargs="?", type=int, default=1, help="Ticks to play (default: 1).")
    return _ask(parser, argv, "step", ticks=lambda options: options.ticks)


def rollback(argv: list[str]) -> int:
    """Take a live run back by a few snapshots."""
    parser = Parser("ptp rollback", ROLLBACK)
    parser.add_argument("count", metavar="N", nargs="?", type=int, default=1, help="Snapshots to go back (default: 1).")
    return _ask(parser, argv, "rollback", count=lambda options: options.count)


def change(argv: list[str]) -> int:
    """Change settings of a live run."""
    parser = Parser("ptp set", SET)
    parser.add_argument("settings", metavar="SETTING=VALUE", nargs="+", help="A flag of `ptp run`, without its dashes.")
    return _ask(parser, list(_plain(argv)), "set", flags=_settings)


def _plain(argv: list[str]) -> Iterator[str]:
    """Return the words of a command line with `--max-ticks 500` written as `max-ticks=500`."""
    words = iter(argv)
    for word in words:
        flag, equals, value = word.partition("=")
        if flag in BY_FLAG and flag not in COMMON:
            value = value if equals else next(words, "")
            yield f"{flag[2:]}={'' if value.startswith('--') else value}"
        elif flag.startswith("--") and flag not in {*COMMON, "--run", "--json", "--help"}:
            raise UnknownName("flag", flag, list(BY_FLAG), "see `ptp run --help`")
        else:
            yield word


def _settings(options: Any) -> dict[str, str]:
    flags = {}
    for text in options.settings:
        name, equals, value = text.partition("=")
        if not equals:
            raise UsageError(f"{text!r} is not a setting; write it as max-ticks=500")
        if not value:
            raise UsageError(f"{name} needs a value; write it as {name}=500")
        flags["--" + name.removeprefix("--")] = value
    return flags
