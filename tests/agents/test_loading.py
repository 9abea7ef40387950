"""Agents from anywhere: files, modules and plug-ins, with options of their own; and the same tape from each."""

from __future__ import annotations

import importlib.metadata
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest

from ptp.agents import Observation, make_agent
from ptp.config.tree import Agent as AgentConfig
from ptp.errors import AgentError, ConfigError, PtpError, UnknownName
from ptp.testing import FakeWorld
from ptp.worlds import find_world, make_world
from ptp.worlds.gameboy.world import GameBoyView

CODE = '''
import msgspec
import numpy as np
from ptp.agents import Agent, Decision, Observation

class Wanderer(Agent):
    """Goes anywhere but back."""

    class Options(msgspec.Struct, frozen=True):
        keen: float = 0.5
        back: int = 0

    def __init__(self, world, setup):
        super().__init__(world, setup)
        self.random = np.random.default_rng(setup.seed)

    def decide(self, observation: Observation) -> Decision:
        ways = [way for way in range(self.world.action_space.n) if way != self.options.back]
        return Decision((int(self.random.choice(ways)),), confidence=self.options.keen)

class Plain:
    pass
'''
NOTHING = Observation(0, {}, 0, 1, 0)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "my_agents.py").write_text(CODE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "my_agents", raising=False)
    return tmp_path


def tape(directory: Path) -> list[tuple[object, ...]]:
    connection = sqlite3.connect(directory / "game_data.db")
    found = connection.execute("SELECT command, state_hash FROM steps ORDER BY tick").fetchall()
    connection.close()
    return found


def test_a_file_a_module_and_a_plug_in_play_the_same_tape(
    folder: Path, recorded: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    plugin = SimpleNamespace(name="wanderer", value="my_agents:Wanderer")
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: [plugin] if group == "ptp.agents" else [])
    names = [str(folder / "my_agents.py") + ":Wanderer", "my_agents:Wanderer", "wanderer"]
    tapes = [tape(recorded("Taxi-v4", "--agent", name, ticks=50)) for name in names]
    assert tapes[0] == tapes[1] == tapes[2]
    assert len({command for command, _ in tapes[0]}) > 2
    assert "0" not in {command for command, _ in tapes[0]}


def test_the_agent_in_the_docs_plays(folder: Path, recorded: Callable[..., Path]) -> None:
    page = (Path(__file__).parents[2] / "docs" / "worlds-and-agents.md").read_text()
    code = page.partition("```python\n# stubborn.py\n")[2].partition("```")[0]
    assert 5 < len(code.splitlines()) <= 15
    (folder / "stubborn.py").write_text(code)
    played = tape(recorded("FrozenLake-v1", "--agent", "stubborn.py:Stubborn", ticks=20))
    assert {command for command, _ in played} == {"2"}


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        ("none.py:Wanderer", ConfigError, "none.py: no such file"),
        ("my_agents.py:Wandrer", UnknownName, "did you mean 'Wanderer'"),
        ("my_agents.py:Plain", ConfigError, r"my_agents\.py:Plain can't be used as an agent: it is not a subclass"),
        ("my_agents.py", ConfigError, r"write my_agents\.py:Class"),
        ("broken.py:Any", ConfigError, r"broken\.py:3: ZeroDivisionError"),
    ],
)
def test_what_cant_be_loaded_says_why_in_one_line(folder: Path, name: str, error: type[PtpError], message: str) -> None:
    (folder / "broken.py").write_text("\n\n1 / 0\n")
    with pytest.raises(error, match=message) as caught:
        make_agent(name, FakeWorld(), AgentConfig(), 1, trusted=True)
    assert "\n" not in str(caught.value)


@pytest.mark.usefixtures("folder")
def test_a_stored_run_cant_choose_code_by_its_agent() -> None:
    with pytest.raises(AgentError, match="not installed as an agent; if you trust it, add --trust"):
        make_agent("my_agents:Wanderer", FakeWorld(), AgentConfig(), 1)
    assert "my_agents" not in sys.modules


@pytest.mark.usefixtures("folder")
def test_options_are_decoded_and_unknown_ones_named() -> None:
    config = AgentConfig(options={"keen": "0.25"}, model="m-1", base_url="http://x")
    agent = make_agent("my_agents:Wanderer", FakeWorld(), config, 1, trusted=True)
    decision = agent.decide(NOTHING)
    assert decision is not None
    assert decision.confidence == 0.25
    assert (agent.setup.model, agent.setup.base_url, agent.setup.seed) == ("m-1", "http://x", 1)
    with pytest.raises(ConfigError, match="has no option 'kene'; it takes: keen, back"):
        make_agent("my_agents:Wanderer", FakeWorld(), AgentConfig(options={"kene": 1}), 1, trusted=True)
    with pytest.raises(ConfigError, match="agent 'random' has no option 'x'; it takes: none"):
        make_agent("random", FakeWorld(), AgentConfig(options={"x": 1}), 1)
    with pytest.raises(ConfigError, match="Expected `float`"):
        make_agent("my_agents:Wanderer", FakeWorld(), AgentConfig(options={"keen": "much"}), 1, trusted=True)


def test_a_script_is_named_by_its_option_too(tmp_path: Path) -> None:
    (tmp_path / "moves.txt").write_text("right\n")
    config = AgentConfig(options={"file": str(tmp_path / "moves.txt")})
    decision = make_agent("script", make_world(find_world("FrozenLake-v1")), config, 0).decide(NOTHING)
    assert decision is not None
    assert decision.commands == (2,)


def test_the_random_agent_does_not_touch_the_worlds_dice() -> None:
    world = make_world(find_world("Taxi-v4"))
    world.action_space.seed(9)
    expected = [int(world.action_space.sample()) for _ in range(5)]
    world.action_space.seed(9)
    agent = make_agent("random", world, AgentConfig(), 3)
    agent.decide(NOTHING)
    assert [int(world.action_space.sample()) for _ in range(5)] == expected


def test_an_agent_of_a_cartridge_sees_more_than_others() -> None:
    world = make_world(find_world("tallgrass"))
    view = world.view()
    assert isinstance(view, GameBoyView)
    assert (view.profile.name, view.movement) == ("tallgrass", "moving")
    assert view.read_memory(0xC000, 0xC002) == world.read_memory(0xC000, 0xC002)  # type: ignore[attr-defined]
    assert not hasattr(view, "step")
    world.close()


def test_every_options_struct_of_ours_refuses_unknown_fields() -> None:
    from ptp.agents import agent_names, find_agent

    for name in agent_names():
        assert find_agent(name).Options.__struct_config__.forbid_unknown_fields
        with pytest.raises(msgspec.ValidationError):
            msgspec.convert({"no such": 1}, find_agent(name).Options)
