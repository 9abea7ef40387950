"""What recording everything costs: CliffWalking with random commands, against bare Gymnasium."""

from __future__ import annotations

from statistics import median

import gymnasium

from benchmarks.common import play, report, seconds

TICKS = 50_000
GOAL = 25_000 / 120_000  # of bare Gymnasium


def bare(ticks: int) -> float:
    """Return the steps per second of Gymnasium alone."""
    env = gymnasium.make("CliffWalking-v1", disable_env_checker=True)
    env.reset(seed=1)
    env.action_space.seed(1)

    def work() -> None:
        for _ in range(ticks):
            _, _, terminated, truncated, _ = env.step(env.action_space.sample())
            if terminated or truncated:
                env.reset()

    return ticks / seconds(work)


def recorded(ticks: int) -> float:
    """Return the ticks per second of a recorded run."""
    result = play(world="CliffWalking-v1", max_ticks=ticks)
    return result.ticks / result.elapsed_seconds


def main() -> None:
    pairs = [(bare(TICKS), recorded(TICKS)) for _ in range(5)]
    ratio = median(ours / alone for alone, ours in pairs)
    report("loop_overhead", ratio, GOAL, at_least=True, unit="of bare Gymnasium",
           ticks_per_second=round(median(ours for _, ours in pairs)),
           bare_per_second=round(median(alone for alone, _ in pairs)))  # fmt: skip
    rounds = [(recorded(TICKS), recorded(10 * TICKS)) for _ in range(3)]
    slowdown = median(1 - long / short for short, long in rounds)
    report("loop_overhead_10x", slowdown, 0.12, at_least=False, unit="slower at 10 times the length")


if __name__ == "__main__":
    main()
