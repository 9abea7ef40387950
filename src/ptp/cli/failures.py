"""What went wrong, as one line and an exit code."""

from __future__ import annotations

import errno
import json
import os
import signal
import sys

from ptp.cli.main import Terminated
from ptp.cli.output import runnable
from ptp.errors import PtpError

REMEDIES = {
    errno.EACCES: "check who owns it, or choose another place",
    errno.EPERM: "check who owns it, or choose another place",
    errno.EROFS: "choose another place",
    errno.ENOSPC: "free some space",
    errno.EMFILE: "raise the limit with `ulimit -n 1024`",
}
UNWRITABLE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}
LONGEST = 300  # letters of an error that is not ours
INTERRUPTED = "interrupted; nothing is left half done, and the same command can be run again"


def report(problem: KeyboardInterrupt | Exception, words: list[str], *, verbose: bool) -> int:
    """Report in one line what ended a verb, and return the exit code; with *verbose*, a bug of ours is raised."""
    if isinstance(problem, KeyboardInterrupt):
        terminated = isinstance(problem, Terminated)
        start = "\n" if sys.stderr.isatty() and not terminated else ""  # the terminal has written ^C
        sys.stderr.write(f"{start}ptp: {runnable(problem.args[0] if problem.args else INTERRUPTED, words)}\n")
        return 128 + (signal.SIGTERM if terminated else signal.SIGINT)
    if isinstance(problem, BrokenPipeError):
        _close_output()  # the reader of a pipe has left; nobody is left to report to
        return 1
    if isinstance(problem, OSError) and problem.filename is None and problem.errno in UNWRITABLE:
        _close_output()  # it may be what can't be written
        sys.stderr.write(f"ptp: the output can't be written: {problem.strerror}; free some space\n")
        return 1
    if isinstance(problem, PtpError):
        message = runnable(str(problem), words)
    elif verbose:
        raise problem
    elif isinstance(problem, OSError) and problem.filename is not None:
        remedy = REMEDIES.get(problem.errno or 0, "check that it can be used")
        message = f"{os.fsdecode(problem.filename)}: {problem.strerror}; {remedy}"
    else:
        shown = " ".join(repr(problem).split())
        shown = shown if len(shown) <= LONGEST else f"{shown[:LONGEST]}..."
        message = f"internal error: {shown}; run it again with -v for the trace"
    if "--json" in words:
        sys.stdout.write(json.dumps({"error": {"type": type(problem).__name__, "message": message}}) + "\n")
    sys.stderr.write(f"ptp: {message}\n")
    return problem.exit_code if isinstance(problem, PtpError) else 1


def _close_output() -> None:
    """Point standard output at nothing, so that nothing is written to it when Python ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
