"""Removing runs so that nobody ever sees half of one."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import msgspec

from ptp.errors import PtpError, RecordingError, RunLocked
from ptp.frames.disk import tree_bytes
from ptp.recording import RunDirectory
from ptp.recording.packed import forget
from ptp.retention.plan import Doomed, Limits, Plan, plan_pruning, treasure

TRASH = ".removed-"  # lists of runs pass over names that begin with a dot


class Pruned(msgspec.Struct):
    """What pruning did."""

    removed: list[Doomed]
    spared: list[str]
    """Runs that came to life, or were protected, after the plan was made."""
    freed: int


def prune(plan: Plan, limits: Limits) -> Pruned:
    """Carry out a plan; a run that has come to life since is left alone."""
    pruned = Pruned([], [], 0)
    for doomed in plan.remove:
        try:
            _remove(RunDirectory(Path(doomed.path)), limits)
        except RunLocked:
            pruned.spared.append(doomed.run_id)
            continue
        except OSError as problem:
            raise RecordingError(
                f"{doomed.path} can't be removed: {problem.strerror or problem}; check who owns the folder"
            ) from None
        pruned.removed.append(doomed)
        pruned.freed += doomed.bytes
    return pruned


def _remove(directory: RunDirectory, limits: Limits) -> None:
    """Own the run, take it out of every list in one step, then remove its files."""
    if not directory.path.exists():
        return
    with directory.owned():
        if _is_treasured(directory, limits):
            raise RunLocked(f"run {directory.run_id} is to be kept")
        trash = directory.path.with_name(TRASH + directory.run_id)
        os.rename(directory.path, trash)
        forget(directory.database)
        shutil.rmtree(trash)


def _is_treasured(directory: RunDirectory, limits: Limits) -> bool:
    try:
        return treasure(directory, directory.read_metadata(), limits) is not None
    except PtpError:
        return False  # without a header there is nothing to keep it for


def sweep(data_dir: Path) -> int:
    """Finish removals that were interrupted, and return the bytes that this freed."""
    freed = leftovers(data_dir)
    for path in _trash(data_dir):
        shutil.rmtree(path, ignore_errors=True)
    return freed


def leftovers(data_dir: Path) -> int:
    """Return the bytes of removals that were interrupted."""
    return sum(tree_bytes(path) for path in _trash(data_dir))


def _trash(data_dir: Path) -> Iterator[Path]:
    return (data_dir / "records").glob(f"{TRASH}*")


def prune_at_start(data_dir: Path, limits: Limits) -> tuple[Plan, Pruned]:
    """Prune before a run begins, as the settings say."""
    sweep(data_dir)
    plan = plan_pruning(data_dir, limits)
    return plan, prune(plan, limits)
