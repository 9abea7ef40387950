"""What going back to any tick costs a run, how far it reaches, and how long it takes."""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median, quantiles

import httpx

from benchmarks.bench_dashboard import serving
from benchmarks.common import play, process_seconds, report
from ptp.config.tree import BY_FLAG, build
from ptp.recording import RunDirectory
from ptp.records import Record, Step
from ptp.runner import fork
from ptp.runner import run as run_game
from ptp.runner.rewinding import LEAST
from ptp.runs import list_runs
from ptp.runs.settings import change, read_config
from ptp.sinks import Sink
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

    def there_and_back() -> None:
        world.load(state)
        for action in actions:
            world.step(action)
        world.save()

    def bare() -> None:
        for action in actions:
            world.env.advance(action)

    def spent(work: Callable[[], None]) -> float:
        world.load(state)  # both play the same frames
        began = time.process_time()
        work()
        return time.process_time() - began

    pairs = [(spent(bare), spent(there_and_back)) for _ in range(100)]
    alone, whole = (median(column) for column in zip(*pairs, strict=True))
    report("search_rate", alone / whole, 0.90, at_least=True, unit="of the bare frames",
           restores_per_second=round(1 / whole, 1))  # fmt: skip
    world.close()


@contextmanager
def long_run(ticks: int) -> Iterator[RunDirectory]:
    """Play the explorer for so long that no tick is near another by chance, and keep next to no pictures."""
    with tempfile.TemporaryDirectory() as folder:
        flags = {"world": "tallgrass", "agent": "explorer", "tick_rate_base": 0, "tick_rate_timeout": 0,
                 "max_ticks": ticks, "data_dir": folder, "screenshot_interval": 10_000_000}  # fmt: skip
        config = build({BY_FLAG["--" + name.replace("_", "-")]: value for name, value in flags.items()})
        yield RunDirectory(Path(run_game(config).directory))


def any_tick(directory: RunDirectory, ticks: int) -> None:
    """Ask the dashboard for pictures of random ticks of a long run."""
    dice, spent = random.Random(2), []
    with serving(directory.data_dir) as url, httpx.Client(timeout=120) as client:
        for number in range(201):
            asked: dict[str, str | int] = {"run": directory.run_id, "tick": dice.randrange(ticks)}
            began = time.perf_counter()
            client.get(f"{url}/api/v1/frame", params=asked).raise_for_status()
            if number:  # the first one starts the worker
                spent.append((time.perf_counter() - began) * 1000)
    keys = KeyFile(directory.path / "snapshots" / KEYS)
    report("any_tick", quantiles(spent, n=20)[-1], 60, at_least=False, unit="ms at p95", ticks=ticks,
           median=round(median(spent), 1), key_megabytes=round(keys.size / 1e6, 1))  # fmt: skip


class FirstTick(Sink):
    """Notes when a run has played its first tick here."""

    inline = True
    each_tick = True
    at = 0.0

    def took(self, records: Sequence[Record]) -> None:
        """Note the time of the first step."""
        if not self.at and any(type(record) is Step for record in records):
            self.at = time.perf_counter()


def fork_start(directory: RunDirectory, ticks: int) -> None:
    """Fork a long run at random ticks: up to the first tick, and as a command against one that begins anew."""
    dice, spent = random.Random(3), []
    for _ in range(10):
        tick, sink = dice.randrange(ticks), FirstTick()
        config = change(read_config(directory), {"data_dir": str(directory.data_dir), "max_ticks": tick + 1})
        began = time.perf_counter()
        fork(directory, tick, config, sinks=[sink])
        spent.append((sink.at - began) * 1000)
    words = ["-m", "ptp", "fork", directory.run_id, "--at-tick", str(ticks // 2), "--max-ticks", str(ticks // 2 + 1)]
    new = [
        "-m",
        "ptp",
        "run",
        "--world",
        "tallgrass",
        "--agent",
        "explorer",
        "--tick-rate-base",
        "0",
        "--max-ticks",
        "1",
    ]
    where = ["-q", "--data-dir", str(directory.data_dir)]
    forked, begun = process_seconds([*words, *where], [*new, *where], times=5)
    report("fork_start", median(spent), 1000, at_least=False, unit="ms to the first tick", ticks=ticks,
           worst=round(max(spent)), more_than_a_new_run_ms=round((forked - begun) * 1000))  # fmt: skip


def rewinds() -> None:
    """Take a live run back by one tick and by many."""
    for ticks, most in ((1, 30), (1000, 60)):
        spent = jumps(ticks, 12)
        report(f"rewind_{ticks}", median(spent), most, at_least=False, unit="ms", worst=round(max(spent), 1))
    report("rewind_reach", reach(), 20_000, at_least=True, unit="ticks in 64 MB")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bench_rewind", description=__doc__)
    parser.add_argument("--only", choices=("cost", "rewinds", "search", "long"), help="measure only these")
    parser.add_argument("--ticks", type=int, default=100_000, help="length of the long run (%(default)s)")
    options = parser.parse_args()
    for part in (cost, rewinds, search):
        if options.only in (None, part.__name__):
            part()
    if options.only in (None, "long"):
        with long_run(options.ticks) as directory:
            any_tick(directory, options.ticks)
            fork_start(directory, options.ticks)


if __name__ == "__main__":
    main()
