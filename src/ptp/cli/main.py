"""Finding the verb, and turning errors into one line and an exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from ptp import __version__

if TYPE_CHECKING:
    from collections.abc import Callable


class Verb(NamedTuple):
    """One word of the command line."""

    module: str
    summary: str


VERBS = {
    "run": Verb("ptp.cli.run", "play an agent in a world and record everything"),
    "runs": Verb("ptp.cli.runs", "list recorded runs"),
    "show": Verb("ptp.cli.show", "tell the story of one run"),
    "replay": Verb("ptp.cli.replay", "play a recorded run again and compare every tick"),
    "worlds": Verb("ptp.cli.worlds", "list the worlds that can be played"),
    "agents": Verb("ptp.cli.agents", "list the agents that can play"),
    "config": Verb("ptp.cli.config", "show, check and describe settings"),
}

USAGE = """The flight recorder and control tower for game-playing agents.

try:
  ptp run --world FrozenLake-v1 --agent random --max-ticks 1000
  ptp runs
  ptp replay latest --verify

verbs:
{verbs}

`ptp VERB --help` tells more about each.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        code = _dispatch(words)
        sys.stdout.flush()
    except KeyboardInterrupt:
        sys.stderr.write("\nptp: interrupted\n")
        return 130
    except BrokenPipeError:
        # The reader of a pipe has gone; there is nobody left to tell.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as problem:  # noqa: BLE001 - the edge of the process; told to the user, or raised with -v
        return _report(problem, words)
    return code


def _dispatch(words: list[str]) -> int:
    if not words or words[0] in {"-h", "--help", "help"}:
        if len(words) > 1 and words[0] == "help":
            return _dispatch([words[1], "--help"])
        width = max(map(len, VERBS))
        verbs = "\n".join(f"  {name:<{width}}  {verb.summary}" for name, verb in VERBS.items())
        sys.stdout.write(USAGE.format(verbs=verbs))
        return 0
    if words[0] == "--version":
        sys.stdout.write(f"ptp {__version__}\n")
        return 0
    name, *rest = words
    if name not in VERBS:
        from ptp.errors import UnknownName

        raise UnknownName("verb", name, list(VERBS), "see `ptp --help`")
    from importlib import import_module

    verb: Callable[[list[str]], int] = import_module(VERBS[name].module).main
    return verb(rest)


def _report(problem: Exception, words: list[str]) -> int:
    from ptp.errors import PtpError

    known = isinstance(problem, PtpError)
    if not known and {"-v", "--verbose"} & set(words):
        raise problem
    message = str(problem) if known else f"internal error: {problem!r}; run it again with -v for the trace"
    if "--json" in words:
        import json

        sys.stdout.write(json.dumps({"error": {"type": type(problem).__name__, "message": message}}) + "\n")
    sys.stderr.write(f"ptp: {message}\n")
    return problem.exit_code if isinstance(problem, PtpError) else 1
