"""`ptp run`, `resume` and `fork` play and summarise; `ptp replay` and `video` play a tape again."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from ptp.cli.common import named_run, opened_run, work_shown
from ptp.cli.output import STATUS_COLORS, answer, fact_lines, is_terminal, number, paint, program, say, suggestion_lines
from ptp.cli.parser import Options
from ptp.cli.show import seeds
from ptp.config import RunConfig
from ptp.config.files import read_values
from ptp.config.flags import given_values
from ptp.config.tree import BY_FLAG, build, merge
from ptp.engine import Progress
from ptp.errors import RunUnreadable, UsageError
from ptp.recording import RunDirectory
from ptp.recording.database import Database
from ptp.recording.directory import run_paths
from ptp.records import ErrorSeen, Notice, Record, RunResult
from ptp.replay import Replay, Tape
from ptp.replay.tape import ExportedTape, read_steps
from ptp.replay.travel import known_warnings
from ptp.replay.video import VideoPlan, make_video
from ptp.runner import fork, protocol, resume, run
from ptp.runner.control import ask
from ptp.runner.rerun import rerun
from ptp.runs import Run
from ptp.runs.settings import read_config
from ptp.sinks import RunContext, Sink

NARROW = 80  # columns below which a bar shows only how far it is


def run_new(options: Options) -> int:
    """Play a new run."""
    return play(options, options.config, lambda sinks: run(options.config, run_id=options.run_id, sinks=sinks))


def resume_run(options: Options) -> int:
    """Resume a run: where it is paused, or in this process."""
    found, config = _merged_config(options, keep=("world", "agent", "random_seed"))
    if found.is_live:
        now = ask(found.directory, protocol.Resume()).now
        assert now is not None
        return answer(options, now, f"run {found.id} resumed at tick {now.tick}")
    return play(options, config, lambda sinks: resume(found.directory, config, sinks=sinks, trusted=options.trust))


def fork_run(options: Options) -> int:
    """Play a new run from a tick of another."""
    parent, config = _merged_config(options, keep=("world",))

    def begin(sinks: list[Sink]) -> RunResult:
        at_tick, run_id = options.at_tick, options.run_id
        return fork(parent.directory, at_tick, config, run_id=run_id, sinks=sinks, trusted=options.trust)

    return play(options, config, begin)


def _merged_config(options: Options, keep: tuple[str, ...]) -> tuple[Run, RunConfig]:
    """Return a recorded run and its settings as options change them; those named in *keep* can't be changed."""
    given = given_values(options)
    for item in given:
        if item.section in keep or item.name in keep:
            raise UsageError(f"{item.flag} can't be changed for an existing run; leave it out")
    found = named_run(options)
    about_talking = {BY_FLAG[flag] for flag in ("--verbose", "--quiet", "--log-file")}
    recorded = read_values(found.path / "config.yaml")
    recorded = {item: value for item, value in recorded.items() if item not in about_talking}
    recorded[BY_FLAG["--data-dir"]] = str(found.path.parent.parent)
    return found, build(merge(recorded, given), given)


def play(options: Options, config: RunConfig, begin: Callable[[list[Sink]], RunResult]) -> int:
    """Play a run while showing how far it is, and summarise it; *begin* plays it for some sinks."""
    with choose_watcher(config, not options.talks) as watcher, explaining_stop(watcher):
        result = begin([watcher])
    answer(options, result, *_summary(result, config, watcher))
    if result.error:
        sys.stderr.write(f"ptp: {result.error}\n")
    return result.exit_code


def _summary(result: RunResult, config: RunConfig, watcher: Silent) -> Iterator[str]:
    ended = result.stop.message if result.stop else "see the error below"
    yield f"{paint(result.status, STATUS_COLORS[result.status])}: {ended}"
    seconds, pace = result.elapsed_seconds - watcher.elapsed, number(result.ticks_per_second)
    in_all = f", {result.ticks:,} in all" if watcher.start else ""
    seed = seeds(result.random_seed, config.system.random_seed)
    facts = {
        "run": result.run_id,
        "world": f"{result.world}, played by {result.agent}, seed {seed}",
        "ticks": f"{result.ticks - watcher.start:,} in {seconds:,.1f} s ({pace}/s){in_all}",
        "episodes": f"{result.episodes:,}",
        "reward": number(result.total_reward),
        "kept in": result.directory,
    }
    if result.signals:
        facts["game"] = ", ".join(f"{name} {value:g}" for name, value in result.signals.items())
    if result.total_cost:
        facts["cost"] = f"${result.total_cost:,.4f}"
    if result.report:
        facts["report"] = result.report
    yield from fact_lines(facts)
    folder = "" if config.system.data_dir == "var" else f" --data-dir {shlex.quote(config.system.data_dir)}"
    again = {} if result.status == "completed" else {"resume latest": "resume it"}
    commands = {
        **again,
        "dashboard": "see it in the browser, tick by tick",
        "replay latest --verify": "replay it and compare every tick",
        "show latest": "see how it went",
        "runs": "list every run",
    }
    yield from ("", "try next:")
    yield from suggestion_lines({f"{program()} {words}{folder}": why for words, why in commands.items()})


