"""Learn to balance a pole with four environments at once, NumPy alone, and every step recorded.

    python examples/learn_cartpole.py            # then: ptp dashboard, ptp replay latest --verify
    python examples/learn_cartpole.py --updates 5

The learner is REINFORCE with a linear policy. Only two lines are about ptp.
"""

from __future__ import annotations

import argparse

import gymnasium as gym
import numpy as np

import ptp


def main(updates: int, seed: int, data_dir: str) -> list[float]:
    envs = gym.make_vec("CartPole-v1", num_envs=4, vectorization_mode="sync")
    envs = ptp.RecordVector(envs, data_dir=data_dir, agent="reinforce")  # the line that records everything
    dice = np.random.default_rng(seed)
    weights = np.zeros(4)
    observations, _ = envs.reset(seed=seed)
    lengths: list[float] = []
    for _ in range(updates):
        observations, gradient, mean_length = play(envs, observations, weights, dice)
        weights += 0.02 * gradient
        lengths.append(mean_length)
        envs.log({"mean_length": mean_length})  # measurements go beside the steps
    envs.close()
    return lengths


def play(envs, observations, weights, dice, steps: int = 256):
    """Play some steps in every environment; return where they are, the policy gradient, and how long poles stood."""
    seen, slopes, ended = [], [], []
    for _ in range(steps):
        right = 1 / (1 + np.exp(-observations @ weights))
        actions = (dice.random(len(right)) < right).astype(int)
        seen.append(observations)
        slopes.append(actions - right)
        observations, _, terminated, truncated, _ = envs.step(actions)
        ended.append(terminated | truncated)
    returns = np.zeros((steps, len(ended[0])))
    ahead = np.zeros(len(ended[0]))
    for step in reversed(range(steps)):
        ahead = np.where(ended[step], 1.0, 1.0 + 0.99 * ahead)
        returns[step] = ahead
    advantage = (returns - returns.mean()) / (returns.std() + 1e-8)
    gradient = np.einsum("se,se,sew->w", advantage, np.array(slopes), np.array(seen)) / steps
    return observations, gradient, steps * len(ended[0]) / max(1, int(np.sum(ended)))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--updates", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--data-dir", default="var")
    options = parser.parse_args()
    found = main(options.updates, options.seed, options.data_dir)
    print(f"a pole stood {found[0]:.0f} steps at first, {found[-1]:.0f} at last")
