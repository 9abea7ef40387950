"""`ptp prune`."""

from __future__ import annotations

from pathlib import Path

from ptp.cli.common import data_dir
from ptp.cli.output import answer, in_bytes, print_table
from ptp.cli.parser import Options
from ptp.errors import UsageError
from ptp.recording import RunDirectory
from ptp.retention.plan import Limits, parse_age, parse_bytes, plan_pruning
from ptp.retention.prune import leftovers, prune, sweep
from ptp.retention.rollup import is_rolled_up, restore_run, roll_up_runs
from ptp.runs import find_run


def main(options: Options) -> int:
    """Remove runs, shrink them, or restore one."""
    if options.restore is not None:
        return _restore(options)
    limits = _limits(options)
    return _roll_up(options, limits) if options.roll_up else _prune(options, limits)


def _limits(options: Options) -> Limits:
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


def _prune(options: Options, limits: Limits) -> int:
    folder = data_dir(options)
    plan = plan_pruning(folder, limits)
    if options.dry_run:
        runs, freed, spared = plan.remove, plan.freed + leftovers(folder), list[str]()
    else:
        swept = sweep(folder)
        pruned = prune(plan, limits)
        runs, freed, spared = pruned.removed, pruned.freed + swept, pruned.spared
    if runs and options.talks:
        print_table(("run", "bytes", "why"), [(run.run_id, in_bytes(run.bytes), run.why) for run in runs], ("bytes",))
    return answer(
        options,
        {"dry_run": options.dry_run, "removed": runs, "freed": freed, "protected": plan.protected, "spared": spared},
        *(f"kept {kept.run_id}: {kept.why}" for kept in plan.protected),
        *(f"kept {run_id}: it is in use" for run_id in spared),
        f"{'would remove' if options.dry_run else 'removed'} {len(runs)} runs, {in_bytes(freed)}",
    )


def _roll_up(options: Options, limits: Limits) -> int:
    doomed = plan_pruning(data_dir(options), limits).remove
    if options.dry_run:
        chosen = [run for run in doomed if not is_rolled_up(RunDirectory(Path(run.path)))]
        line = f"would roll up {len(chosen)} runs, {in_bytes(sum(run.bytes for run in chosen))} now"
        return answer(options, {"dry_run": True, "rolled_up": chosen}, line)
    done, failed = roll_up_runs([Path(run.path) for run in doomed])
    if done and options.talks:
        rows = [(run.run_id, in_bytes(run.before), in_bytes(run.after)) for run in done]
        print_table(("run", "before", "after"), rows, ("before", "after"))
    answer(
        options, {"dry_run": False, "rolled_up": done, "failed": failed},
        *(f"left unchanged: {message}" for message in failed),
        f"rolled up {len(done)} runs, freed {in_bytes(sum(run.before - run.after for run in done))}",
    )  # fmt: skip
    return 1 if failed else 0


def _restore(options: Options) -> int:
    directory = find_run(data_dir(options), options.restore)
    restore_run(directory)
    return answer(options, {"restored": directory.run_id}, f"restored the database of {directory.run_id}")
