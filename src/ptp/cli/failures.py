"""What went wrong, as one line and an exit code."""

from __future__ import annotations

import errno
import json
import os
import sys

from ptp.cli.output import runnable
from ptp.errors import PtpError

REMEDIES = {
    errno.EACCES: "check who owns it, or choose another place",
    errno.EPERM: "check who owns it, or choose another place",
    errno.EROFS: "choose another place",
    errno.ENOSPC: "free some space",
}
UNWRITABLE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}
LONGEST = 300  # letters of an error that is not ours


def report(problem: Exception, words: list[str], *, verbose: bool) -> int:
    """Tell what went wrong in one line, and return the exit code; with *verbose*, a mistake of ours is raised."""
    if isinstance(problem, BrokenPipeError):
        _close_output()  # the reader of a pipe has gone; there is nobody left to tell
        return 1
    if isinstance(problem, OSError) and problem.filename is None and problem.errno in UNWRITABLE:
        _close_output()  # it may be what can't be written
        sys.stderr.write(f"ptp: what was to be written has no place: {problem.strerror}; free some space\n")
        return 1
    known = isinstance(problem, PtpError)
    if not known and verbose:
        raise problem
    message = runnable(str(problem), words) if known else _foreign(problem)
    if "--json" in words:
        sys.stdout.write(json.dumps({"error": {"type": type(problem).__name__, "message": message}}) + "\n")
    sys.stderr.write(f"ptp: {message}\n")
    return problem.exit_code if isinstance(problem, PtpError) else 1


def _foreign(problem: Exception) -> str:
    """Return an error that is not ours in one line: a file that can't be used has a remedy, all else is a mistake."""
    if isinstance(problem, OSError) and problem.filename is not None:
        remedy = REMEDIES.get(problem.errno or 0, "check that it can be used")
        return f"{os.fsdecode(problem.filename)}: {problem.strerror}; {remedy}"
    told = " ".join(repr(problem).split())
    told = told if len(told) <= LONGEST else f"{told[:LONGEST]}..."
    return f"internal error: {told}; run it again with -v for the trace"


def _close_output() -> None:
    """Lead standard output nowhere, so that nothing is written to it when Python ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
