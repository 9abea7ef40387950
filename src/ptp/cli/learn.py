"""`ptp train` and `ptp eval`: let an agent learn, and let it play with what it has learnt."""

from __future__ import annotations

from ptp.cli.common import named_run
from ptp.cli.parser import Options
from ptp.cli.play import play
from ptp.config import RunConfig, replace
from ptp.config.flags import given_values
from ptp.config.tree import BY_FLAG, BY_PATH, Values, build, merge, values_of
from ptp.errors import UsageError
from ptp.runner import run
from ptp.runner.evaluation import keep_learnt
from ptp.runs import Run
from ptp.runs.settings import read_config

TRAIN: Values = {BY_FLAG["--agent"]: "bdi", BY_FLAG["--tick-rate-base"]: 0}
EPISODES = 100  # of an evaluation that says nothing of its length
OWN = ("world", "agent")  # what an evaluation takes from the run that has learnt


def train(options: Options) -> int:
    """Play a new run in which an agent learns, as fast as it can."""
    given = [BY_PATH[path] for path in options.config.given]
    config = build(
        {**TRAIN, **{item: value for item, value in values_of(options.config).items() if item in given}}, given
    )
    return play(options, config, lambda sinks: run(config, run_id=options.run_id, sinks=sinks))


def evaluate(options: Options) -> int:
    """Play greedily with what a run has learnt, in a run of its own."""
    found = named_run(options)
    config, learnt = _greedy(options, found), keep_learnt(found.directory, trusted=options.trust)
    chosen = {**config.agent.options, "greedy": True, "learnt": learnt.path}
    config = replace(config, agent=replace(config.agent, options=chosen))
    return play(options, config, lambda sinks: run(config, run_id=options.run_id, sinks=sinks, evaluates=learnt.of))


def _greedy(options: Options, found: Run) -> RunConfig:
    """Return the settings of an evaluation: world and agent of the run, and what was given."""
    given = given_values(options)
    for item in given:
        if item.section in OWN:
            raise UsageError(f"{item.flag} is that of the run that has learnt; leave it out")
    recorded = values_of(read_config(found.directory))
    own = {item: value for item, value in recorded.items() if item.section in OWN}
    defaults: Values = {
        BY_FLAG["--tick-rate-base"]: 0,
        BY_FLAG["--episodes"]: EPISODES,
        BY_FLAG["--data-dir"]: str(found.path.parent.parent),
    }
    return build(merge(defaults, own, given), given)
