"""Jumps back and forth in one process: every tick is, byte for byte, what it was on the first visit."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from random import Random

import pytest
from benchmarks.soak.jumps import Jumper
from benchmarks.soak.shell import Wrong

from ptp.recording import RunDirectory

WORLDS = [("tallgrass", "explorer", 200), ("CartPole-v1", "random", 300), ("FrozenLake-v1", "random", 300)]


@pytest.mark.parametrize(("world", "agent", "times"), WORLDS)
def test_a_few_hundred_jumps_find_every_tick_as_it_was(
    recorded: Callable[..., Path], tmp_path: Path, world: str, agent: str, times: int
) -> None:
    dice = Random(5)
    with closing(Jumper(RunDirectory(recorded(world, "--agent", agent, ticks=300)))) as jumper:
        jumper.walk(tmp_path / "nowhere")
        for number in range(times):
            jumper.jump(dice.randint(0, jumper.length), from_disk=number % 4 == 0)
        for tick in (0, 1, 299, 300, 0, 300):
            jumper.jump(tick)


@pytest.mark.parametrize("world", ["tallgrass", "CartPole-v1"])
def test_a_tick_that_is_not_what_it_was_is_noticed(recorded: Callable[..., Path], tmp_path: Path, world: str) -> None:
    with closing(Jumper(RunDirectory(recorded(world, ticks=60)))) as jumper:
        jumper.walk(tmp_path / "nowhere")
        jumper._seen[40] = jumper._seen[41]
        with pytest.raises(Wrong, match=r"tick 40 is .* now, and was .* on the first visit"):
            jumper.jump(40)
