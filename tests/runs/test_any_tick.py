"""Any tick of a run, at once: from the nearest key state, and just as it was."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from ptp.runs import drawing, open_run
from ptp.snapshots.keys import KEYS
from ptp.snapshots.tape import compare
from ptp.worlds.gameboy.states import native_problem


@pytest.mark.parametrize(("world", "agent"), [("tallgrass", "explorer"), ("FrozenLake-v1", "random")])
def test_a_picture_is_the_same_whichever_way_its_tick_was_reached(
    recorded: Callable[..., Path], world: str, agent: str
) -> None:
    directory = recorded(world, "--agent", agent, ticks=300)
    run = open_run(directory.name, directory.parent.parent)
    dice = Random(1)
    ticks = [dice.randint(0, 300) for _ in range(30)]
    jumped = {tick: run.picture(tick).data for tick in ticks}
    drawing._forget()
    (directory / "snapshots" / KEYS).unlink()
    for snapshot in (directory / "snapshots").glob("*.ptpsnap"):
        snapshot.unlink()
    assert {tick: run.picture(tick).data for tick in sorted(ticks)} == jumped


def test_a_jump_plays_few_ticks(recorded: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    directory = recorded("tallgrass", "--snapshot-disk", "0", ticks=400)
    run = open_run(directory.name, directory.parent.parent)
    run.picture(3)
    played: list[int] = []

    def count(tick: int, *hashes: str) -> None:
        played.append(tick)
        compare(tick, *hashes)

    monkeypatch.setattr(drawing, "compare", count)
    for tick in (390, 200, 100, 350):
        played.clear()
        run.picture(tick)
        assert len(played) <= (50 if native_problem() is None else 400)
