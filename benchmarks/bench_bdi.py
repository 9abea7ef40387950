"""What the learner comes to over five seeds, and what learning costs beside a recorded agent that does not look."""

from __future__ import annotations

import tempfile
from pathlib import Path
from statistics import mean, median
from typing import Any

from benchmarks.common import play, report
from ptp.config.tree import BY_FLAG, build
from ptp.recording import RunDirectory
from ptp.runner import run
from ptp.runner.evaluation import keep_learnt
from ptp.runs import Run

SEEDS = range(1, 6)
TICKS = 60_000
ROUNDS = 5


def settings(folder: str, world: str, seed: int, episodes: int, agent: dict[str, Any], **options: Any) -> Any:
    values = {"--world": world, "--world-option": options, "--agent": "bdi", "--agent-option": agent,
              "--random-seed": seed, "--episodes": episodes, "--tick-rate-base": 0,
              "--snapshot-disk": 100_000, "--rewind-disk": 0.0, "--data-dir": folder}  # fmt: skip
    return build({BY_FLAG[flag]: value for flag, value in values.items()})


def train(folder: str, world: str, seed: int, episodes: int, **options: Any) -> tuple[RunDirectory, list[float]]:
    """Let the learner play with recording on; return the run and what each episode came to."""
    directory = RunDirectory(Path(run(settings(folder, world, seed, episodes, {}, **options)).directory))
    return directory, [it.reward or 0.0 for it in Run(directory).episodes()]


def evaluate(folder: str, directory: RunDirectory, world: str, episodes: int, **options: Any) -> list[float]:
    """Return what greedy episodes come to with what a run has learnt."""
    agent = {"greedy": True, "learnt": keep_learnt(directory).path}
    result = run(settings(folder, world, 99, episodes, agent, **options))
    return [it.reward or 0.0 for it in Run(RunDirectory(Path(result.directory))).episodes()]


def greedy(world: str, episodes: int, tries: int, **options: Any) -> list[float]:
    """Return the mean greedy return of each seed."""
    means = []
    for seed in SEEDS:
        with tempfile.TemporaryDirectory() as folder:
            directory, _ = train(folder, world, seed, episodes, **options)
            means.append(mean(evaluate(folder, directory, world, tries, **options)))
    return means


def last(world: str, seed: int, episodes: int, count: int) -> float:
    """Return the mean of the last episodes of training."""
    with tempfile.TemporaryDirectory() as folder:
        return mean(train(folder, world, seed, episodes)[1][-count:])


def speed() -> None:
    """Report the ticks per second of learning beside those of `random`, each in its turn."""
    pairs = [
        [
            play(world="FrozenLake-v1", agent=agent, max_ticks=TICKS).ticks_per_second or 0.0
            for agent in ("bdi", "random")
        ]
        for _ in range(ROUNDS)
    ]
    report("bdi_speed", median(bdi / other for bdi, other in pairs), 0.6, at_least=True, unit="of the random agent",
           bdi_per_second=round(median(bdi for bdi, _ in pairs)),
           random_per_second=round(median(other for _, other in pairs)))  # fmt: skip


def main() -> None:
    speed()
    for figure, goal, unit, means in (
        ("bdi_frozen_lake", 0.99, "of greedy episodes", greedy("FrozenLake-v1", 1000, 100, is_slippery=False)),
        ("bdi_cliff", -13.0, "greedy return", greedy("CliffWalking-v1", 300, 1)),
        ("bdi_taxi", 7.0, "mean greedy return", greedy("Taxi-v4", 1000, 100)),
        ("bdi_cart_pole", 450.0, "mean greedy return", greedy("CartPole-v1", 250, 100)),
    ):
        report(figure, min(means), goal, at_least=True, unit=unit, all=[round(it, 3) for it in means])
    slippery = [last("FrozenLake-v1", seed, 5000, 500) for seed in SEEDS]
    report("bdi_slippery", mean(slippery), 0.70, at_least=True, unit="of the last 500 of 5,000 episodes",
           all=[round(it, 3) for it in slippery])  # fmt: skip
    report("bdi_slippery_least", min(slippery), 0.64, at_least=True, unit="of the last 500 of 5,000 episodes")
    report("bdi_lander", last("LunarLander-v3", 1, 5000, 100), 0.0, at_least=True, unit="mean return of the last 100")


if __name__ == "__main__":
    main()
