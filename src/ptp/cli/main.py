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
    function: str = "main"


VERB_GROUPS = {
    "play": {
        "run": Verb("ptp.cli.run", "play an agent in a world and record everything"),
        "resume": Verb("ptp.cli.resume", "go on with a run that crashed, stopped or is paused"),
        "fork": Verb("ptp.cli.fork", "start a new run from any tick of another"),
        "worlds": Verb("ptp.cli.worlds", "list the worlds that can be played"),
        "agents": Verb("ptp.cli.agents", "list the agents that can play"),
    },
    "look": {
        "runs": Verb("ptp.cli.runs", "list recorded runs"),
        "show": Verb("ptp.cli.show", "tell the story of one run"),
        "replay": Verb("ptp.cli.replay", "play a recorded run again and compare every tick"),
        "dashboard": Verb("ptp.cli.dashboard", "watch and steer runs in the browser"),
        "watch": Verb("ptp.cli.watch", "watch a live run in the terminal"),
        "status": Verb("ptp.cli.status", "tell how a run stands now"),
        "actions": Verb("ptp.cli.actions", "list or stream what was done and what happened"),
        "screenshot": Verb("ptp.cli.screenshot", "list pictures, show them in the terminal, and write them to files"),
        "metrics": Verb("ptp.cli.metrics", "tell the figures of a run"),
        "logs": Verb("ptp.cli.logs", "show or follow a run's log"),
        "video": Verb("ptp.cli.video", "make a video of a recorded run from its tape"),
        "export": Verb("ptp.cli.export", "write a run's tables as JSON, CSV, Parquet or JSON lines"),
    },
    "steer a live run": {
        "pause": Verb("ptp.cli.steer", "hold a live run", "pause"),
        "step": Verb("ptp.cli.steer", "let a live run play a few ticks, then hold it", "step"),
        "set": Verb("ptp.cli.steer", "change tick rates and limits of a live run", "change"),
        "stop": Verb("ptp.cli.steer", "end a live run", "stop"),
        "rollback": Verb("ptp.cli.steer", "take a live run back by a few snapshots", "rollback"),
        "snapshot": Verb("ptp.cli.snapshot", "take, list, check, restore and share snapshots"),
    },
    "keep house": {
        "du": Verb("ptp.cli.du", "tell how much the runs take"),
        "tag": Verb("ptp.cli.tag", "give a run words to find and keep it by"),
        "prune": Verb("ptp.cli.prune", "remove old runs, or make them small"),
        "cleanup": Verb("ptp.cli.cleanup", "remove what can be made again"),
        "db": Verb("ptp.cli.db", "bring runs into the central database, and tell how it stands"),
    },
    "settings and versions": {
        "config": Verb("ptp.cli.config", "show, check, migrate and describe settings"),
        "schema": Verb("ptp.cli.schema", "migrate databases to another schema and verify them"),
        "drift": Verb("ptp.cli.drift", "tell how a config file or a database differs from what it should be"),
        "version": Verb("ptp.cli.version", "tell every version, and whether they fit together"),
        "completion": Verb("ptp.cli.completion", "print the completion of words for bash or zsh"),
    },
}
VERBS = {name: verb for verbs in VERB_GROUPS.values() for name, verb in verbs.items()}

USAGE = """The flight recorder and control tower for game-playing agents.

try:
  ptp run --world FrozenLake-v1 --agent random --max-ticks 1000
  ptp runs
  ptp replay latest --verify

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
        sys.stdout.write(USAGE.format(verbs="\n".join(map(_describe, VERB_GROUPS))))
        return 0
    if words[0] == "--version":
        sys.stdout.write(f"ptp {__version__}\n")
        return 0
    name, *rest = words
    if name not in VERBS:
        from ptp.errors import UnknownName

        raise UnknownName("verb", name, list(VERBS), "see `ptp --help`")
    from importlib import import_module

    verb: Callable[[list[str]], int] = getattr(import_module(VERBS[name].module), VERBS[name].function)
    return verb(rest)


def _describe(group: str) -> str:
    width = max(map(len, VERBS))
    lines = [f"  {name:<{width}}  {verb.summary}" for name, verb in VERB_GROUPS[group].items()]
    return "\n".join([f"{group}:", *lines, ""])


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
