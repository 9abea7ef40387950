"""What a person sees while something is under way."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ptp.cli.output import is_terminal
from ptp.config import RunConfig
from ptp.engine import Engine, Notice, Progress
from ptp.runner import Watcher

NARROW = 80  # columns below which a bar shows only how far it is
REFRESH = 0.1  # seconds between two looks at a bar


class Silent(Watcher):
    """Says nothing, and remembers where the run is kept."""

    directory: Path | None = None

    def began(self, directory: Path, engine: Engine) -> None:
        """Remember where the run is kept."""
        self.directory = directory


@contextmanager
def choose_watcher(config: RunConfig, quiet: bool) -> Iterator[Silent]:
    """Return a progress bar on a terminal, plain lines elsewhere, and silence when asked for."""
    if quiet:
        yield Silent()
    elif is_terminal(sys.stderr):
        with _bar(config) as watcher:
            yield watcher
    else:
        yield Lines(config.system.verbose)


@contextmanager
def explaining_stop(watcher: Silent) -> Iterator[None]:
    """Say what became of a run that was interrupted before or after it played; while it plays, it stops by itself."""
    try:
        yield
    except KeyboardInterrupt as stop:
        stop.args = (_stopped(watcher.directory),)
        raise


def _stopped(directory: Path | None) -> str:
    if directory is None:
        return "interrupted before anything was played; nothing new was recorded"
    run = directory.name
    return f"interrupted while run {run} was being closed; what it played is kept, `ptp resume {run}` resumes it"


def _facts(progress: Progress) -> str:
    signals = progress.signals
    if signals.badges is not None:
        return f"badges {signals.badges}, caught {signals.caught}"
    last = "" if progress.last_reward is None else f", last {progress.last_reward:g}"
    return f"episode {progress.episodes + 1}, reward {progress.reward:g}{last}"


class Lines(Silent):
    """A line every few seconds, for logs and pipes; a run continues when nobody reads them any more."""

    EVERY = 5.0

    def __init__(self, verbose: bool) -> None:
        self._verbose = verbose
        self._at = time.monotonic()

    def began(self, directory: Path, engine: Engine) -> None:
        """Say where the run is kept."""
        super().began(directory, engine)
        self._say(f"recording in {directory}")

    def ticked(self, progress: Progress) -> None:
        """Say how far it is."""
        if time.monotonic() - self._at >= self.EVERY:
            self._at = time.monotonic()
            self._say(f"tick {progress.ticks}: {_facts(progress)}")

    def noticed(self, notice: Notice) -> None:
        """Say what a person should know."""
        if notice.level != "info" or self._verbose:
            self._say(f"{notice.level} at tick {notice.tick}: {notice.message}")

    def _say(self, text: str) -> None:
        with suppress(OSError):
            sys.stderr.write(text + "\n")
            sys.stderr.flush()


@contextmanager
def _bar(config: RunConfig) -> Iterator[Silent]:
    from rich.console import Console
    from rich.progress import BarColumn, ProgressColumn, TaskID, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as RichProgress

    console = Console(stderr=True)
    texts = [TextColumn(f"{{task.{name}}}") for name in ("description", "fields[count]", "fields[facts]")]
    limit = config.limits.max_ticks

    class Bar(Silent):
        """A progress bar; without a limit it only counts."""

        task: TaskID

        def began(self, directory: Path, engine: Engine) -> None:
            super().began(directory, engine)
            console.print(f"recording in {directory}; Ctrl-C stops it", style="dim", highlight=False, soft_wrap=True)
            name = f"{config.agent.name} in {engine.world.spec.name}"
            self.task = bar.add_task(name, total=limit, count="", facts="")

        def ticked(self, progress: Progress) -> None:
            count = f"tick {progress.ticks:,}" + (f" of {limit:,}" if limit else "")
            bar.update(self.task, completed=progress.ticks, count=count, facts=_facts(progress))

        def noticed(self, notice: Notice) -> None:
            if notice.level != "info" or config.system.verbose:
                style = "yellow" if notice.level == "warning" else "dim" if notice.level == "info" else "red"
                console.print(f"tick {notice.tick}: {notice.message}", style=style, highlight=False, markup=False)

    columns: tuple[ProgressColumn, ...] = (texts[0], BarColumn(20), *texts[1:], TimeElapsedColumn())
    if console.width < NARROW:
        columns = (BarColumn(8), *texts[1:])
    with RichProgress(*columns, console=console, transient=True) as bar:
        yield Bar()


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
