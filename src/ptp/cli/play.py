"""`ptp run`, `resume` and `fork`: play with progress shown, then summarise."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from pathlib import Path

from ptp.cli.output import (
    STATUS_COLORS,
    answer,
    number,
    paint,
    print_facts,
    print_json,
    print_suggestions,
    program,
    say,
)
from ptp.cli.parser import Options
from ptp.cli.progress import choose_watcher, explaining_stop
from ptp.config import RunConfig
from ptp.config.files import read_values
from ptp.config.flags import given_values
from ptp.config.tree import BY_FLAG, build, merge
from ptp.errors import UsageError
from ptp.recording import RunDirectory
from ptp.records import RunResult
from ptp.runner import fork, protocol, resume, run
from ptp.runner.control import ask
from ptp.runs import find_run
from ptp.sinks import Sink


def run_new(options: Options) -> int:
    """Play a new run."""
    return _play(
        options.config, options.json, lambda watcher: run(options.config, run_id=options.run_id, sinks=[watcher])
    )


def resume_run(options: Options) -> int:
    """Resume a run: where it is paused, or in this process."""
    directory, config = _merged_config(options, keep=("world", "agent", "random_seed"))
    if directory.is_alive():
        now = ask(directory, protocol.Resume()).now
        assert now is not None
        return answer(options, now, f"run {directory.run_id} resumed at tick {now.tick}")
    return _play(
        config, options.json, lambda watcher: resume(directory, config, sinks=[watcher], trusted=options.trust)
    )


def fork_run(options: Options) -> int:
    """Play a new run from a tick of another."""
    parent, config = _merged_config(options, keep=("world",))
    return _play(
        config, options.json,
        lambda watcher: fork(
            parent, options.at_tick, config, run_id=options.run_id, sinks=[watcher], trusted=options.trust
        ),
    )  # fmt: skip


def _merged_config(options: Options, keep: tuple[str, ...]) -> tuple[RunDirectory, RunConfig]:
    """Return a recorded run and its settings as options change them; those named in *keep* can't be changed."""
    given = given_values(options)
    for item in given:
        if item.section in keep or item.name in keep:
            raise UsageError(f"{item.flag} can't be changed for an existing run; leave it out")
    directory = find_run(Path(options.config.system.data_dir), options.run)
    about_talking = {BY_FLAG[flag] for flag in ("--verbose", "--quiet", "--log-file")}
    recorded = read_values(directory.path / "config.yaml")
    recorded = {item: value for item, value in recorded.items() if item not in about_talking}
    recorded[BY_FLAG["--data-dir"]] = str(directory.path.parent.parent)
    return directory, build(merge(recorded, given), given)


def _play(config: RunConfig, as_json: bool, play: Callable[[Sink], RunResult]) -> int:
    """Play a run while showing its progress, summarise it, and return the exit code."""
    with choose_watcher(config, config.system.quiet or as_json) as watcher, explaining_stop(watcher):
        result = play(watcher)
    if as_json:
        print_json(result)
    elif not config.system.quiet:
        _summarise(result, config)
    if result.error:
        sys.stderr.write(f"ptp: {result.error}\n")
    return result.exit_code


def _summarise(result: RunResult, config: RunConfig) -> None:
    why = result.stop.message if result.stop else "see the error below"
    say(f"{paint(result.status, STATUS_COLORS[result.status])}: {why}")
    facts = {
        "run": result.run_id,
        "world": f"{result.world}, played by {result.agent}, {_seed(result, config)}",
        "ticks": f"{result.ticks:,} in {result.elapsed_seconds:,.1f} s ({number(result.ticks_per_second)}/s)",
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
    print_facts(facts)
    say("\ntry next:")
    print_suggestions(_suggestions(result, config))


def _seed(result: RunResult, config: RunConfig) -> str:
    dice = config.system.random_seed
    forked = dice not in {None, result.random_seed}
    return f"seed {result.random_seed}" + (f" until the fork, {dice} after it" if forked else "")


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
