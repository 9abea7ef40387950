"""What recording everything costs: CliffWalking with random commands, against bare Gymnasium."""

from __future__ import annotations

from statistics import median

import gymnasium

from benchmarks.beside import Beside, Loop
from benchmarks.common import play, report

TICKS = 50_000
GOAL = 0.33  # of bare Gymnasium


def bare() -> Loop:
    """Return Gymnasium alone, as a loop."""
    env = gymnasium.make("CliffWalking-v1", disable_env_checker=True)
    env.reset(seed=1)
    env.action_space.seed(1)

    def loop(ticks: int) -> None:
        for _ in range(ticks):
            _, _, terminated, truncated, _ = env.step(env.action_space.sample())
            if terminated or truncated:
                env.reset()

    return loop


def pair() -> tuple[float, float, float]:
    """Return the run's share of the speed of Gymnasium alone, and the ticks per second of both."""
    beside = Beside(bare, times=10)
    result = play(world="CliffWalking-v1", max_ticks=TICKS, sink=beside)
    ratio = beside.ratio(result.elapsed_seconds)
    return ratio, result.ticks / (result.elapsed_seconds - beside.held_up), result.ticks / beside.alone


def recorded(ticks: int) -> float:
    """Return the ticks per second of a recorded run."""
    result = play(world="CliffWalking-v1", max_ticks=ticks)
    return result.ticks / result.elapsed_seconds


def main() -> None:
    pairs = [pair() for _ in range(9)]
    ratio, ours, alone = (median(column) for column in zip(*pairs, strict=True))
    report("loop_overhead", ratio, GOAL, at_least=True, unit="of bare Gymnasium", ticks_per_second=round(ours),
           bare_per_second=round(alone), all=sorted(round(pair[0], 3) for pair in pairs))  # fmt: skip
    rounds = [(recorded(TICKS), recorded(10 * TICKS)) for _ in range(3)]
    slowdown = median(1 - long / short for short, long in rounds)
    report("loop_overhead_10x", slowdown, 0.12, at_least=False, unit="slower at 10 times the length")


if __name__ == "__main__":
    main()
