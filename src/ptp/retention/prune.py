"""Removing runs so that nobody ever sees half of one, and the pictures of others; the tape can draw those again."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path

import msgspec

from ptp.errors import RecordingError, RunLocked, RunUnreadable
from ptp.frames.disk import tree_bytes
from ptp.recording import RunDirectory
from ptp.recording.maintenance import changing
from ptp.recording.packed import forget, is_packed
from ptp.retention.plan import Doomed, Limits, Plan, plan_pruning, run_age, treasure
from ptp.retention.rollup import pack_run, unpack_run

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
        with suppress(RunUnreadable):  # without a header there is nothing to keep it for
            if treasure(directory, directory.read_metadata(), limits) is not None:
                raise RunLocked(f"run {directory.run_id} is to be kept")
        trash = directory.path.with_name(TRASH + directory.run_id)
        os.rename(directory.path, trash)
        forget(directory.database)
        shutil.rmtree(trash)


def sweep(data_dir: Path) -> int:
    """Finish removals that were interrupted, and return the bytes that this freed."""
    freed = leftovers(data_dir)
    for path in (data_dir / "records").glob(f"{TRASH}*"):
        shutil.rmtree(path, ignore_errors=True)
    return freed


def leftovers(data_dir: Path) -> int:
    """Return the bytes of removals that were interrupted."""
    return sum(tree_bytes(path) for path in (data_dir / "records").glob(f"{TRASH}*"))


def prune_at_start(data_dir: Path, limits: Limits) -> tuple[Plan, Pruned]:
    """Prune before a run begins, as the settings say."""
    sweep(data_dir)
    plan = plan_pruning(data_dir, limits)
    return plan, prune(plan, limits)


class Emptied(msgspec.Struct):
    """A run without its pictures."""

    run_id: str
    pictures: int
    bytes: int


def plan_cleanup(directories: list[RunDirectory], older_than: float | None, now: float) -> list[Emptied]:
    """Return what each run's pictures take; runs that are played, too young, or without pictures are left out."""
    found = []
    for directory in directories:
        folder = directory.path / "frames"
        if directory.is_alive() or not folder.is_dir():
            continue
        if older_than is not None and run_age(directory, now) <= older_than:
            continue
        files = [path for path in folder.rglob("*") if path.is_file() and not path.name.startswith(".")]
        found.append(Emptied(directory.run_id, len(files), tree_bytes(folder)))
    return found


def clean_up(directories: list[RunDirectory], planned: list[Emptied]) -> list[Emptied]:
    """Remove the pictures, and return what was removed; a run that has come to life since is left alone."""
    by_id = {directory.run_id: directory for directory in directories}
    done = []
    for emptied in planned:
        directory = by_id[emptied.run_id]
        with suppress(RunLocked), directory.owned():
            _empty(directory)
            done.append(emptied)
    return done


def _empty(directory: RunDirectory) -> None:
    """Remove the rows' paths first: a path that leads nowhere is worse than a file that nobody names."""
    archived = is_packed(directory.database)
    if archived:
        unpack_run(directory)
    if directory.database.exists():
        with changing(directory, "pruned") as connection:
            connection.execute("UPDATE screenshots SET file_path = NULL, file_size_bytes = 0")
            connection.execute("UPDATE steps SET frame_ref = NULL WHERE frame_ref IS NOT NULL")
    if archived:
        pack_run(directory)
    shutil.rmtree(directory.path / "frames")
