"""How the explorer plays Tallgrass from power-on: ticks to the badge for twenty seeds, and what a decision costs."""

from __future__ import annotations

import time

from benchmarks.common import play, report
from ptp.agents import Observation, make_agent
from ptp.config.tree import Agent as AgentConfig
from ptp.worlds import find_world, make_world

SEEDS = range(1, 21)
MOST_TICKS = 20_000
SPECIES = 3  # the one that is given, and two that are caught
GOAL = 20
MICROSECONDS = 60
MEASURED_TICKS = 3_000
ROUNDS = 3


def ticks_to_badge(seed: int) -> int | None:
    """Return the ticks a run took for the badge and two catches; None when it did not get there."""
    result = play(world="tallgrass", agent="explorer", random_seed=seed, max_ticks=MOST_TICKS, max_badges=1)
    if result.error is not None:
        raise SystemExit(f"seed {seed}: {result.error}")
    badges, caught = result.signals.get("badges", 0), result.signals.get("caught", 0)
    return result.ticks if badges and caught >= SPECIES else None


def decision_microseconds(ticks: int) -> float:
    """Return what one decision takes of the processor on average, from power-on."""
    world = make_world(find_world("tallgrass"))
    observation = world.reset(0)
    agent = make_agent("explorer", world, AgentConfig(), 1)
    spent = 0.0
    for tick in range(ticks):
        seen = Observation(observation, world.state(observation), tick, 1, tick)
        began = time.thread_time()
        decision = agent.decide(seen)
        spent += time.thread_time() - began
        assert decision is not None
        world.step(decision.commands[0])
    world.close()
    return spent / ticks * 1e6


def main() -> None:
    ticks = {seed: ticks_to_badge(seed) for seed in SEEDS}
    finished = [count for count in ticks.values() if count is not None]
    report("explorer_badge", len(finished), GOAL, at_least=True, unit=f"of {len(SEEDS)} seeds",
           ticks=ticks, most_ticks=max(finished, default=None))  # fmt: skip
    microseconds = min(decision_microseconds(MEASURED_TICKS) for _ in range(ROUNDS))
    report("explorer_decision", microseconds, MICROSECONDS, at_least=False,
           unit="microseconds a decision", ticks=MEASURED_TICKS)  # fmt: skip


if __name__ == "__main__":
    main()
