"""Stable-Baselines3's PPO on CartPole, recorded by one line.

It needs Stable-Baselines3, which brings PyTorch along; CONTRIBUTING.md has the commands for an environment of its own.

    python examples/sb3_cartpole.py --steps 4096      # then: ptp replay latest --verify
"""

from __future__ import annotations

import argparse

import gymnasium as gym
from stable_baselines3 import PPO

import ptp

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=20_000)
    parser.add_argument("--data-dir", default="var")
    options = parser.parse_args()
    env = gym.make("CartPole-v1")
    env = ptp.Record(env, data_dir=options.data_dir, agent="ppo")  # the line that records everything
    PPO("MlpPolicy", env, seed=1, verbose=1).learn(options.steps)
    env.close()
