"""Finding the verb, turning errors into one line and an exit code, and hearing signals.

The rest of ptp is imported when a verb runs, and help when it is asked for, so that every command line starts fast.
"""

from __future__ import annotations

import io
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any

from ptp import __version__
from ptp.cli.verb import Verb
from ptp.cli.verbs import VERBS
from ptp.errors import PtpError, UnknownName

if TYPE_CHECKING:
    from ptp.cli.parser import Options

HELP = {"-h", "--help"}
AGAIN = 0.005  # seconds until a signal that was swallowed is sent again


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    verbose, began = not {"-v", "--verbose"}.isdisjoint(words), time.monotonic()
    _prepare_streams()
    try:
        with hearing():
            try:
                code = _dispatch(words)
            except SystemExit as leaving:  # argparse has printed a help text
                code = int(leaving.code or 0)
            sys.stdout.flush()
            if verbose:
                sys.stderr.write(f"ptp {__version__}: {words[0]} took {time.monotonic() - began:.2f} s\n")
            return code
    except (KeyboardInterrupt, Exception) as problem:  # noqa: BLE001 - the edge of the process
        try:
            from ptp.cli.failures import report
        except OSError as out_of_files:  # what failed may still hold every file that this process may open
            sys.stderr.write(f"ptp: {out_of_files.strerror}; raise the limit with `ulimit -n 1024`\n")
            return 1
        return report(problem, words, verbose=verbose)


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
        from ptp.cli.layout import describe, overview

        sys.stdout.write(overview() if verb is None else describe(name, verb))
        return 0
    from ptp.cli.parser import make_parser

    options = make_parser(name, verb).parse(rest)
    module, _, function = verb.body.partition(":")
    try:
        body: Callable[[Options], int] = getattr(import_module(f"ptp.cli.{module}"), function)
    except ModuleNotFoundError as problem:
        if problem.name is None or problem.name.startswith("ptp."):
            raise
        raise PtpError(f"`ptp {name}` needs the package {problem.name}; install it with pip") from None
    return body(options)


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


class Terminated(KeyboardInterrupt):
    """SIGTERM, which ends a verb as Ctrl-C does."""


def hearing() -> AbstractContextManager[object]:
    """Return what hears signals while entered; only the main thread can."""
    return _Ears() if threading.current_thread() is threading.main_thread() else nullcontext()


class _Ears:
    """Raises at Ctrl-C and SIGTERM, and sends a signal again whose error was swallowed.

    An emulator's compiled code prints errors that are raised inside it, and continues; a signal mostly comes there.
    """

    def __enter__(self) -> None:
        self._missed = signal.SIGINT
        self._hooks = sys.excepthook, sys.unraisablehook
        self._old = {number: signal.signal(number, self._hear) for number in (signal.SIGTERM, signal.SIGALRM)}
        sys.excepthook, sys.unraisablehook = self._printed, self._swallowed
        self._old[signal.SIGINT] = signal.getsignal(signal.SIGINT)
        if self._old[signal.SIGINT] is not signal.SIG_IGN:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def __exit__(self, *problem: object) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)
        sys.excepthook, sys.unraisablehook = self._hooks
        for number, handler in self._old.items():
            signal.signal(number, handler or signal.SIG_DFL)

    def _hear(self, number: int, frame: FrameType | None) -> None:
        if number == signal.SIGTERM:
            raise Terminated
        signal.raise_signal(self._missed)

    def _printed(self, kind: type[BaseException], problem: BaseException, trace: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            self._repeat(kind)
        else:
            self._hooks[0](kind, problem, trace)

    def _swallowed(self, caught: Any) -> None:
        if issubclass(caught.exc_type, KeyboardInterrupt):
            self._repeat(caught.exc_type)
        else:
            self._hooks[1](caught)

    def _repeat(self, kind: type[BaseException]) -> None:
        self._missed = signal.SIGTERM if issubclass(kind, Terminated) else signal.SIGINT
        signal.setitimer(signal.ITIMER_REAL, AGAIN)
