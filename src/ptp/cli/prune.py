"""`ptp prune`: remove old runs, or make them small."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from ptp.cli.common import data_dir, parse_common
from ptp.cli.parser import Parser
from ptp.errors import UsageError

if TYPE_CHECKING:
    from ptp.config.tree import System
    from ptp.retention.plan import Limits

DESCRIPTION = """Remove old runs, or make them small. Live runs and runs with named snapshots are never touched.

examples:
  ptp prune --max-sessions 100 --dry-run
  ptp prune --older-than 7d --keep-tag paper
  ptp prune --older-than 30d --roll-up
  ptp prune --restore RUN
"""


def main(argv: list[str]) -> int:
    """Run the verb."""
    parser = Parser("ptp prune", DESCRIPTION)
    parser.add_argument("--dry-run", action="store_true", help="Only tell what would be removed.")
    parser.add_argument(
        "--max-record-bytes", metavar="N", help="Remove the oldest until all take at most N (2G, 500M)."
    )
    parser.add_argument("--max-sessions", type=int, metavar="N", help="Keep the newest N runs.")
    parser.add_argument("--older-than", metavar="AGE", help="Remove runs that began longer ago (7d, 12h).")
    parser.add_argument(
        "--keep-tag", action="append", default=[], metavar="T", help="Keep runs with this tag or experiment name."
    )
    parser.add_argument("--roll-up", action="store_true", help="Make the runs small instead of removing them.")
    parser.add_argument("--restore", metavar="RUN", help="Bring back the database of a run that was made small.")
    options, system = parse_common(parser, argv)
    if options.restore is not None:
        return _restore(options, system)
    limits = _limits(options)
    return _roll_up(options, system, limits) if options.roll_up else _prune(options, system, limits)


def _limits(options: argparse.Namespace) -> Limits:
    from ptp.retention.plan import Limits, parse_age, parse_bytes

    given = (options.max_record_bytes, options.max_sessions, options.older_than)
    if all(value is None for value in given):
        raise UsageError("nothing says what to prune; give --max-record-bytes, --max-sessions or --older-than")
    if options.max_sessions is not None and options.max_sessions < 0:
        raise UsageError(f"--max-sessions {options.max_sessions} is not allowed; allowed: 0 or more")
    return Limits(
        None if options.max_record_bytes is None else parse_bytes(options.max_record_bytes),
        options.max_sessions,
        None if options.older_than is None else parse_age(options.older_than),
        tuple(options.keep_tag),
    )


def _prune(options: argparse.Namespace, system: System, limits: Limits) -> int:
    from ptp.cli.output import print_json, print_table, say
    from ptp.cli.sizes import in_words
    from ptp.retention.plan import plan_pruning
    from ptp.retention.prune import leftovers, prune, sweep

    plan = plan_pruning(data_dir(system), limits)
    if options.dry_run:
        runs, freed, spared = plan.remove, plan.freed + leftovers(data_dir(system)), list[str]()
    else:
        swept = sweep(data_dir(system))
        pruned = prune(plan, limits)
        runs, freed, spared = pruned.removed, pruned.freed + swept, pruned.spared
    if options.json:
        print_json(
            {"dry_run": options.dry_run, "removed": runs, "freed": freed, "protected": plan.protected, "spared": spared}
        )
        return 0
    if system.quiet:
        return 0
    if runs:
        print_table(("run", "bytes", "why"), [(run.run_id, in_words(run.bytes), run.why) for run in runs], ("bytes",))
    for kept in plan.protected:
        say(f"kept {kept.run_id}: {kept.why}")
    for run_id in spared:
        say(f"kept {run_id}: somebody uses it now")
    say(f"{'would remove' if options.dry_run else 'removed'} {len(runs)} runs, {in_words(freed)}")
    return 0


def _roll_up(options: argparse.Namespace, system: System, limits: Limits) -> int:
    from ptp.cli.output import print_json, print_table, say
    from ptp.cli.sizes import in_words
    from ptp.recording import RunDirectory
    from ptp.retention.jobs import roll_up_runs
    from ptp.retention.plan import plan_pruning
    from ptp.retention.rollup import is_rolled_up

    plan = plan_pruning(data_dir(system), limits)
    paths = [Path(doomed.path) for doomed in plan.remove]
    if options.dry_run:
        chosen = [doomed for doomed in plan.remove if not is_rolled_up(RunDirectory(Path(doomed.path)))]
        if options.json:
            print_json({"dry_run": True, "rolled_up": chosen})
        elif not system.quiet:
            say(f"would roll up {len(chosen)} runs, {in_words(sum(run.bytes for run in chosen))} now")
        return 0
    done, failed = roll_up_runs(paths)
    if options.json:
        print_json({"dry_run": False, "rolled_up": done, "failed": failed})
    elif not system.quiet:
        if done:
            rows = [(run.run_id, in_words(run.before), in_words(run.after)) for run in done]
            print_table(("run", "before", "after"), rows, ("before", "after"))
        for message in failed:
            say(f"left as it is: {message}")
        say(f"rolled up {len(done)} runs, freed {in_words(sum(run.before - run.after for run in done))}")
    return 1 if failed else 0


def _restore(options: argparse.Namespace, system: System) -> int:
    from ptp.cli.output import print_json, say
    from ptp.retention.jobs import restore_run
    from ptp.runs.library import find_run

    directory = find_run(data_dir(system), options.restore)
    restore_run(directory)
    if options.json:
        print_json({"restored": directory.run_id})
    elif not system.quiet:
        say(f"brought back the database of {directory.run_id}")
    return 0
