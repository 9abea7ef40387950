"""Going back in a run that keeps pictures: no picture of a future that was given up is left."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from ptp.cli import main
from ptp.recording import RunDirectory
from ptp.replay import Replay, Tape
from tests.frames.playing import read_frame
from tests.runner.test_going_back import Live, live, rows

__all__ = ["live"]  # the fixture

EVERY = 5  # ticks between two pictures
SHOTS = "SELECT tick, file_path FROM screenshots ORDER BY tick"
REFERENCES = "SELECT tick, frame_ref FROM steps WHERE frame_ref IS NOT NULL ORDER BY tick"


def every_picture_is_of_its_tick(directory: RunDirectory) -> int:
    """Compare the pictures with the screen when the tape is played again; return how many there are.

    A picture that is the one before is not kept twice.
    """
    shots = dict(rows(directory.path, SHOTS))
    assert all(tick % EVERY == 0 for tick in shots)
    newest = ""
    replay = Replay(Tape(directory))
    for step in replay:
        if step.tick % EVERY == 0:
            newest = shots.get(step.tick, newest)
            screen = replay.world.frame()
            assert isinstance(screen, np.ndarray)
            assert np.array_equal(np.asarray(read_frame(directory.path, newest)), screen), step.tick
    replay.close()
    assert replay.result.equal
    return len(shots)


@pytest.mark.parametrize("flags", [(), ("--screenshot-async",)], ids=["at once", "in the background"])
def test_a_run_with_pictures_goes_back_and_on_and_every_picture_is_of_its_tick(
    live: Callable[..., Live], flags: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    game = live("--snapshot-disk", "40", "--screenshot-interval", str(EVERY), "--screenshot-format", "png",
                "--random-seed", "3", "--tick-rate-base", "100", *flags)  # fmt: skip
    path = game.directory.path
    game.wait_for(150)
    game.ask("pause")
    before = game.ask("status")["tick"]
    to_tick = game.ask("rollback", count=2)["tick"]
    assert to_tick <= before - 40
    assert rows(path, "SELECT from_tick, to_tick FROM rewinds") == [(before, to_tick)]
    kept = rows(path, SHOTS)
    assert 0 < kept[-1][0] <= to_tick
    assert rows(path, REFERENCES) == kept
    game.ask("resume")
    game.wait_for(to_tick + 90)
    game.ask("stop")
    assert game.process.wait(30) == 0
    ticks = game.directory.read_metadata().ticks
    assert ticks is not None
    assert rows(path, REFERENCES) == rows(path, SHOTS)
    assert every_picture_is_of_its_tick(game.directory) > len(kept) > 5
    assert main(["replay", str(path), "--verify"]) == 0
    assert capsys.readouterr().out.startswith(f"equal: {ticks} ticks")
