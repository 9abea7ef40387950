"""`ptp run`: play an agent in a world and record everything."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from ptp.cli.parser import Parser
from ptp.config import RunConfig, load_config
from ptp.config.flags import add_config_flags, given_values
from ptp.config.tree import BY_FLAG
from ptp.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from ptp.recording import RunDirectory
    from ptp.runner import RunResult, Watcher

DESCRIPTION = """Play an agent in a world and record everything.

examples:
  ptp run --world tallgrass --agent explorer --max-ticks 300
  ptp run --world CliffWalking-v1 --tick-rate-base 0 --episodes 10 --random-seed 7
  ptp run --world Taxi-v4 --agent script --script moves.txt
"""


def parse(argv: list[str]) -> tuple[RunConfig, bool]:
    """Return the config that a command line asks for, and whether it wants JSON."""
    parser = Parser("ptp run", DESCRIPTION)
    add_config_flags(parser)
    options = parser.parse(argv)
    return load_config(given_values(options), options.config_file, options.experiment_config), options.json


def main(argv: list[str]) -> int:
    """Run the verb."""
    config, as_json = parse(argv)
    from ptp.runner import run

    return finish(config, as_json, lambda watcher: run(config, watcher=watcher))


def merged_config(options: argparse.Namespace, keep: tuple[str, ...]) -> tuple[RunDirectory, RunConfig]:
    """Return a recorded run and its settings as the flags change them; those named in *keep* can't be changed."""
    from pathlib import Path

    from ptp.config.files import read_values
    from ptp.config.tree import build
    from ptp.runs.library import find_run

    given = given_values(options)
    for item in given:
        if item.section in keep or item.name in keep:
            raise UsageError(f"{item.flag} can't be changed for a run that was begun; leave it out")
    directory = find_run(Path(load_config(given).system.data_dir), options.run)
    about_talking = {BY_FLAG[flag] for flag in ("--verbose", "--quiet", "--log-file")}
    recorded = read_values(directory.path / "config.yaml")
    recorded = {item: value for item, value in recorded.items() if item not in about_talking}
    recorded[BY_FLAG["--data-dir"]] = str(directory.path.parent.parent)
    return directory, build({**recorded, **given})


def finish(config: RunConfig, as_json: bool, play: Callable[[Watcher], RunResult]) -> int:
    """Play a run with its progress shown, tell what became of it, and return the exit code."""
    from ptp.cli.progress import choose_watcher, telling_stop

    with choose_watcher(config, config.system.quiet or as_json) as watcher, telling_stop(watcher):
        result = play(watcher)
    if as_json:
        from ptp.cli.output import print_json

        print_json(result)
    elif not config.system.quiet:
        _summarise(result, config)
    if result.error:
        sys.stderr.write(f"ptp: {result.error}\n")
    return result.exit_code


def _summarise(result: RunResult, config: RunConfig) -> None:
    from ptp.cli.output import STATUS_COLORS, number, paint, print_facts, print_suggestions, say

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
    if result.badges is not None:
        level = f", highest level {result.level}" if result.level is not None else ""
        facts["game"] = f"badges {result.badges}, species caught {result.caught}{level}"
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
    return f"seed {result.random_seed}" + (f" until the fork, {dice} from there" if forked else "")


def _suggestions(result: RunResult, config: RunConfig) -> dict[str, str]:
    import shlex

    from ptp.cli.output import program

    folder = "" if config.system.data_dir == "var" else f" --data-dir {shlex.quote(config.system.data_dir)}"
    again = {} if result.status == "completed" else {f"{program()} resume latest{folder}": "go on with it"}
    return {
        **again,
        f"{program()} dashboard{folder}": "see it in the browser, tick by tick",
        f"{program()} replay latest --verify{folder}": "play it again and compare every tick",
        f"{program()} show latest{folder}": "tell its story",
        f"{program()} runs{folder}": "list every run",
    }
