"""What snapshots cost: taking, packing, writing, restoring, and what they take of a run at defaults."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.common import play, report
from ptp._util.clock import Clock
from ptp.agents import make_agent
from ptp.config import RunConfig
from ptp.config.tree import Agent as AgentConfig
from ptp.engine import Engine
from ptp.runner.services import SnapshotKeeper
from ptp.snapshots import SnapshotStore, take
from ptp.snapshots.snapshot import pack
from ptp.worlds import World, find_world, make_world
from ptp.worlds.gameboy.states import StockStates, open_states
from ptp.worlds.gameboy.world import GameBoyWorld


def milliseconds(work: Callable[[], Any], times: int = 15) -> float:
    spent = []
    for _ in range(times):
        began = time.perf_counter()
        work()
        spent.append((time.perf_counter() - began) * 1000)
    return median(spent)


def main() -> None:
    world = make_world(find_world("tallgrass"))
    engine = Engine(world, make_agent("random", world, AgentConfig(), 1), RunConfig(), Clock(), 1)
    engine.start()
    for _ in range(100):
        engine.follow("a")
    snapshot = take(engine, "run", "random", "benchmark", 0)

    def restore() -> None:
        world.load(snapshot.world)
        engine.load(snapshot.engine, world.observe())
        engine.agent.load(snapshot.agent)

    report("snapshot_ram_restore", milliseconds(restore), 10, at_least=False, unit="ms")

    with tempfile.TemporaryDirectory() as folder:

        def save_and_restore() -> None:
            store = SnapshotStore(Path(folder), cache_bytes=0)
            header = store.save(take(engine, "run", "random", "benchmark", 0), compress=True)
            loaded = store.load(header)
            world.load(loaded.world)
            engine.load(loaded.engine, world.observe())

        report("snapshot_disk_save_restore", milliseconds(save_and_restore), 100, at_least=False, unit="ms")
    plain, packed = len(pack(snapshot, False)), len(pack(snapshot, True))
    report("snapshot_lz4", 1 - packed / plain, 0.70, at_least=True, unit="cut off", plain=plain, packed=packed)
    against_stock(world)
    world.close()
    cost_of_a_run()


def against_stock(world: World) -> None:
    """Compare the compiled part with PyBoy's own way, in processor time."""
    assert isinstance(world, GameBoyWorld)
    fast, stock = open_states(world.env.pyboy), StockStates(world.env.pyboy)
    state = stock.save()

    def least(work: Callable[[], object], times: int) -> float:
        spent = []
        for _ in range(times):
            began = time.process_time()
            work()
            spent.append(time.process_time() - began)
        return min(spent)

    save = least(stock.save, 15) / least(fast.save, 60)
    load = least(lambda: stock.load(state), 15) / least(lambda: fast.load(state), 60)
    report("snapshot_native_save", save, 20, at_least=True, unit="times as fast as stock PyBoy")
    report("snapshot_native_load", load, 5, at_least=True, unit="times as fast as stock PyBoy")


def cost_of_a_run() -> None:
    """Measure the share of the run that snapshots at defaults take, at the default tick rate and at full speed."""
    spent = [0.0]
    keep = SnapshotKeeper._keep

    def timed(self: SnapshotKeeper, *arguments: Any, **details: Any) -> None:
        began = time.perf_counter()
        try:
            keep(self, *arguments, **details)
        finally:
            spent[0] += time.perf_counter() - began

    SnapshotKeeper._keep = timed  # type: ignore[method-assign]
    result = play(world="tallgrass", max_ticks=5000, tick_rate_timeout=0)
    at_default_rate = result.ticks / 10  # seconds that these ticks take at --tick-rate-base 10
    report("snapshot_cost", spent[0] / at_default_rate, 0.02, at_least=False, unit="of a run at defaults",
           at_full_speed=round(spent[0] / result.elapsed_seconds, 4))  # fmt: skip


if __name__ == "__main__":
    main()
