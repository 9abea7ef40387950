"""Worlds from anywhere: files, modules, plug-ins, Gymnasium's ids with and without a module; and which are trusted."""

from __future__ import annotations

import importlib.metadata
import json
import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.wrappers import ClipReward

from ptp.config.tree import World as WorldConfig
from ptp.errors import ConfigError, PtpError, UnknownName, WorldError
from ptp.records import WorldSpec
from ptp.testing import CountingEnv
from ptp.worlds import World, choose_world, find_world, list_worlds, make_world
from ptp.worlds.spaces import describe

CODE = '''
import gymnasium
from helper import LENGTH
from ptp.testing import CountingEnv
from ptp.worlds import World

class Counter(CountingEnv):
    def __init__(self, length: int = LENGTH) -> None:
        super().__init__(length)

class Hall(World):
    """A world of its own."""
    environment = Counter
    family = "hall"

    def context(self) -> str:
        return "hall"

class Plain:
    pass

gymnasium.register("Mine-v2", entry_point=Counter)
'''


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a file of worlds, which is also the module `my_worlds` for who is in the folder."""
    (tmp_path / "helper.py").write_text("LENGTH = 3\n")
    (tmp_path / "my_worlds.py").write_text(CODE)
    monkeypatch.chdir(tmp_path)
    for name in ("helper", "my_worlds"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setattr(gymnasium.envs.registration, "registry", dict(gymnasium.registry))
    monkeypatch.setattr(gymnasium, "registry", gymnasium.envs.registration.registry)
    monkeypatch.setattr(gymnasium.envs, "registry", gymnasium.envs.registration.registry)
    return tmp_path


def steps_of_an_episode(world: World) -> int:
    world.reset(1)
    for step in range(1, 100):
        if world.step(1).terminated:
            return step
    raise AssertionError("the episode never ended")


@pytest.mark.parametrize(
    "name", ["my_worlds.py:Counter", "my_worlds:Counter", "my_worlds:Mine-v2", "my_worlds:Mine", "my_worlds.py:Hall"]
)
def test_an_environment_of_ones_own_is_a_world(folder: Path, name: str) -> None:
    world = make_world(find_world(name), trusted=True)
    assert steps_of_an_episode(world) == 3
    assert str(folder) not in sys.path
    world.close()


def test_a_world_in_a_file_is_kept_with_its_whole_path_and_its_hash(folder: Path) -> None:
    spec = find_world("my_worlds.py:Hall")
    assert spec == WorldSpec("my_worlds.py:Hall", f"{folder}/my_worlds.py:Hall")
    os.chdir("/")
    world = make_world(spec, trusted=True)
    assert (world.context(), world.facts.family) == ("hall", "hall")
    assert len(world.facts.origin["my_worlds.py"]) == 40


def test_a_file_that_was_changed_is_loaded_anew(folder: Path) -> None:
    assert steps_of_an_episode(make_world(find_world("my_worlds.py:Counter"), trusted=True)) == 3
    (folder / "my_worlds.py").write_text(CODE.replace("= LENGTH)", "= LENGTH + 4)").replace("Mine-v2", "Mine-v3"))
    assert steps_of_an_episode(make_world(find_world("my_worlds.py:Counter"), trusted=True)) == 7


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        ("none.py:Counter", ConfigError, "none.py: no such file"),
        ("my_worlds.py:Conter", UnknownName, "did you mean 'Counter'"),
        ("my_worlds:Conter", UnknownName, "did you mean 'Counter'"),
        ("my_worlds.py:Plain", ConfigError, r"is not a subclass of ptp\.World or gymnasium\.Env"),
        ("my_worlds.py", ConfigError, r"names no class; write my_worlds\.py:Class"),
        ("broken.py:World", ConfigError, r"broken\.py:2: NameError: name 'oops' is not defined"),
        ("wrong.py:World", ConfigError, r"wrong\.py:1: SyntaxError"),
        ("no_such_module:World", ConfigError, "no_such_module can't be imported: ModuleNotFoundError"),
        ("CartPol-v1", UnknownName, "did you mean 'CartPole-v1'"),
    ],
)
def test_what_cant_be_loaded_says_why_in_one_line(folder: Path, name: str, error: type[PtpError], message: str) -> None:
    (folder / "broken.py").write_text("\noops\n")
    (folder / "wrong.py").write_text("class\n")
    with pytest.raises(error, match=message) as caught:
        make_world(find_world(name), trusted=True)
    assert "\n" not in str(caught.value)


class Plugged(World):
    """A plug-in that is a plain World subclass."""

    environment = CountingEnv


@pytest.fixture
def plugin(monkeypatch: pytest.MonkeyPatch) -> None:
    values = {"plugged": "tests.worlds.test_loading:Plugged", "counting": "ptp.testing:CountingEnv"}
    found = [SimpleNamespace(name=name, value=value) for name, value in values.items()]
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: found if group == "ptp.worlds" else [])


@pytest.mark.usefixtures("plugin")
@pytest.mark.parametrize("name", ["plugged", "counting"])
def test_a_plug_in_is_a_world_class_or_an_environment_class_and_is_trusted(name: str) -> None:
    world = make_world(find_world(name))
    assert isinstance(world.env.unwrapped, CountingEnv)
    assert (world.facts.name, world.facts.render_mode) == (name, "ansi")
    assert next(it for it in list_worlds() if it.name == name).missing is None


# -- who chooses code ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "spec",
    [
        WorldSpec("x", "antigravity:World"),
        WorldSpec("x", "/tmp/evil.py:World"),
        WorldSpec("x", "ptp.worlds.contract:World", {"id": "antigravity:Thing-v0"}),
        WorldSpec("antigravity:Thing-v0", "ptp.worlds.contract:World"),
        WorldSpec("x", "ptp.worlds.contract:World", {"id": "GymV21Environment-v0", "env_id": "antigravity:X-v0"}),
    ],
)
def test_a_stored_run_cant_choose_code(spec: WorldSpec) -> None:
    with pytest.raises(WorldError, match=r"not installed as a world.*if you trust it, add --trust"):
        make_world(spec)
    assert "antigravity" not in sys.modules


def recorded_env(**changes: Any) -> str:
    env = ClipReward(gymnasium.make("CartPole-v1", max_episode_steps=7), max_reward=0.5)
    assert env.spec is not None
    text = env.spec.to_json()
    env.close()
    return json.dumps({**json.loads(text), **changes})


def test_an_environment_is_made_again_with_its_wrappers() -> None:
    world = make_world(WorldSpec("mine", "ptp.worlds.contract:World", {"spec": recorded_env()}))
    world.reset(1)
    outcomes = [world.step(step % 2) for step in range(7)]
    assert [outcome.reward for outcome in outcomes] == [0.5] * 7
    assert outcomes[-1].truncated
    assert world.facts.version == "1"
    assert isinstance(world.frame(), np.ndarray)
    world.close()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (recorded_env(entry_point="os:system"), "os:system; if you trust it"),
        (recorded_env(id="Other-v0"), "gymnasium.envs.classic_control.cartpole:CartPoleEnv; if you trust it"),
        (recorded_env(additional_wrappers=[{"name": "x", "entry_point": "os:system", "kwargs": {}}]), "os:system; if"),
        ("{}", "not the JSON of a Gymnasium environment"),
        ("[", "not the JSON of a Gymnasium environment"),
    ],
)
def test_a_recorded_environment_cant_choose_code_either(text: str, message: str) -> None:
    with pytest.raises(WorldError, match=message):
        make_world(WorldSpec("mine", "ptp.worlds.contract:World", {"spec": text}))


# -- options and settings --------------------------------------------------------------------------------------


def test_options_are_arguments_of_an_environment() -> None:
    spec = choose_world(WorldConfig(name="FrozenLake-v1", options={"map_name": "8x8"}))
    assert make_world(spec).env.observation_space == spaces.Discrete(64)
    with pytest.raises(WorldError, match="unexpected keyword argument 'colour'"):
        make_world(choose_world(WorldConfig(name="FrozenLake-v1", options={"colour": "red"})))


def test_options_of_a_cartridge_are_those_it_declares_and_may_be_text() -> None:
    spec = choose_world(WorldConfig(name="tallgrass", options={"frames_per_tick": "12"}))
    with pytest.raises(ConfigError, match="has no option 'speed'; it takes: rom, profile, frames_per_tick"):
        choose_world(WorldConfig(name="tallgrass", options={"speed": 2}))
    world = make_world(spec)
    assert world.env.unwrapped.frames_per_tick == 12  # type: ignore[attr-defined]
    world.close()


def test_a_setting_for_cartridges_is_refused_elsewhere_even_at_its_default() -> None:
    with pytest.raises(ConfigError, match="--profile is for Game Boy cartridges, and 'Taxi-v4' is none"):
        choose_world(WorldConfig(name="Taxi-v4", profile="raw"))
    assert choose_world(WorldConfig(name="Taxi-v4", frames_per_tick=24)).options == {"id": "Taxi-v4"}
    with pytest.raises(ConfigError, match="--frames-per-tick is for Game Boy cartridges"):
        choose_world(WorldConfig(name="Taxi-v4", frames_per_tick=24), given={"world.frames_per_tick"})
    assert choose_world(WorldConfig(name="tallgrass"), given={"world.frames_per_tick"}).options["frames_per_tick"] == 24


# -- the list --------------------------------------------------------------------------------------------------


def test_the_list_says_what_is_missing() -> None:
    worlds = {world.name: world for world in list_worlds()}
    assert worlds["tallgrass"].family == "gameboy"
    assert worlds["LunarLander-v3"].missing is None
    assert worlds["Ant-v5"].missing == "needs mujoco: pip install 'gymnasium[mujoco]'"
    assert worlds["Ant-v2"].missing == "Gymnasium no longer has it; choose a newer version"
    assert not any(name.startswith("GymV") for name in worlds)


# -- resets and infos ------------------------------------------------------------------------------------------


class Dice(CountingEnv):
    """Tells in its infos what it was reset with, and throws dice of its own."""

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed)
        return 0, {"options": options, "thrown": self.np_random.integers(1 << 30), "board": np.zeros((9, 9))}


def test_a_reset_takes_options_and_without_a_seed_goes_on_with_the_worlds_dice() -> None:
    world = World(WorldSpec("dice", "ptp.worlds.contract:World"), env=Dice())
    thrown = []
    for _ in range(2):
        world.reset(5, {"level": 2})
        assert world.info["options"] == {"level": 2}
        world.reset(None)
        thrown.append(int(world.info["thrown"]))
    world.reset(None)
    assert thrown[0] == thrown[1] != int(world.info["thrown"])
    assert describe(world.info)["board"]["shape"] == [9, 9]


def test_an_agents_view_has_dice_of_its_own_and_cant_step() -> None:
    world = make_world(find_world("Taxi-v4"))
    view = world.view()
    world.action_space.seed(1)
    expected = [int(world.action_space.sample()) for _ in range(5)]
    world.action_space.seed(1)
    view.action_space.seed(2)
    view.action_space.sample()
    assert [int(world.action_space.sample()) for _ in range(5)] == expected
    assert view.parse("south") == 0
    assert not hasattr(view, "step")
    assert not hasattr(view, "env")
