"""What a person sees while a run goes on."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ptp.config import RunConfig
from ptp.engine import Engine, Notice, Progress
from ptp.runner import Watcher


@contextmanager
def choose_watcher(config: RunConfig, quiet: bool) -> Iterator[Watcher]:
    """Return a progress bar on a terminal, plain lines elsewhere, and silence when asked for."""
    if quiet:
        yield Watcher()
    elif sys.stderr.isatty():
        with _bar(config) as watcher:
            yield watcher
    else:
        yield Lines(config.system.verbose)


def _facts(progress: Progress) -> str:
    last = "" if progress.last_reward is None else f", last {progress.last_reward:g}"
    return f"episode {progress.episodes + 1}, reward {progress.reward:g}{last}"


class Lines(Watcher):
    """A line every few seconds, for logs and pipes."""

    EVERY = 5.0

    def __init__(self, verbose: bool) -> None:
        self._verbose = verbose
        self._at = time.monotonic()

    def began(self, directory: Path, engine: Engine) -> None:
        """Say where the run is kept."""
        sys.stderr.write(f"recording in {directory}\n")

    def ticked(self, progress: Progress) -> None:
        """Say how far it is."""
        if time.monotonic() - self._at >= self.EVERY:
            self._at = time.monotonic()
            sys.stderr.write(f"tick {progress.ticks}: {_facts(progress)}\n")

    def noticed(self, notice: Notice) -> None:
        """Say what a person should know."""
        if notice.level != "info" or self._verbose:
            sys.stderr.write(f"{notice.level} at tick {notice.tick}: {notice.message}\n")


@contextmanager
def _bar(config: RunConfig) -> Iterator[Watcher]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as RichProgress

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[facts]}"))

    class Bar(Watcher):
        """A progress bar; without a limit it only counts."""

        task: TaskID

        def began(self, directory: Path, engine: Engine) -> None:
            name = f"{config.agent.name} in {engine.world.spec.name}"
            self.task = bar.add_task(name, total=config.limits.max_ticks, facts="")

        def ticked(self, progress: Progress) -> None:
            bar.update(self.task, completed=progress.ticks, facts=_facts(progress))

        def noticed(self, notice: Notice) -> None:
            if notice.level != "info" or config.system.verbose:
                style = "yellow" if notice.level == "warning" else "dim" if notice.level == "info" else "red"
                console.print(f"tick {notice.tick}: {notice.message}", style=style, highlight=False, markup=False)

    with RichProgress(*columns, TimeElapsedColumn(), console=console, transient=True) as bar:
        yield Bar()
