"""What a person sees while something is under way."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from ptp.cli.output import is_terminal
from ptp.config import RunConfig
from ptp.engine import Progress
from ptp.records import Notice, Record, RunResult
from ptp.sinks import RunContext, Sink

NARROW = 80  # columns below which a bar shows only how far it is


class Silent(Sink):
    """Shows nothing, and remembers where the run is kept and at which tick it was taken up."""

    inline = True
    directory: Path | None = None
    start = 0

    def began(self, run: RunContext) -> None:
        """Remember the run."""
        self.directory, self.start = run.path, run.play.progress.ticks


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
        said = "interrupted before anything was played; nothing new was recorded"
        if watcher.directory is not None:
            run = watcher.directory.name
            said = (
                f"interrupted while run {run} was being closed; what it played is kept, `ptp resume {run}` resumes it"
            )
        stop.args = (said,)
        raise


def _facts(progress: Progress) -> str:
    if progress.signals.values:
        return ", ".join(f"{name} {value:g}" for name, value in progress.signals.values.items())
    last = "" if progress.last_reward is None else f", last {progress.last_reward:g}"
    return f"episode {progress.episodes + 1}, reward {progress.reward:g}{last}"


class Lines(Silent):
    """A line every few seconds, for logs and pipes, and at once what a person should know."""

    every = 5.0
    hint = ""

    def __init__(self, verbose: bool) -> None:
        self._verbose = verbose

    def began(self, run: RunContext) -> None:
        """Say where the run is kept."""
        super().began(run)
        self._progress = run.play.progress
        self._at = run.play.progress.elapsed
        self.say(f"recording in {run.path}{self.hint}")

    def took(self, records: Sequence[Record]) -> None:
        """Show notices at once, and progress when it is time."""
        for record in records:
            if type(record) is Notice and (record.level != "info" or self._verbose):
                self.show_notice(record)
        if abs(self._progress.elapsed - self._at) >= self.every:
            self._at = self._progress.elapsed
            self.show(self._progress)

    def show(self, progress: Progress) -> None:
        """Show how far the run is."""
        self.say(f"tick {progress.ticks}: {_facts(progress)}")

    def show_notice(self, notice: Notice) -> None:
        """Show what a person should know."""
        self.say(f"{notice.level} at tick {notice.tick}: {notice.message}")

    def say(self, text: str) -> None:
        """Print a line; a run continues when nobody reads it."""
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

    class Bar(Lines):
        """A progress bar; without a limit it only counts."""

        every = 0.1
        hint = "; Ctrl-C stops it"
        task: TaskID

        def began(self, run: RunContext) -> None:
            super().began(run)
            name = f"{config.agent.name} in {run.metadata.world.name}"
            self.task = bar.add_task(name, total=limit, count="", facts="")

        def say(self, text: str) -> None:
            console.print(text, style="dim", highlight=False, soft_wrap=True)

        def show(self, progress: Progress) -> None:
            count = f"tick {progress.ticks:,}" + (f" of {limit:,}" if limit else "")
            bar.update(self.task, completed=progress.ticks, count=count, facts=_facts(progress))

        def ended(self, result: RunResult) -> None:
            self.show(self._progress)

        def show_notice(self, notice: Notice) -> None:
            style = {"info": "dim", "warning": "yellow"}.get(notice.level, "red")
            console.print(f"tick {notice.tick}: {notice.message}", style=style, highlight=False, markup=False)

    columns: tuple[ProgressColumn, ...] = (texts[0], BarColumn(20), *texts[1:], TimeElapsedColumn())
    if console.width < NARROW:
        columns = (BarColumn(8), *texts[1:])
    with RichProgress(*columns, console=console, transient=True) as bar:
        yield Bar(config.system.verbose)
