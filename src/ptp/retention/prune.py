"""Removing runs so that nobody ever sees half of one, and the pictures of others; the tape can draw those again."""

from __future__ import annotations

import os
import shutil
import threading
import time
from contextlib import suppress
from pathlib import Path

import msgspec

from ptp._util.attempt import attempt
from ptp.errors import RecordingError, RunLocked, RunUnreadable
from ptp.frames.disk import tree_bytes
from ptp.recording import RunDirectory
from ptp.recording.maintenance import changing
from ptp.recording.packed import forget, is_packed
from ptp.records import RunResult
from ptp.retention.plan import DAY, Doomed, Emptied, Limits, Plan, plan_pruning, treasure
from ptp.retention.rollup import pack_run, unpack_run
from ptp.sinks import RunContext, Sink

TRASH = ".removed-"  # lists of runs pass over names that begin with a dot


class Pruned(msgspec.Struct):
    """What pruning did."""

    removed: list[Doomed]
    spared: list[str]
    """Runs that came to life, or were protected, after the plan was made."""
    freed: int
    emptied: list[Emptied] = []
    """Runs that stay without their pictures."""


def prune(plan: Plan, limits: Limits) -> Pruned:
    """Carry out a plan; a run that has come to life since is left alone."""
    pruned = Pruned([], [], 0)
    pruned.emptied = clean_up([RunDirectory(Path(run.path)) for run in plan.empty], plan.empty)
    pruned.freed += sum(run.bytes for run in pruned.emptied)
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
    """Finish removals that were interrupted, clear old scratch space, and return the bytes that this freed."""
    freed = leftovers(data_dir)
    for path in _left(data_dir):
        shutil.rmtree(path, ignore_errors=True)
    return freed


def leftovers(data_dir: Path) -> int:
    """Return the bytes of removals that were interrupted, and of scratch space that nobody has used for a day."""
    return sum(map(tree_bytes, _left(data_dir)))


def _left(data_dir: Path) -> list[Path]:
    scratch = [path for path in (data_dir / "tmp").glob("*") if time.time() - path.stat().st_mtime > DAY]
    return [*(data_dir / "records").glob(f"{TRASH}*"), *scratch]


class PruneJob(Sink):
    """Prunes old runs while another one plays, and says what was done."""

    inline = True

    def __init__(self, limits: Limits) -> None:
        self._limits = limits

    def began(self, run: RunContext) -> None:
        """Begin, on a thread of its own."""
        self._run = run
        self._thread = threading.Thread(target=self._work, name="prune", daemon=True)
        self._thread.start()

    def _work(self) -> None:
        pruned = attempt(lambda: prune_all(self._run.path.parent.parent, self._limits)[1])
        if isinstance(pruned, Exception):
            self._run.notice("warning", "prune_failed", f"old runs can't be pruned: {pruned}")
        else:
            self._run.notice("info", "pruned", summary(pruned))

    def ended(self, result: RunResult) -> None:
        """Finish, so that no run is left half removed."""
        self._thread.join()


def prune_all(data_dir: Path, limits: Limits) -> tuple[Plan, Pruned]:
    """Finish what was interrupted, plan, and carry the plan out."""
    swept = sweep(data_dir)
    plan = plan_pruning(data_dir, limits)
    pruned = prune(plan, limits)
    pruned.freed += swept
    return plan, pruned


def summary(pruned: Pruned) -> str:
    """Return what pruning did, in a line."""
    pictures = sum(run.pictures for run in pruned.emptied)
    return f"removed {len(pruned.removed)} runs and {pictures} old pictures, {pruned.freed:,} bytes"


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
