"""What keeping a picture costs the run, and what pictures take in memory and on disk."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmarks.common import report
from ptp.config import RunConfig, replace
from ptp.config.tree import Screenshot
from ptp.frames import Camera, StorageProfile, find_profile
from ptp.frames.disk import tree_bytes
from ptp.records import Step
from ptp.testing import fake_run
from ptp.worlds import World, find_world, make_world

PICTURES = 400


class Drawn(World):
    """LunarLander's pictures, drawn beforehand, so that only keeping them is measured."""

    def __init__(self, pictures: list[Any]) -> None:
        world = make_world(find_world("LunarLander-v3"))
        self.facts, self.spec, self._pictures, self._next = world.facts, world.spec, pictures, 0

    def frame(self) -> Any:
        self._next += 1
        return self._pictures[self._next % len(self._pictures)]


def lander_pictures(count: int) -> tuple[list[Any], float]:
    """Return pictures of a flight, and the milliseconds that drawing one takes."""
    world = make_world(find_world("LunarLander-v3"))
    world.reset(1)
    pictures, took = [], []
    for _ in range(count):
        outcome = world.step(world.action_space.sample())
        began = time.perf_counter()
        pictures.append(world.frame())
        took.append(time.perf_counter() - began)
        if outcome.terminated or outcome.truncated:
            world.reset(1)
    world.close()
    return pictures, median(took) * 1000


def step(tick: int) -> list[Any]:
    return [Step(tick, 1, tick, "0", 0.0, False, False, 0.0, "", None)]


def camera(folder: str, world: World, config: Screenshot, profile: StorageProfile) -> Camera:
    return Camera(fake_run(Path(folder), world, replace(RunConfig(), screenshot=config)), profile)


def costs(pictures: list[Any], config: Screenshot, pause: float = 0.0) -> tuple[list[float], Camera]:
    """Return the milliseconds that the run spent on each picture."""
    took = []
    with tempfile.TemporaryDirectory() as folder:
        profile = StorageProfile(tier="files")
        keeper = camera(folder, Drawn(pictures), config, profile)
        for tick in range(1, PICTURES + 1):
            began = time.perf_counter()
            keeper.took(step(tick))
            took.append((time.perf_counter() - began) * 1000)
            time.sleep(pause)
        keeper.ended(None)  # type: ignore[arg-type] # it does not look at it
    return took, keeper


def percentile(values: list[float], share: float) -> float:
    return sorted(values)[int(len(values) * share)]


def measure_capture(pictures: list[Any], drawing_ms: float) -> None:
    facts: Callable[[list[float], Camera], dict[str, Any]] = lambda took, keeper: {  # noqa: E731 - one table
        "p99_ms": round(percentile(took, 0.99), 3),
        "kept": keeper.counts.kept,
        "repeated": keeper.counts.repeated,
        "dropped": keeper.counts.dropped,
        "drawing_ms": round(drawing_ms, 2),
    }
    took, keeper = costs(pictures, Screenshot(interval=1, in_background=True), pause=0.002)
    report("frame_async", median(took), 1.0, at_least=False, unit="ms of the run", **facts(took, keeper))
    took, keeper = costs(pictures, Screenshot(interval=1))
    report("frame_sync", median(took), 50.0, at_least=False, unit="ms of the run", **facts(took, keeper))


def measure_game() -> None:
    """Measure what a new picture of a Game Boy screen costs the run: drawn, held, annotated, encoded and written."""
    world = make_world(find_world("tallgrass"))
    world.reset(1)
    dice, buttons, took = np.random.default_rng(1), ("a", "b", "start", "up", "down", "left", "right"), []
    with tempfile.TemporaryDirectory() as folder:
        config, profile = Screenshot(interval=1), find_profile("gameboy")
        keeper = camera(folder, world, config, profile)
        for tick in range(1, 4 * PICTURES):
            world.step(world.parse(buttons[dice.integers(len(buttons))]))
            used, began = keeper.counts.bytes, time.perf_counter()
            keeper.took(step(tick))
            if keeper.counts.bytes > used:
                took.append((time.perf_counter() - began) * 1000)
        keeper.ended(None)  # type: ignore[arg-type] # it does not look at it
    world.close()
    report("frame_game", median(took), 0.6, at_least=False, unit="ms of the run, a new Game Boy picture",
           p99_ms=round(percentile(took, 0.99), 3), pictures=len(took))  # fmt: skip


def measure_ring(pictures: list[Any]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        profile = StorageProfile(tier="files", ring_every_n_ticks=1)
        keeper = camera(folder, Drawn(pictures), Screenshot(), profile)
        for tick in range(1, 1001):
            keeper.took(step(tick))
        keeper.ended(None)  # type: ignore[arg-type] # it does not look at it
    report("frame_ring", len(keeper.ring.ticks()), 512, at_least=False, unit="pictures in memory after 1,000 steps",
           megabytes=round(keeper.ring.bytes / 1e6, 1))  # fmt: skip


def measure_still() -> None:
    screen = np.full((144, 160, 3), 200, np.uint8)
    with tempfile.TemporaryDirectory() as folder:
        profile = StorageProfile(tier="files")
        keeper = camera(folder, Drawn([screen]), Screenshot(interval=1), profile)
        for tick in range(1, 100_001):
            keeper.took(step(tick))
        keeper.ended(None)  # type: ignore[arg-type] # it does not look at it
        size = tree_bytes(Path(folder))
    report("frame_still", size / 1e6, 1.0, at_least=False, unit="MB for 100,000 pictures of a still screen")


def main() -> None:
    measure_game()  # first: some file systems create files slowly for a while after many were removed
    pictures, drawing_ms = lander_pictures(300)
    measure_capture(pictures, drawing_ms)
    measure_ring(pictures)
    measure_still()


if __name__ == "__main__":
    main()
