"""Agents: the same seed, the same commands; and thinking without holding up the clock."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import numpy as np
import pytest
from gymnasium import spaces

from ptp.agents import Agent, AgentSetup, Decision, Observation, agent_names, make_agent
from ptp.agents import registry as agent_registry
from ptp.agents.registry import BackgroundAgent
from ptp.agents.simple import RandomAgent
from ptp.config.tree import Agent as AgentConfig
from ptp.errors import ConfigError, ScriptError, UnknownName
from ptp.testing import FakeAgent, FakeWorld
from ptp.worlds import find_world, make_world

NOTHING = Observation(0, {}, 0, 1, 0)


def decided(agent: Agent) -> tuple[object, ...]:
    decision = agent.decide(NOTHING)
    assert decision is not None
    return decision.commands


def test_random_with_the_same_seed_gives_the_same_commands() -> None:
    games = []
    for _ in range(2):
        agent = RandomAgent(make_world(find_world("Taxi-v4")).view(), AgentSetup(seed=5))
        games.append([str(decided(agent)) for _ in range(50)])
    assert games[0] == games[1]
    assert len(set(games[0])) > 1


def test_random_goes_on_where_it_was_saved_even_in_a_space_of_spaces() -> None:
    world = FakeWorld()
    world.env.action_space = spaces.Dict({"a": spaces.Discrete(9), "b": spaces.Box(0, 1, (2,))})
    agent = RandomAgent(world.view(), AgentSetup(seed=5))
    decided(agent)
    saved = json.loads(json.dumps(agent.save()))
    expected = [str(decided(agent)) for _ in range(10)]
    agent.load(saved)
    assert [str(decided(agent)) for _ in range(10)] == expected


def test_a_script_plays_its_lines_and_then_has_finished(tmp_path: Path) -> None:
    path = tmp_path / "moves.txt"
    path.write_text("right  # go\n\n# a remark\n1\nUP\n")
    world = make_world(find_world("FrozenLake-v1"))
    agent = make_agent("script", world, AgentConfig(script=str(path)), 0)
    assert decided(agent) == (2,)
    saved = json.loads(json.dumps(agent.save()))
    for _ in range(2):
        assert [decided(agent) for _ in range(4)] == [(1,), (3,), (), ()]
        agent.load(saved)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("right\nrihgt\n", r"moves.txt:2:1: no command named 'rihgt'; did you mean right"),
        ("# none\n", "the script does nothing"),
    ],
)
def test_a_bad_script_is_refused_by_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "moves.txt"
    path.write_text(text)
    with pytest.raises(ScriptError, match=message):
        make_agent("script", make_world(find_world("FrozenLake-v1")), AgentConfig(script=str(path)), 0)


def test_a_script_that_cant_be_read_is_refused(tmp_path: Path) -> None:
    world = make_world(find_world("FrozenLake-v1"))
    with pytest.raises(ScriptError, match="No such file"):
        make_agent("script", world, AgentConfig(script=str(tmp_path / "none")), 0)
    with pytest.raises(ConfigError, match="needs a script"):
        make_agent("script", world, AgentConfig(), 0)
    (tmp_path / "bytes").write_bytes(b"\xff\xfe")
    with pytest.raises(ScriptError, match="not UTF-8"):
        make_agent("script", world, AgentConfig(script=str(tmp_path / "bytes")), 0)


def test_an_unknown_agent_is_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownName, match="no agent named 'randm'; did you mean 'random'"):
        make_agent("randm", FakeWorld(), AgentConfig(), 0)
    assert {"random", "script"} <= set(agent_names())


def test_an_agent_that_cant_be_imported_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(agent_registry.AGENTS, "ghost", "no_such_module:Ghost")
    with pytest.raises(ConfigError, match="no_such_module can't be imported: ModuleNotFoundError"):
        make_agent("ghost", FakeWorld(), AgentConfig(), 0)


class Ponderer(FakeAgent):
    """Thinks until it is told to answer."""

    slow = True

    def __init__(self, world: FakeWorld, answer: Decision | Exception) -> None:
        super().__init__(world, [answer])
        self.may_answer = threading.Event()

    def decide(self, observation: Observation) -> Decision | None:
        self.may_answer.wait(10)
        return super().decide(observation)


def test_a_slow_agent_is_asked_without_waiting() -> None:
    slow = Ponderer(FakeWorld(), Decision((2,)))
    agent = BackgroundAgent(slow, lambda: None)
    assert agent.decide(NOTHING) is None
    assert agent.decide(NOTHING) is None
    slow.may_answer.set()
    answer = None
    while answer is None:
        answer = agent.decide(NOTHING)
    assert answer.commands == (2,)
    assert len(slow.seen) == 1


def test_an_error_of_a_slow_agent_is_raised_where_it_is_asked() -> None:
    slow = Ponderer(FakeWorld(), ValueError("no idea"))
    slow.may_answer.set()
    agent = BackgroundAgent(slow, lambda: None)

    def wait() -> None:
        while agent.decide(NOTHING) is None:
            pass

    with pytest.raises(ValueError, match="no idea"):
        wait()


def test_a_slow_agent_hears_everything_and_is_saved_through_its_wrapper() -> None:
    world = FakeWorld()
    slow = Ponderer(world, Decision((1,)))
    agent = BackgroundAgent(slow, lambda: None)
    agent.on_episode_end(1, 2.0)
    agent.on_step(world.step(1))
    assert slow.episodes == [(1, 2.0)]
    assert len(slow.outcomes) == 1
    agent.load(agent.save())
    agent.close()


def test_arrays_can_be_commands() -> None:
    world = make_world(find_world("MountainCarContinuous-v0"))
    (command,) = decided(RandomAgent(world.view(), AgentSetup(seed=1)))
    assert isinstance(command, np.ndarray)
    assert world.encode(command)
