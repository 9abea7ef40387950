"""`ptp du`, `prune` and `cleanup`: what runs take on disk, and making room."""

from __future__ import annotations

import time
from pathlib import Path

from msgspec import structs

from ptp._util.clock import parse_age
from ptp.cli.common import named_run
from ptp.cli.output import answer, in_bytes, short_ids, show, table
from ptp.cli.parser import Options
from ptp.errors import UsageError
from ptp.frames.disk import free_bytes
from ptp.recording import RunDirectory
from ptp.recording.directory import run_paths
from ptp.recording.packed import is_packed
from ptp.retention.learning import EpisodeRollupJob, prune_bdi_rollups
from ptp.retention.plan import (
    DataSize,
    Limits,
    limits_of,
    measure_run,
    measure_runs,
    parse_bytes,
    plan_cleanup,
    plan_pruning,
)
from ptp.retention.prune import Pruned, clean_up, leftovers, prune_all
from ptp.retention.rollup import roll_up_runs, unpack_run
from ptp.runs import find_run

WIDTH = 130  # columns from which on ids are whole
PARTS = ("database", "frames", "snapshots", "video", "episodes", "other", "total")


def du(options: Options) -> int:
    """Show how much disk space runs use."""
    if options.run is not None:
        directory = named_run(options).directory
        run = measure_run(directory)
        size = DataSize([run], 0, run.total, free_bytes(directory.path))
    elif not run_paths(options.folder) and not options.folder.is_dir():
        size = DataSize([], 0, 0, free_bytes(options.folder.absolute().parent))
    else:
        size = measure_runs(options.folder)
    ids = short_ids([run.run_id for run in size.runs], WIDTH)
    rows = [
        (run_id, run.status, *(in_bytes(getattr(run, part)) for part in PARTS))
        for run, run_id in zip(size.runs, ids, strict=True)
    ]
    return show(
        options, size,
        *table(("run", "status", *PARTS), rows, right=PARTS, spare=("status", "other", "episodes", "video")),
        f"{in_bytes(size.total)} in {len(size.runs)} runs, {in_bytes(size.free)} free",
    )  # fmt: skip


def prune_runs(options: Options) -> int:
    """Remove runs, shrink them, or restore one."""
    if options.restore is not None:
        directory = find_run(options.folder, options.restore)
        with directory.owned():
            unpack_run(directory)
        return answer(options, {"restored": directory.run_id}, f"restored the database of {directory.run_id}")
    size, count = options.max_record_bytes, options.max_sessions
    age = None if options.older_than is None else parse_age(options.older_than)
    if count is not None and count < 0:
        raise UsageError(f"--max-sessions {count} is not allowed; allowed: 0 or more")
    limits = Limits(None if size is None else parse_bytes(size), count, age)
    if size is None and count is None and age is None:
        if options.roll_up:
            raise UsageError("nothing says what to roll up; give --max-record-bytes, --max-sessions or --older-than")
        limits = limits_of(options.config.storage)
    limits = structs.replace(limits, keep_tags=tuple(options.keep_tag))
    return _roll_up(options, limits) if options.roll_up else _prune(options, limits)


def _prune(options: Options, limits: Limits) -> int:
    if options.dry_run:
        plan = plan_pruning(options.folder, limits)
        pruned = Pruned(plan.remove, [], plan.freed + leftovers(options.folder), plan.empty)
    else:
        plan, pruned = prune_all(options.folder, limits)
    runs, freed, spared = pruned.removed, pruned.freed, pruned.spared
    return answer(
        options,
        {
            "dry_run": options.dry_run,
            "removed": runs,
            "freed": freed,
            "protected": plan.protected,
            "spared": spared,
            "emptied": pruned.emptied,
        },
        *table(("run", "bytes", "why"), [(run.run_id, in_bytes(run.bytes), run.why) for run in runs], ("bytes",)),
        *(f"{run.run_id}: {run.pictures} pictures, {in_bytes(run.bytes)}: too old" for run in pruned.emptied),
        *(f"kept {kept.run_id}: {kept.why}" for kept in plan.protected),
        *(f"kept {run_id}: it is in use" for run_id in spared),
        f"{'would remove' if options.dry_run else 'removed'} {len(runs)} runs, {in_bytes(freed)}",
    )


def _roll_up(options: Options, limits: Limits) -> int:
    doomed = plan_pruning(options.folder, limits).remove
    if options.dry_run:
        chosen = [run for run in doomed if not is_packed(RunDirectory(Path(run.path)).database)]
        line = f"would roll up {len(chosen)} runs, {in_bytes(sum(run.bytes for run in chosen))} now"
        return answer(options, {"dry_run": True, "rolled_up": chosen}, line)
    done, failed = roll_up_runs([Path(run.path) for run in doomed])
    rows = [(run.run_id, in_bytes(run.before), in_bytes(run.after)) for run in done]
    return answer(
        options, {"dry_run": False, "rolled_up": done, "failed": failed},
        *table(("run", "before", "after"), rows, ("before", "after")),
        *(f"left unchanged: {message}" for message in failed),
        f"rolled up {len(done)} runs, freed {in_bytes(sum(run.before - run.after for run in done))}",
        failed=bool(failed),
    )  # fmt: skip


def cleanup_transitions(options: Options) -> int:
    """Roll up the old episodes of learners."""
    if options.keep_episodes < 0 or options.least_error < 0:
        raise UsageError("--keep-episodes and --least-error must be 0 or more")
    paths = [named_run(options).path] if options.run else run_paths(options.folder)
    job = EpisodeRollupJob(options.least_error, options.keep_episodes)
    done, failed = prune_bdi_rollups(paths, job, dry_run=options.dry_run)
    rows = [(run.run_id, f"{run.episodes:,}", f"{run.removed:,}", f"{run.kept:,}") for run in done]
    return answer(
        options, {"dry_run": options.dry_run, "rolled_up": done, "failed": failed},
        *table(("run", "episodes", "removed", "kept"), rows, ("episodes", "removed", "kept")),
        *(f"left unchanged: {message}" for message in failed),
        f"{'would remove' if options.dry_run else 'removed'} {sum(run.removed for run in done):,} transitions",
        failed=bool(failed),
    )  # fmt: skip


def cleanup_screenshots(options: Options) -> int:
    """Remove the pictures of ended runs."""
    every = [RunDirectory(path) for path in run_paths(options.folder)]
    directories = [named_run(options).directory] if options.run else every
    age = None if options.older_than is None else parse_age(options.older_than)
    planned = plan_cleanup(directories, age, time.time())
    done = planned if options.dry_run else clean_up(directories, planned)
    freed, did = sum(emptied.bytes for emptied in done), "would remove" if options.dry_run else "removed"
    rows = [(emptied.run_id, emptied.pictures, in_bytes(emptied.bytes)) for emptied in done]
    return answer(
        options, {"dry_run": options.dry_run, "runs": done, "freed": freed},
        *table(("run", "pictures", "bytes"), rows, ("pictures", "bytes")),
        f"{did} {sum(emptied.pictures for emptied in done)} pictures, {in_bytes(freed)}",
    )  # fmt: skip
