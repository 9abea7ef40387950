"""What went wrong, as one line and an exit code."""

from __future__ import annotations

import errno
import json
import os
import signal
import sys

from ptp.cli.output import runnable
from ptp.cli.signals import Terminated
from ptp.errors import PtpError

REMEDIES = {
    errno.EACCES: "check who owns it, or choose another place",
    errno.EPERM: "check who owns it, or choose another place",
    errno.EROFS: "choose another place",
    errno.ENOSPC: "free some space",
}
UNWRITABLE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}
LONGEST = 300  # letters of an error that is not ours
INTERRUPTED = "interrupted; nothing is left half done, and the same command can be run again"


def report(problem: KeyboardInterrupt | Exception, words: list[str], *, verbose: bool) -> int:
    """Report in one line what ended a verb, and return the exit code; with *verbose*, a bug of ours is raised."""
    if isinstance(problem, KeyboardInterrupt):
        return _report_stop(problem, words)
    if isinstance(problem, BrokenPipeError):
        _close_output()  # the reader of a pipe has left; nobody is left to report to
        return 1
    if isinstance(problem, OSError) and problem.filename is None and problem.errno in UNWRITABLE:
        _close_output()  # it may be what can't be written
        sys.stderr.write(f"ptp: the output can't be written: {problem.strerror}; free some space\n")
        return 1
    known = isinstance(problem, PtpError)
    if not known and verbose:
        raise problem
    message = runnable(str(problem), words) if known else _foreign(problem)
    if "--json" in words:
        sys.stdout.write(json.dumps({"error": {"type": type(problem).__name__, "message": message}}) + "\n")
    sys.stderr.write(f"ptp: {message}\n")
    return problem.exit_code if isinstance(problem, PtpError) else 1


def _report_stop(stop: KeyboardInterrupt, words: list[str]) -> int:
    terminated = isinstance(stop, Terminated)
    start = "\n" if sys.stderr.isatty() and not terminated else ""  # the terminal has written ^C
    message = runnable(stop.args[0] if stop.args else INTERRUPTED, words)
    sys.stderr.write(f"{start}ptp: {message}\n")
    return 128 + (signal.SIGTERM if terminated else signal.SIGINT)


def _foreign(problem: Exception) -> str:
    """Return an error that is not ours in one line: a file that can't be used has a remedy, all else is a bug."""
    if isinstance(problem, OSError) and problem.filename is not None:
        remedy = REMEDIES.get(problem.errno or 0, "check that it can be used")
        return f"{os.fsdecode(problem.filename)}: {problem.strerror}; {remedy}"
    shown = " ".join(repr(problem).split())
    shown = shown if len(shown) <= LONGEST else f"{shown[:LONGEST]}..."
    return f"internal error: {shown}; run it again with -v for the trace"


def _close_output() -> None:
    """Point standard output at nothing, so that nothing is written to it when Python ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