def replay_run(options: Options) -> int:
    """Replay a run, and fail when it differs."""
    if options.rerun_agent:
        return _rerun_agent(options)
    tape, first = _find_tape(options)
    replay = Replay(tape, first, trusted=options.trust)
    with closing(replay), known_warnings(), work_shown(options.verify and options.talks) as shown:
        for step in replay:
            shown("comparing", step.tick, tape.length)
            if options.talks and not options.verify:
                say(f"tick {step.tick}  episode {step.episode}  command {step.command}  reward {step.reward}")
    result, difference = replay.result, replay.result.difference
    if difference is None:
        start = f" from tick {result.from_tick}" if result.from_tick > 1 else ""
        equal = paint("equal", STATUS_COLORS["completed"])
        verdict = f"{equal}: {result.ticks:,} ticks{start} of {result.run_id} replayed, and every column is the same"
    else:
        different = paint("different", STATUS_COLORS["crashed"])
        is_not = (
            f"{difference.column} at tick {difference.tick} is {difference.expected} but replays as {difference.actual}"
        )
        verdict = f"{different}: {is_not}: {'; '.join(difference.why)}"
    code = answer(options, result, verdict, failed=not result.equal)
    if difference is not None:
        sys.stderr.write(f"ptp: the replay differs from the tape at tick {difference.tick}\n")
    return code


def _rerun_agent(options: Options) -> int:
    """Play a run's agent again against what its model answered, and fail at the first difference."""
    directory = opened_run(options).directory
    with known_warnings():
        result = rerun(directory, read_config(directory), trusted=options.trust)
    if result.equal:
        equal = paint("equal", STATUS_COLORS["completed"])
        verdict = f"{equal}: {result.ticks:,} ticks, and {result.calls:,} prompts of {result.run_id} are the same"
    else:
        different = paint("different", STATUS_COLORS["crashed"])
        verdict = "\n".join([f"{different}: {result.difference}", *result.diff])
    return answer(options, result, verdict, failed=not result.equal)


def _find_tape(options: Options) -> tuple[Tape, int]:
    """Return the tape to replay and the tick to begin at: of a run, or of a file that was exported from one."""
    path = Path(options.run)
    if path.suffix != ".jsonl":
        return Tape(opened_run(options).directory), options.from_tick
    steps = read_steps(path)
    first, last = steps[0], steps[-1]
    query = "SELECT 1 FROM steps WHERE tick = ? AND state_hash = ? AND (SELECT max(tick) FROM steps) >= ?"
    for folder in (path.absolute().parent.parent, *reversed(run_paths(options.folder))):
        directory = RunDirectory(folder)
        with suppress(RunUnreadable), Database(directory.database) as database:
            if any(database.rows(query, first.tick, first.state_hash, last.tick)):
                return ExportedTape(directory, steps), max(first.tick, options.from_tick)
    raise UsageError(
        f"{path}: no run in {options.folder} has its first step; name the folder of its run with --data-dir"
    )


def video(options: Options) -> int:
    """Make a video."""
    output = None if options.output is None else Path(options.output)
    if output is not None and output.suffix.lower() != ".mp4":
        raise UsageError(f"-o {output}: a video is an MP4 file; use a name that ends in .mp4")
    if output is not None and (output.is_dir() or not output.parent.is_dir()):
        raise UsageError(f"-o {output}: there is no folder {output.parent}; name a file in a folder that exists")
    run = opened_run(options)
    plan = VideoPlan(options.first, options.last, options.speed, options.overlay)
    last = options.last or run.summary().ticks or 0
    with work_shown(options.talks) as shown:
        made = make_video(run.directory, plan, output, lambda tick: shown("drawing", tick, last),
                          trusted=options.trust)  # fmt: skip
    return answer(
        options, made,
        f"{made.path}: {made.frames:,} pictures of ticks {made.from_tick:,} to {made.to_tick:,}, "
        f"{made.seconds:,.1f} s at {made.frames_per_second:g} per second, {made.bytes:,} bytes",
    )  # fmt: skip


class Silent(Sink):
    """Shows nothing, and remembers where the run is kept and at which tick it was taken up."""

    inline = True
    directory: Path | None = None
    start = 0
    elapsed = 0.0

    def began(self, run: RunContext) -> None:
        """Remember the run."""
        self.directory, self.start, self.elapsed = run.path, run.play.progress.ticks, run.play.progress.elapsed


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
            elif type(record) is ErrorSeen and record.trace and self._verbose:
                self.say(record.trace)
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
