"""Finding the verb, and turning errors into one line and an exit code.

The rest of ptp is imported when a verb runs, and help when it is asked for, so that every command line starts fast.
"""

from __future__ import annotations

import io
import os
import sys
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING

from ptp import __version__
from ptp.cli.signals import hearing
from ptp.cli.verb import Verb
from ptp.cli.verbs import VERBS
from ptp.errors import PtpError, UnknownName

if TYPE_CHECKING:
    from ptp.cli.parser import Options

HELP = {"-h", "--help"}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    _prepare_streams()
    try:
        with hearing():
            return _run(words)
    except (KeyboardInterrupt, Exception) as problem:  # noqa: BLE001 - the edge of the process
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
    """Make every stream usable: closed ones lead nowhere, and characters that an encoding lacks are replaced."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115 - open for as long as the process lives
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _dispatch(words: list[str]) -> int:
    if words[:1] == ["--version"]:
        sys.stdout.write(f"ptp {__version__}\n")
        return 0
    if words[:1] == ["help"]:
        words = [*words[1:], "--help"]
    name, verb, rest = find_verb(words)
    if verb is None or verb.verbs:
        from ptp.cli.help import describe, overview

        sys.stdout.write(overview() if verb is None else describe(name, verb))
        return 0
    from ptp.cli.parser import make_parser

    options = make_parser(name, verb).parse(rest)
    return _load(name, verb)(options)


def find_verb(words: Sequence[str]) -> tuple[str, Verb | None, Sequence[str]]:
    """Return the full name of the verb that a command line begins with, the verb, and the words after it."""
    known, path, found = VERBS, list[str](), None
    while known and len(words) > len(path) and words[len(path)] not in HELP:
        name = words[len(path)]
        names = [verb.name for verb in known]
        if name not in names:
            kind, prog = " ".join([*path, "verb"]), " ".join(["ptp", *path])
            raise UnknownName(kind, name, names, f"see `{prog} --help`")
        found = known[names.index(name)]
        known = found.verbs
        path.append(name)
    return " ".join(path), found, words[len(path) :]


def _load(name: str, verb: Verb) -> Callable[[Options], int]:
    module, _, function = verb.body.partition(":")
    try:
        body: Callable[[Options], int] = getattr(import_module(module), function)
    except ModuleNotFoundError as problem:
        if problem.name is None or problem.name.startswith("ptp."):
            raise
        raise PtpError(f"`ptp {name}` needs the package {problem.name}; install it with pip") from None
    return body
