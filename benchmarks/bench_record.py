"""What it costs to record anybody's own loop with `ptp.Record`: beside the bare environment, and beside Minari."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

import gymnasium

from benchmarks.collector import STEPS, play
from benchmarks.common import report
from ptp.runner.record import Record

PEERS = Path(sys.prefix, "peers", "bin", "python")
ROUNDS = 7


def rates(name: str, steps: int) -> tuple[float, float]:
    """Return the steps per second of a recorded and of a bare loop, each in its turn."""
    with tempfile.TemporaryDirectory() as folder:
        env: Any = Record(gymnasium.make(name), data_dir=folder)
        recorded = steps / play(env, steps)
        env.close()
        return recorded, steps / play(gymnasium.make(name), steps)


def measure(figure: str, name: str, goal: float, steps: int) -> float:
    """Report the share of the bare loop's speed that is left, and return the recorded steps per second."""
    rates(name, steps // 10)
    rounds = [rates(name, steps) for _ in range(ROUNDS)]
    shares = [recorded / bare for recorded, bare in rounds]
    report(figure, median(shares), goal, at_least=True, unit="of the bare loop",
           recorded_per_second=round(median(r for r, _ in rounds)), bare_per_second=round(median(b for _, b in rounds)),
           all=sorted(round(share, 3) for share in shares))  # fmt: skip
    return median(recorded for recorded, _ in rounds)


def main() -> None:
    recorded = measure("record_wrapper", "CartPole-v1", 0.35, STEPS)
    measure("record_wrapper_lander", "LunarLander-v3", 0.70, STEPS // 4)
    if PEERS.exists():
        command = [str(PEERS), "-m", "benchmarks.collector"]
        minari = [float(subprocess.run(command, check=True, capture_output=True, text=True).stdout) for _ in range(3)]
        report("record_wrapper_minari", recorded / median(minari), 4.0, at_least=True, unit="times Minari's collector",
               minari_per_second=round(median(minari)))  # fmt: skip


if __name__ == "__main__":
    main()
