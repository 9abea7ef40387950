"""What going back to any tick costs a run, how far it reaches, and how long it takes."""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median, quantiles

from benchmarks.common import play, report
from ptp.config.tree import BY_FLAG, build
from ptp.recording import RunDirectory
from ptp.runner import run as run_game
from ptp.runner.rewinding import LEAST
from ptp.runs import drawing, list_runs
from ptp.snapshots.keys import KEYS, KeyFile
from ptp.worlds import find_world, make_world
from ptp.worlds.gameboy.world import GameBoyWorld

TICKS = 6_000


def cost() -> None:
    """Compare runs that can rewind with runs that can't, in turn."""

    def rate(memory: int) -> float:
        result = play(world="tallgrass", agent="explorer", max_ticks=TICKS, rewind_memory=memory, tick_rate_timeout=0)
        return result.ticks / result.elapsed_seconds

    ratios = [rate(64) / rate(0) for _ in range(5)]
    report("rewind_cost", median(ratios), 0.95, at_least=True, unit="of the speed without")


def jumps(ticks: int, times: int) -> list[float]:
    """Return how long it takes to take a live run back, asked from another process, in milliseconds."""
    with tempfile.TemporaryDirectory() as folder:
        words = [
            "run",
            "--world",
            "tallgrass",
            "--agent",
            "explorer",
            "--tick-rate-base",
            "0",
            "--tick-rate-timeout",
            "0",
        ]
        process = subprocess.Popen([sys.executable, "-m", "ptp", *words, "-q", "--data-dir", folder])
        try:
            while not (found := list_runs(Path(folder))) or not found[0].is_live:
                time.sleep(0.05)
            run = found[0]
            spent: list[float] = []
            while len(spent) < times:
                while run.last_tick < ticks + 300:
                    time.sleep(0.05)
                began = time.perf_counter()
                run.rewind(ticks)
                spent.append((time.perf_counter() - began) * 1000)
                time.sleep(0.3)
        finally:
            process.terminate()
            process.wait()
    return spent


def reach() -> float:
    """Return how many ticks 64 MB reach back, agent included."""
    with tempfile.TemporaryDirectory() as folder:
        flags = {"world": "tallgrass", "agent": "explorer", "tick_rate_base": 0, "tick_rate_timeout": 0,
                 "max_ticks": TICKS, "data_dir": folder}  # fmt: skip
        config = build({BY_FLAG["--" + name.replace("_", "-")]: value for name, value in flags.items()})
        keys = KeyFile(Path(run_game(config).directory) / "snapshots" / KEYS)
        return 64e6 / median(head.packed_bytes for head in keys.heads()) * LEAST


def search() -> None:
    """Restore, play 20 actions, save, in a loop; against the same frames on their own."""
    world = make_world(find_world("tallgrass"))
    assert isinstance(world, GameBoyWorld)
    dice = random.Random(1)
    actions = [dice.randrange(8) for _ in range(20)]
    state = world.save()

    def least(work: Callable[[], object]) -> float:
        spent = []
        for _ in range(40):
            began = time.process_time()
            work()
            spent.append(time.process_time() - began)
        return median(spent)

    def there_and_back() -> None:
        world.load(state)
        for action in actions:
            world.step(action)
        world.save()

    def bare() -> None:
        for action in actions:
            world.env.advance(action)

    world.load(state)
    report("search_rate", least(bare) / least(there_and_back), 0.90, at_least=True, unit="of the bare frames")
    world.close()


def any_tick() -> None:
    """Draw random ticks of a long run."""
    with tempfile.TemporaryDirectory() as folder:
        flags = {"world": "tallgrass", "agent": "explorer", "tick_rate_base": 0, "tick_rate_timeout": 0,
                 "max_ticks": 30_000, "data_dir": folder, "screenshot_interval": 1_000_000}  # fmt: skip
        config = build({BY_FLAG["--" + name.replace("_", "-")]: value for name, value in flags.items()})
        directory = RunDirectory(Path(run_game(config).directory))
        dice, spent = random.Random(2), []
        drawing.draw_here(directory.path, 0, 5)
        for _ in range(200):
            tick = dice.randrange(30_000)
            began = time.perf_counter()
            drawing.draw_here(directory.path, 0, tick)
            spent.append((time.perf_counter() - began) * 1000)
        keys = KeyFile(directory.path / "snapshots" / KEYS)
        report("any_tick", quantiles(spent, n=20)[-1], 60, at_least=False, unit="ms at p95",
               median=round(median(spent), 1), key_megabytes=round(keys.size / 1e6, 1))  # fmt: skip


def main() -> None:
    cost()
    for ticks, most in ((1, 30), (1000, 60)):
        spent = jumps(ticks, 12)
        report(f"rewind_{ticks}", median(spent), most, at_least=False, unit="ms", worst=round(max(spent), 1))
    report("rewind_reach", reach(), 20_000, at_least=True, unit="ticks in 64 MB")
    search()
    any_tick()


if __name__ == "__main__":
    main()
