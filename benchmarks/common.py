"""What the benchmarks share: one way to print a figure, and one to run ptp."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

from ptp.config.tree import BY_FLAG, build
from ptp.records import RunResult
from ptp.runner import run
from ptp.sinks import Sink


def report(name: str, measured: float, goal: float, *, at_least: bool, unit: str, **facts: Any) -> None:
    """Print one figure as one JSON object."""
    passed = measured >= goal if at_least else measured <= goal
    figure = {
        "benchmark": name,
        "measured": round(measured, 4),
        "goal": f"{'at least' if at_least else 'at most'} {goal:g} {unit}",
        "passed": passed,
        **facts,
    }
    print(json.dumps(figure), flush=True)


def play(*, sink: Sink | None = None, **flags: Any) -> RunResult:
    """Play one run in a folder that is removed afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        values = {"tick_rate_base": 0, "random_seed": 1, "data_dir": folder, **flags}
        config = build({BY_FLAG["--" + name.replace("_", "-")]: value for name, value in values.items()})
        return run(config, sinks=[sink] if sink else [])


def seconds(work: Callable[[], Any]) -> float:
    """Return how long *work* takes."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def process_seconds(*commands: list[str], times: int = 15) -> list[float]:
    """Return the shortest time of each whole process; they take turns, so that a busy machine meets all alike."""

    def once(words: list[str]) -> float:
        return seconds(lambda: subprocess.run([sys.executable, *words], check=True, capture_output=True))

    rounds = [[once(words) for words in commands] for _ in range(times)]
    return [min(column) for column in zip(*rounds, strict=True)]
