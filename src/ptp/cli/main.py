"""Finding the verb, and turning errors into one line and an exit code."""

from __future__ import annotations

import io
import os
import signal
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from ptp import __version__
from ptp.cli.signals import Terminated, hearing

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
  ptp run --world tallgrass --agent explorer --tick-rate-base 0 --max-ticks 1000
  ptp show latest
  ptp replay latest --verify
  ptp dashboard

{verbs}
`ptp VERB --help` tells more about each. Every verb has --data-dir, --json, -q and -v.
"""

STOPPED = "interrupted; nothing is left half done, and the same command can be run again"


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    _prepare_streams()
    try:
        with hearing():
            return _run(words)
    except KeyboardInterrupt as stop:
        return _tell_stop(stop, words)
    except Exception as problem:  # noqa: BLE001 - the edge of the process; told to the user, or raised with -v
        from ptp.cli.failures import report

        return report(problem, words, verbose=_is_verbose(words))


def _run(words: list[str]) -> int:
    began = time.monotonic()
    try:
        code = _dispatch(words)
    except SystemExit as leaving:  # argparse has printed a help text
        code = int(leaving.code or 0)
    sys.stdout.flush()
    if _is_verbose(words):
        sys.stderr.write(f"ptp {__version__}: {words[0]} took {time.monotonic() - began:.2f} s\n")
    return code


def _is_verbose(words: list[str]) -> bool:
    return bool({"-v", "--verbose"} & set(words))


def _prepare_streams() -> None:
    """Let whatever is said go somewhere: closed streams lead nowhere, and no character is too much for an encoding."""
    if sys.stdin is None:
        sys.stdin = open(os.devnull)  # noqa: SIM115 - it stays open for as long as the process lives
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _tell_stop(stop: KeyboardInterrupt, words: list[str]) -> int:
    from ptp.cli.output import runnable

    terminated = isinstance(stop, Terminated)
    start = "\n" if sys.stderr.isatty() and not terminated else ""  # the terminal has written ^C
    message = runnable(stop.args[0] if stop.args else STOPPED, words)
    sys.stderr.write(f"{start}ptp: {message}\n")
    return 128 + (signal.SIGTERM if terminated else signal.SIGINT)


def _dispatch(words: list[str]) -> int:
    if not words or words[0] in {"-h", "--help", "help"}:
        if len(words) > 1 and words[0] == "help":
            return _dispatch([*words[1:], "--help"])
        _print_usage()
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


def _print_usage() -> None:
    from ptp.cli.layout import fit_text
    from ptp.cli.parser import help_width

    text = USAGE.format(verbs="\n".join(map(_describe, VERB_GROUPS)))
    sys.stdout.write(fit_text(text, help_width()))


def _describe(group: str) -> str:
    width = max(map(len, VERBS))
    lines = [f"  {name:<{width}}  {verb.summary}" for name, verb in VERB_GROUPS[group].items()]
    return "\n".join([f"{group}:", *lines, ""])
