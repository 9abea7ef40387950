"""What a crash costs: a run at full speed is killed with -9, and the last decision that was kept is looked up."""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
import time
from datetime import datetime
from pathlib import Path

from benchmarks.common import report
from ptp.recording.database import Database

TIMES = 10
COMMAND = ["-m", "ptp", "run", "--world", "CliffWalking-v1", "--tick-rate-base", "0", "--quiet", "--data-dir"]


def lost(seconds: float) -> float:
    """Return the seconds of play that are lost when a run is killed after *seconds*."""
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen([sys.executable, *COMMAND, folder], stdout=subprocess.DEVNULL)
        while not list(Path(folder).glob("records/*/control.sock")):
            time.sleep(0.02)
        time.sleep(seconds)
        killed_at = time.time()
        process.kill()
        process.wait()
        (path,) = Path(folder).glob("records/*/game_data.db")
        with Database(path) as database:
            (newest,) = database.row("SELECT max(timestamp) FROM action_history")
    return killed_at - datetime.fromisoformat(newest).timestamp()


def main() -> None:
    source = random.Random(1)
    costs = [lost(source.uniform(1.0, 3.0)) for _ in range(TIMES)]
    report("crash_cost", max(costs), 0.25, at_least=False, unit="seconds of play lost by kill -9 at full speed",
           all=sorted(round(cost, 3) for cost in costs))  # fmt: skip


if __name__ == "__main__":
    main()
