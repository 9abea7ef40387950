"""Python warnings, such as Gymnasium's, become notices of the run that they were raised in."""

from __future__ import annotations

import re
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from ptp.sinks import RunContext

COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_usual = warnings.showwarning
_hearing: dict[int, RunContext] = {}  # by the thread that plays
_changing = threading.Lock()


@contextmanager
def hearing_warnings(run: RunContext) -> Iterator[None]:
    """While entered, a warning of this thread is a notice of the run; so is one of any other, if one run plays."""
    global _usual
    thread = threading.get_ident()
    with _changing:
        if not _hearing:
            _usual, warnings.showwarning = warnings.showwarning, _show
        _hearing[thread] = run
    try:
        yield
    finally:
        with _changing:
            del _hearing[thread]
            if not _hearing:
                warnings.showwarning = _usual


def _show(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    runs = list(_hearing.values())
    run = _hearing.get(threading.get_ident(), runs[0] if len(runs) == 1 else None)
    if run is None:
        _usual(message, category, filename, lineno, file, line)
        return
    text = " ".join(COLOUR.sub("", str(message)).split()).removeprefix("WARN: ")
    run.notice("warning", "warned", f"{text} ({category.__name__} in {Path(filename).name}:{lineno})")
