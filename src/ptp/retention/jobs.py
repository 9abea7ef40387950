"""Whole pieces of work on many runs, each owned while it is worked on."""

from __future__ import annotations

from pathlib import Path

from ptp.errors import PtpError
from ptp.frames.profiles import RollUp, built_in_profiles
from ptp.recording import RunDirectory
from ptp.retention.plan import Limits, Plan, plan_pruning
from ptp.retention.prune import Pruned, prune, sweep
from ptp.retention.rollup import RolledUp, is_rolled_up, roll_up, unpack_run


def roll_up_runs(paths: list[Path]) -> tuple[list[RolledUp], list[str]]:
    """Make runs small by the policy of their storage profiles; return what was done, and what was not and why."""
    done: list[RolledUp] = []
    failed: list[str] = []
    for path in paths:
        directory = RunDirectory(path)
        if is_rolled_up(directory):
            continue
        try:
            directory.acquire()
            done += _roll_up(directory)
        except PtpError as problem:
            failed.append(f"{directory.run_id}: {problem}")
        finally:
            directory.release()
    return done, failed


def _roll_up(directory: RunDirectory) -> list[RolledUp]:
    policy = policy_of(directory)
    return [] if policy == "none" else [roll_up(directory, policy)]


def policy_of(directory: RunDirectory) -> RollUp:
    """Return what the storage profile of a run's world says becomes of it; a profile nobody knows is packed."""
    profile = built_in_profiles().get(directory.read_metadata().facts.storage_profile)
    return "compress" if profile is None else profile.episode_rollup_policy


def restore_run(directory: RunDirectory) -> None:
    """Bring back the database of a run that was made small."""
    directory.acquire()
    try:
        unpack_run(directory)
    finally:
        directory.release()


def prune_at_start(data_dir: Path, limits: Limits) -> tuple[Plan, Pruned]:
    """Prune before a run begins, as the settings say."""
    sweep(data_dir)
    plan = plan_pruning(data_dir, limits)
    return plan, prune(plan, limits)
