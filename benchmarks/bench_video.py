"""What recording a video costs: LunarLander filmed, in turns with stepping and drawing it alone; the same beside
Gymnasium's own recorder; and a Game Boy screen beside real time.

Gymnasium's recorder needs moviepy, which refuses the Pillow that ptp uses: `make bench` gives it an environment of
its own, and where there is none that one figure is left out.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import TypeVar

import numpy as np

from benchmarks.beside import Beside, Loop
from benchmarks.common import report, seconds
from benchmarks.lander import STEPS, fly, lander
from ptp.frames import Camera, StorageProfile, VideoWriter, video_of_run
from ptp.records import Step
from ptp.testing import fake_run
from ptp.worlds import find_world, make_world
from ptp.worlds.gameboy.profiles import BUILT_IN

T = TypeVar("T")

PEERS = Path(sys.prefix, "peers", "bin", "python")
TURN = 30  # steps after which the bare loop has its turn
ROUNDS = 5
GAME_FRAMES = 1800


def bare() -> Loop:
    """Return LunarLander alone, stepped and drawn, as a loop."""
    env = lander()
    dice = np.random.default_rng(1)
    env.reset(seed=1)

    def loop(ticks: int) -> None:
        for _ in range(ticks):
            _, _, terminated, truncated, _ = env.step(int(dice.integers(4)))
            env.render()
            if terminated or truncated:
                env.reset(seed=1)

    return loop


def pair(folder: Path) -> tuple[float, float, float]:
    """Return the share of the speed of stepping and drawing alone that is left with a video, and both speeds."""
    beside = Beside(bare)

    def take_turns(tick: int, video: VideoWriter) -> None:
        if tick % TURN == 0:
            while video.frames < tick and video.problem is None:
                time.sleep(0.0002)  # nothing may be encoded at the expense of the other's turn
            beside.let_it_play(tick)

    took = STEPS / rate_filmed(folder, take_turns)
    return beside.ratio(took), STEPS / (took - beside.held_up), STEPS / beside.alone


def rate_filmed(folder: Path, after: Callable[[int, VideoWriter], None] = lambda tick, video: None) -> float:
    """Return the steps per second with ptp's video, up to and including the finished file."""
    world = make_world(find_world("LunarLander-v3"), "rgb_array")
    video = video_of_run(folder, world, 1)
    profile = StorageProfile(tier="none", ring_frames=0)
    camera = Camera(fake_run(folder, world), profile, video)

    def each(tick: int) -> None:
        camera.took([Step(tick, 1, tick, "0", 0.0, False, False, 0.0, "")])
        after(tick, video)

    def work() -> None:
        fly(world.env, each)
        camera.ended(None)  # type: ignore[arg-type] # it does not look at it

    rate = STEPS / seconds(work)
    world.close()
    assert video.frames == STEPS
    return rate


def rate_gymnasium(folder: Path) -> float:
    """Return the steps per second with Gymnasium's RecordVideo, in its own environment."""
    done = subprocess.run([str(PEERS), "-m", "benchmarks.lander"], check=True, capture_output=True, text=True)
    return float(done.stdout.splitlines()[-1])


def rate_game(folder: Path) -> float:
    """Return how many times as fast as real time a Game Boy screen is played and filmed, every frame of it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pyboy import PyBoy

    pyboy = PyBoy(str(BUILT_IN["tallgrass"]), window="null", sound_emulated=False, log_level="CRITICAL", no_input=True)
    pyboy.set_emulation_speed(0)
    video = VideoWriter(folder / "game.mp4", 60)
    dice = np.random.default_rng(1)

    def work() -> None:
        for frame in range(GAME_FRAMES):
            if frame % 24 == 0:
                pyboy.button(("a", "start", "up", "down", "left", "right")[dice.integers(6)])
            pyboy.tick(1, True, False)
            video.add(pyboy.screen.ndarray[:, :, :3].copy())
        video.close()

    rate = GAME_FRAMES / 60 / seconds(work)
    pyboy.stop(save=False)
    assert video.frames == GAME_FRAMES
    return rate


def rounds(*measures: Callable[[Path], T]) -> list[list[T]]:
    """Return the rates of each, taking turns so that a busy machine meets all alike."""
    found = []
    for _ in range(ROUNDS):
        with tempfile.TemporaryDirectory() as folder:
            found.append([measure(Path(folder)) for measure in measures])
    return [list(column) for column in zip(*found, strict=True)]


def main() -> None:
    (pairs,) = rounds(pair)
    ratio, filmed, alone = (median(column) for column in zip(*pairs, strict=True))
    report("video", ratio, 0.70, at_least=True, unit="of stepping and drawing alone", steps_per_second=round(filmed),
           drawing_alone=round(alone), all=sorted(round(pair[0], 3) for pair in pairs))  # fmt: skip
    if PEERS.exists():
        theirs, ours = rounds(rate_gymnasium, rate_filmed)
        ratio = median(mine / other for mine, other in zip(ours, theirs, strict=True))
        report("video_gymnasium", ratio, 2.0, at_least=True, unit="times Gymnasium's RecordVideo",
               steps_per_second=round(median(ours)), record_video=round(median(theirs)))  # fmt: skip
    (game,) = rounds(rate_game)
    report("video_game", median(game), 10.0, at_least=True, unit="times real time, Game Boy")


if __name__ == "__main__":
    main()
