"""Soak ptp for a while: `python -m benchmarks.soak --minutes 30`, or `make soak MINUTES=30`."""

from __future__ import annotations

import argparse
import os
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from benchmarks.soak.check import check
from benchmarks.soak.hostile import damage, pester
from benchmarks.soak.jumps import jump_about
from benchmarks.soak.memory import LongRun, begin_long_runs
from benchmarks.soak.rounds import Soak
from benchmarks.soak.shell import Shell, Wrong
from ptp.errors import PtpError

NAMES = {
    "rounds": "rounds", "begun": "runs begun", "resumed": "runs gone on with", "forked": "runs forked",
    "kill": "killed with SIGKILL", "term": "ended with SIGTERM", "int": "ended with SIGINT",
    "stop": "ended with `ptp stop`", "limit": "ended by a limit", "pause": "paused and let go on", "step": "stepped",
    "set": "settings changed", "snapshot": "named snapshots", "restore": "restored", "rollback": "rolled back",
    "go back": "taken back after the end", "prune": "prunes", "roll up": "roll-ups",
    "refused": "refused with a reason", "replayed": "replays verified", "ticks compared": "ticks compared",
    "flips": "bytes changed", "flips seen": "seen by verification", "messages": "control messages answered",
    "jumps": "jumps to a tick as it was",
}  # fmt: skip


class Log:
    """Tells how it goes, line by line, and keeps what went wrong."""

    def __init__(self) -> None:
        self.problems: list[str] = []
        self._began = time.monotonic()

    def say(self, line: str) -> None:
        """Print a line with the time it took to get there."""
        print(f"{time.monotonic() - self._began:7.1f} s  {line}", flush=True)

    def wrong(self, problem: object, told: list[str]) -> None:
        """Keep a problem with the commands that led to it."""
        self.problems.append(f"{problem}\n" + "\n".join(f"    {command}" for command in told))
        self.say(f"WRONG   {problem}")


def soak(folder: Path, minutes: float, seed: int, flips: int, messages: int, jumps: int) -> int:
    """Soak for so many minutes, then change bytes, send messages and jump, and return the exit code."""
    print(f"soaking for {minutes:g} minutes with --seed {seed} in {folder}", flush=True)
    os.environ["TMPDIR"] = str(folder / "tmp")
    (folder / "tmp").mkdir()
    log, state = Log(), Soak(Shell(folder / "data"), seed)
    state.shell.folder.mkdir()
    long_runs = begin_long_runs(folder)
    try:
        _play(state, long_runs, time.monotonic() + minutes * 60, log)
        for name, problem in state.check_all():
            log.say(f"again   {name}" if problem is None else f"again   {name} is wrong")
            if problem is not None:
                log.wrong(problem, state.shell.told)
        facts = [_finish(run, state.done, log) for run in long_runs]
    finally:
        for run in long_runs:
            run.kill()
    for fault in damage(folder / "flips", flips, seed, state.done) + pester(folder / "pester", messages, state.done):
        log.wrong(fault, [])
    try:
        facts += jump_about(folder / "jumps", jumps, seed, state.done)
    except (Wrong, PtpError) as problem:
        log.wrong(problem, [f"{state.done['jumps']} jumps with --seed {seed}"])
    _check_temporary(folder / "tmp", log)
    _print_table(state.done, facts)
    return _verdict(folder, log)


def _play(state: Soak, long_runs: list[LongRun], until: float, log: Log) -> None:
    while time.monotonic() < until:
        try:
            for run in long_runs:
                run.look()
            log.say(state.round())
        except Wrong as problem:
            log.wrong(problem, state.shell.told)


def _finish(run: LongRun, done: Counter[str], log: Log) -> tuple[str, str]:
    """End a long run, check it like the others, and return its memory."""
    try:
        name, code = run.end()
        if code != 143:
            raise Wrong(f"the long run in {run.world} ends with {code}, not 143: {run.shell.complaint()}")
        done["ticks compared"] += check(run.shell, name, {"manual_stop"})
        done["replayed"] += 1
        return f"memory of {run.world}", run.check()
    except Wrong as problem:
        log.wrong(problem, run.shell.told)
        return f"memory of {run.world}", "wrong"


def _check_temporary(folder: Path, log: Log) -> None:
    left = sorted(path.name for path in folder.iterdir())
    if left:
        log.wrong(f"{folder} is not empty: {', '.join(left)}", [])


def _print_table(done: Counter[str], facts: list[tuple[str, str]]) -> None:
    rows = [(words, f"{done[name]:,}") for name, words in NAMES.items()] + facts
    print()
    for words, value in rows:
        print(f"{words:<28}  {value}")


def _verdict(folder: Path, log: Log) -> int:
    """Tell what was wrong, and keep the runs if anything was."""
    if not log.problems:
        shutil.rmtree(folder)
        print("\nnothing was lost, nothing differs")
        return 0
    for problem in log.problems:
        print(f"\nWRONG: {problem}")
    print(f"\n{len(log.problems)} problems; everything is kept in {folder}")
    return 1


def main() -> int:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=30, help="how long to go on beginning rounds (default: 30)")
    parser.add_argument("--seed", type=int, default=None, help="luck to begin with (default: another each time)")
    parser.add_argument("--flips", type=int, default=10_000, help="bytes to change, each in a fresh run (%(default)s)")
    parser.add_argument("--messages", type=int, default=2_000, help="messages to a live run (default: %(default)s)")
    parser.add_argument(
        "--jumps", type=int, default=100_000, help="jumps to any tick, half of them in each of two runs"
    )
    options = parser.parse_args()
    seed = random.randrange(1 << 31) if options.seed is None else options.seed
    folder = Path(tempfile.mkdtemp(prefix="ptp-soak-"))
    return soak(folder, options.minutes, seed, options.flips, options.messages, options.jumps)


if __name__ == "__main__":
    sys.exit(main())
