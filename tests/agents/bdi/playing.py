"""The learner in a world, without a recorder: fast enough for thousands of episodes."""

from __future__ import annotations

from contextlib import closing
from typing import Any

from ptp.agents import AgentSetup, Observation
from ptp.agents.bdi import BDIQAgent
from ptp.records import WorldSpec
from ptp.worlds import make_world
from ptp.worlds.registry import find_world


def spec_of(name: str, **options: Any) -> WorldSpec:
    found = find_world(name)
    return WorldSpec(found.name, found.entry, {**found.options, **options})


def play(agent: BDIQAgent, world: Any, episodes: int, seed: int) -> list[float]:
    """Play episodes as an engine would, and return what each came to."""
    returns, tick = [], 0
    for episode in range(1, episodes + 1):
        value, total, step, over = world.reset(seed * 100_003 + episode), 0.0, 0, False
        while not over:
            decision = agent.decide(Observation(value, None, tick, episode, step))
            outcome = world.step(decision.commands[0])
            agent.on_step(outcome)
            tick, step, value = tick + 1, step + 1, outcome.observation
            total, over = total + outcome.reward, outcome.terminated or outcome.truncated
        agent.on_episode_end(episode, total)
        returns.append(total)
    return returns


def learn(spec: WorldSpec, seed: int, episodes: int, **options: Any) -> tuple[BDIQAgent, list[float]]:
    """Return an agent that has learnt, and the returns of its episodes."""
    with closing(make_world(spec)) as world:
        agent = BDIQAgent(world.view(), AgentSetup(seed, BDIQAgent.Options(**options)))
        return agent, play(agent, world, episodes, seed)


def evaluate(agent: BDIQAgent, spec: WorldSpec, episodes: int) -> list[float]:
    """Return what greedy episodes come to with what an agent has learnt."""
    with closing(make_world(spec)) as world:
        greedy = BDIQAgent(world.view(), AgentSetup(0, BDIQAgent.Options(greedy=True)))
        greedy.load(agent.save())
        return play(greedy, world, episodes, seed=987)
