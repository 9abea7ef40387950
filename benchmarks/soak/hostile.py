"""Damage and noise: bytes of run directories are changed, and a live run is told everything but what it expects."""

from __future__ import annotations

import json
import time
from collections import Counter
from pathlib import Path

from benchmarks.soak.flips import Specimen, flip_many, specimen_of
from benchmarks.soak.messages import talk
from benchmarks.soak.shell import Shell, Wrong
from ptp.recording import RunDirectory
from ptp.recording.directory import run_paths

SPECIMENS = (
    ("--world", "CartPole-v1", "--max-ticks", "60", "--screenshot-interval", "20"),
    ("--world", "tallgrass", "--agent", "explorer", "--max-ticks", "120", "--snapshot-disk", "60"),
)
EVERY = 4  # flips of which one is also shown to a verb


def damage(folder: Path, times: int, seed: int, done: Counter[str]) -> list[str]:
    """Change so many bytes of small runs, and return what went wrong."""
    specimens = [_record(Shell(folder), flags) for flags in SPECIMENS]
    wrong = []
    for flip in flip_many(specimens, folder / "copies", times, seed, EVERY):
        done["flips"] += 1
        done["flips seen"] += flip.is_known
        wrong += [f"{flip}: {fault}" for fault in flip.faults]
    return wrong


def _record(shell: Shell, flags: tuple[str, ...]) -> Specimen:
    shell.folder.mkdir(exist_ok=True)
    told = shell.must("run", *flags, "--tick-rate-base", "0", "--random-seed", "7", "--json")
    return specimen_of(Path(json.loads(told)["directory"]))


def pester(folder: Path, times: int, done: Counter[str]) -> list[str]:
    """Send so many messages to a live run, and return what went wrong."""
    folder.mkdir()
    process = Shell(folder).begin("run", "--world", "tallgrass", "--agent", "explorer", "--quiet")
    try:
        directory = _wait(folder)
        talk(directory, times)
        done["messages"] += times
        return [] if process.poll() is None else [f"the run ended with {process.returncode} during {times} messages"]
    except (AssertionError, Wrong) as problem:
        return [f"a message has no answer: {problem}"]
    finally:
        process.terminate()
        process.wait(60)


def _wait(folder: Path) -> RunDirectory:
    until = time.monotonic() + 60
    while time.monotonic() < until:
        for path in run_paths(folder):
            if (path / "control.sock").exists():
                return RunDirectory(path)
        time.sleep(0.05)
    raise Wrong("the run does not begin within a minute")
