"""What the learner comes to in the worlds it is meant for."""

from __future__ import annotations

from statistics import mean

import pytest

from ptp.agents import AgentSetup, Observation
from ptp.agents.bdi import BDIQAgent
from ptp.errors import AgentError
from ptp.worlds import make_world
from tests.agents.bdi.playing import evaluate, learn, spec_of

SEEDS = range(1, 6)


@pytest.mark.parametrize("seed", SEEDS)
def test_it_crosses_the_lake_that_is_not_slippery(seed: int) -> None:
    lake = spec_of("FrozenLake-v1", is_slippery=False)
    agent, returns = learn(lake, seed, 700)
    assert mean(returns[-100:]) >= 0.99
    assert mean(evaluate(agent, lake, 20)) == 1.0


def test_it_crosses_the_slippery_lake_nearly_as_often_as_can_be() -> None:
    _, returns = learn(spec_of("FrozenLake-v1"), seed=1, episodes=2000)
    assert mean(returns[-500:]) >= 0.64


@pytest.mark.parametrize("seed", SEEDS)
def test_it_walks_along_the_cliff_by_the_shortest_way(seed: int) -> None:
    cliff = spec_of("CliffWalking-v1")
    agent, _ = learn(cliff, seed, 150)
    assert evaluate(agent, cliff, 1) == [-13.0]


@pytest.mark.parametrize("seed", SEEDS)
def test_it_drives_the_taxi_without_detours(seed: int) -> None:
    taxi = spec_of("Taxi-v4")
    agent, _ = learn(taxi, seed, 500)
    assert mean(evaluate(agent, taxi, 100)) >= 7


def test_it_balances_the_pole() -> None:
    cart = spec_of("CartPole-v1")
    agent, _ = learn(cart, seed=1, episodes=150)
    assert mean(evaluate(agent, cart, 20)) >= 450


@pytest.mark.parametrize("world", ["FrozenLake-v1", "Blackjack-v1", "CartPole-v1"])
def test_a_mind_that_was_saved_goes_on_as_if_it_never_was(world: str) -> None:
    spec = spec_of(world)
    first, _ = learn(spec, seed=3, episodes=60)
    made = make_world(spec)
    second = BDIQAgent(made.view(), AgentSetup(4, BDIQAgent.Options()))
    second.load(first.save())
    made.close()
    assert second.save() == first.save()
    assert _future(first, world) == _future(second, world)


def _future(agent: BDIQAgent, name: str) -> list[object]:
    world = make_world(spec_of(name))
    told: list[object] = []
    value = world.reset(77)
    for step in range(300):
        decision = agent.decide(Observation(value, None, step, 1, step))
        outcome = world.step(decision.commands[0])
        told.append((decision, agent.on_step(outcome)))
        value = outcome.observation
        if outcome.terminated or outcome.truncated:
            told.append(agent.on_episode_end(1, outcome.reward))
            value = world.reset(step)
    world.close()
    return told


def test_a_decision_says_what_it_intends_and_why_the_intention_changed() -> None:
    world = make_world(spec_of("FrozenLake-v1", is_slippery=False))
    agent = BDIQAgent(world.view(), AgentSetup(1, BDIQAgent.Options(epsilon=0.0, commitment=2)))
    value, said, contexts = world.reset(1), [], []
    for step in range(3):
        decision = agent.decide(Observation(value, None, step, 1, step))
        said.append(decision.reasoning or "")
        contexts.append(decision.context)
        outcome = world.step(0)
        agent.on_step(outcome)
        value = outcome.observation
    world.close()
    assert said[0].endswith("intention taken up, since nothing is known here")
    assert said[1].startswith("explore: ")
    assert said[1].endswith("intention kept")
    assert said[2].startswith("exploit: ")
    assert said[2].endswith("since it has explored as long as it meant to")
    assert contexts[2] == {
        "intention": "exploit",
        "why": "it has explored as long as it meant to",
        "desires": {"explore": 0.0, "exploit": 1.0},
        "beliefs": {"episodes": 0, "best_return": None},
    }


def test_what_each_episode_taught_is_reported_with_the_schedules() -> None:
    world = make_world(spec_of("FrozenLake-v1", is_slippery=False))
    agent = BDIQAgent(world.view(), AgentSetup(1, BDIQAgent.Options(epsilon=0.8, epsilon_decay=0.5)))
    epsilons = []
    for episode in range(1, 4):
        value = world.reset(episode)
        agent.decide(Observation(value, None, episode, episode, 0))
        transition = agent.on_step(world.step(0))
        assert transition is not None
        assert (transition.state, transition.next_state, transition.visits) == (0, 0, transition.visits)
        learnt = agent.on_episode_end(episode, 1.0)
        assert learnt is not None
        assert (learnt.episode, learnt.steps, learnt.average_reward, learnt.success_rate) == (episode, 1, 1.0, 1.0)
        epsilons.append(learnt.epsilon)
    world.close()
    assert epsilons == [0.8, 0.4, 0.2]


def test_a_world_that_it_can_not_learn_is_refused() -> None:
    world = make_world(spec_of("tallgrass"))
    with pytest.raises(AgentError, match="agent 'bdi' can't learn tallgrass"):
        BDIQAgent(world.view(), AgentSetup(1, BDIQAgent.Options()))
    world.close()


def test_a_step_that_somebody_else_took_teaches_nothing() -> None:
    world = make_world(spec_of("FrozenLake-v1"))
    agent = BDIQAgent(world.view(), AgentSetup(1, BDIQAgent.Options()))
    world.reset(1)
    assert agent.on_step(world.step(0)) is None
    world.close()
