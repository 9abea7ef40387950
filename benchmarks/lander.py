"""LunarLander as everybody plays it: alone, or filmed by Gymnasium's own recorder.

Imports nothing of ptp, so that it also runs where Gymnasium's recorder is installed (`.venv/peers`, made by
`make bench`): `python -m benchmarks.lander` prints the steps per second that are left with RecordVideo.
"""

from __future__ import annotations

import tempfile
import time
import warnings
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np

STEPS = 600


def lander() -> Any:
    return gymnasium.make("LunarLander-v3", render_mode="rgb_array", disable_env_checker=True)


def fly(env: Any, each: Callable[[int], Any]) -> None:
    """Play LunarLander with the same commands every time."""
    dice = np.random.default_rng(1)
    env.reset(seed=1)
    for tick in range(1, STEPS + 1):
        _, _, terminated, truncated, _ = env.step(int(dice.integers(4)))
        each(tick)
        if terminated or truncated:
            env.reset(seed=tick)


def rate_recorded(folder: str) -> float:
    """Return the steps per second with RecordVideo, up to and including the finished files."""
    from gymnasium.wrappers import RecordVideo

    env: Any = RecordVideo(lander(), folder, episode_trigger=lambda episode: True)
    began = time.perf_counter()
    fly(env, lambda tick: None)
    env.close()
    return STEPS / (time.perf_counter() - began)


if __name__ == "__main__":
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as place:
        warnings.simplefilter("ignore")
        print(rate_recorded(place))
