"""`ptp run`, `resume` and `fork`: play with progress shown, then summarise."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator

from ptp.cli.common import named_run
from ptp.cli.output import STATUS_COLORS, answer, fact_lines, number, paint, program, suggestion_lines
from ptp.cli.parser import Options
from ptp.cli.progress import choose_watcher, explaining_stop
from ptp.cli.show import seeds
from ptp.config import RunConfig
from ptp.config.files import read_values
from ptp.config.flags import given_values
from ptp.config.tree import BY_FLAG, build, merge
from ptp.errors import UsageError
from ptp.records import RunResult
from ptp.runner import fork, protocol, resume, run
from ptp.runner.control import ask
from ptp.runs import Run
from ptp.sinks import Sink


def run_new(options: Options) -> int:
    """Play a new run."""
    return _play(options, options.config, lambda sinks: run(options.config, run_id=options.run_id, sinks=sinks))


def resume_run(options: Options) -> int:
    """Resume a run: where it is paused, or in this process."""
    found, config = _merged_config(options, keep=("world", "agent", "random_seed"))
    if found.is_live:
        now = ask(found.directory, protocol.Resume()).now
        assert now is not None
        return answer(options, now, f"run {found.id} resumed at tick {now.tick}")
    return _play(options, config, lambda sinks: resume(found.directory, config, sinks=sinks, trusted=options.trust))


def fork_run(options: Options) -> int:
    """Play a new run from a tick of another."""
    parent, config = _merged_config(options, keep=("world",))

    def play(sinks: list[Sink]) -> RunResult:
        at_tick, run_id = options.at_tick, options.run_id
        return fork(parent.directory, at_tick, config, run_id=run_id, sinks=sinks, trusted=options.trust)

    return _play(options, config, play)


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


def _play(options: Options, config: RunConfig, play: Callable[[list[Sink]], RunResult]) -> int:
    """Play a run while showing its progress, summarise it, and return the exit code."""
    with choose_watcher(config, not options.talks) as watcher, explaining_stop(watcher):
        result = play([watcher])
    answer(options, result, *_summary(result, config, watcher.start))
    if result.error:
        sys.stderr.write(f"ptp: {result.error}\n")
    return result.exit_code


def _summary(result: RunResult, config: RunConfig, start: int) -> Iterator[str]:
    why = result.stop.message if result.stop else "see the error below"
    yield f"{paint(result.status, STATUS_COLORS[result.status])}: {why}"
    pace = f"{number(result.ticks_per_second)}/s" + (f" since tick {start:,}" if start else "")
    seed = seeds(result.random_seed, config.system.random_seed)
    facts = {
        "run": result.run_id,
        "world": f"{result.world}, played by {result.agent}, seed {seed}",
        "ticks": f"{result.ticks:,} in {result.elapsed_seconds:,.1f} s ({pace})",
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
    yield from ("", "try next:")
    yield from suggestion_lines(_suggestions(result, config))


def _suggestions(result: RunResult, config: RunConfig) -> dict[str, str]:
    folder = "" if config.system.data_dir == "var" else f" --data-dir {shlex.quote(config.system.data_dir)}"
    again = {} if result.status == "completed" else {f"{program()} resume latest{folder}": "resume it"}
    return {
        **again,
        f"{program()} dashboard{folder}": "see it in the browser, tick by tick",
        f"{program()} replay latest --verify{folder}": "replay it and compare every tick",
        f"{program()} show latest{folder}": "see how it went",
        f"{program()} runs{folder}": "list every run",
    }
