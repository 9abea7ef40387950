"""What bodies of verbs share: finding the run they work on, working on many, and what an interruption says."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from ptp.cli.output import is_terminal
from ptp.cli.parser import Options
from ptp.errors import PtpError, UsageError
from ptp.recording.packed import is_packed
from ptp.runs import Run, find_run

REFRESH = 0.1  # seconds between two looks at a bar
Done = TypeVar("Done")


@contextmanager
def when_stopped(sentence: str) -> Iterator[None]:
    """Say this if Ctrl-C or SIGTERM ends what happens meanwhile."""
    try:
        yield
    except KeyboardInterrupt as stop:
        stop.args = (sentence,)
        raise


def each(
    paths: Sequence[Path], work: Callable[[Path], Done], report: Callable[[Done], None]
) -> tuple[list[Done], list[tuple[str, str]]]:
    """Work on each path and report it; one that fails is named, and does not keep the others from theirs."""
    done: list[Done] = []
    failed: list[tuple[str, str]] = []
    for path in paths:
        try:
            done.append(work(path))
        except PtpError as problem:
            failed.append((str(path), str(problem)))
            sys.stderr.write(f"ptp: {problem}\n")
        else:
            report(done[-1])
    return done, failed


def opened_run(options: Options, name: str | None = None) -> Run:
    """Return the run to read, and say so if it is archived, since opening it then takes longer."""
    run = Run(find_run(options.folder, name or options.run))
    if is_packed(run.directory.database):
        sys.stderr.write(f"ptp: run {run.id} is archived; reading a copy, `ptp prune --restore {run.id}` unpacks it\n")
    return run


def named_run(options: Options) -> Run:
    """Return the run that a command line names; without a name, the live or newest one."""
    return Run(find_run(options.folder, options.run))


def check_pages(options: Options) -> None:
    """Refuse pages that can't be."""
    if options.page < 1 or not 1 <= options.page_size <= 10_000:
        raise UsageError("--page must be 1 or more, --page-size from 1 to 10000")


@contextmanager
def work_shown(show: bool) -> Iterator[Callable[[str, int, int], None]]:
    """Return what shows the phase of long work, how far it is and how long; only a terminal shows it."""
    if not (show and is_terminal(sys.stderr)):
        yield lambda phase, done, total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    seen = 0.0

    def shown(phase: str, done: int, total: int) -> None:
        nonlocal seen
        if time.monotonic() - seen > REFRESH:
            seen = time.monotonic()
            bar.update(task, description=phase, completed=done, total=total)

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        yield shown
