"""CartPole with Minari's DataCollector, in steps per second.

Imports nothing of ptp, so that it runs where Minari is installed (`.venv/peers`, made by `make bench`):
`python -m benchmarks.collector` prints the steps per second, of the loop and of making the dataset.
"""

from __future__ import annotations

import os
import tempfile
import time
from typing import Any

import gymnasium

STEPS = 20_000


def play(env: Any, steps: int) -> float:
    """Play CartPole as everybody does, and return the seconds."""
    env.action_space.seed(1)
    env.reset(seed=1)
    began = time.perf_counter()
    for _ in range(steps):
        _, _, terminated, truncated, _ = env.step(env.action_space.sample())
        if terminated or truncated:
            env.reset()
    return time.perf_counter() - began


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        os.environ["MINARI_DATASETS_PATH"] = place
        import minari

        env = minari.DataCollector(gymnasium.make("CartPole-v1"))
        print(STEPS / play(env, STEPS))
        env.close()
