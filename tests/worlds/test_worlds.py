"""Worlds: making them, their commands as text, and their state."""

from __future__ import annotations

from pathlib import Path

import gymnasium
import msgspec
import numpy as np
import pytest
from gymnasium import spaces

from ptp.errors import BadCommand, ConfigError, UnknownName, WorldError
from ptp.worlds import World, find_world, list_worlds, make_world
from ptp.worlds.registry import WORLDS
from ptp.worlds.spaces import CommandCodec, describe, digest

TOY_TEXT = ["FrozenLake-v1", "CliffWalking-v1", "Taxi-v4", "Blackjack-v1"]
OTHERS = ["CartPole-v1", "MountainCarContinuous-v0", "LunarLander-v3", "BipedalWalker-v3"]


def made(name: str, render_mode: str | None = None) -> World:
    return make_world(find_world(name), render_mode)


def played(world: World, seed: int, commands: int = 60) -> list[str]:
    """Return the state hashes of a short random game."""
    world.reset(seed)
    world.action_space.seed(seed)
    hashes = []
    for _ in range(commands):
        outcome = world.step(world.action_space.sample())
        hashes.append(world.state_hash(outcome.observation, outcome.reward, outcome.terminated, outcome.truncated))
        if outcome.terminated or outcome.truncated:
            world.reset(seed + 1)
    return hashes


@pytest.mark.parametrize("name", TOY_TEXT + OTHERS)
def test_the_same_seed_and_commands_give_the_same_hashes(name: str) -> None:
    first, second = made(name), made(name)
    assert played(first, 3) == played(second, 3)
    assert played(first, 3) != played(first, 4)
    first.close()
    second.close()


@pytest.mark.parametrize("name", TOY_TEXT)
def test_a_toy_text_world_saves_its_whole_state(name: str) -> None:
    world, other = made(name), made(name)
    world.reset(5)
    world.step(1)
    saved = world.save()
    command = world.decode("1")
    expected = [str(world.step(command)) for _ in range(5)]
    other.load(saved)
    assert [str(other.step(command)) for _ in range(5)] == expected
    world.load(saved)
    assert [str(world.step(command)) for _ in range(5)] == expected


def test_a_saved_state_keeps_the_steps_left_in_the_episode() -> None:
    world = made("FrozenLake-v1")
    world.reset(1)
    for _ in range(98):
        world.step(0)  # walking into the left wall never ends the episode early on this seed
    saved = world.save()
    fresh = made("FrozenLake-v1")
    fresh.load(saved)
    assert not fresh.step(0).truncated
    assert fresh.step(0).truncated


def test_a_state_of_something_else_is_refused() -> None:
    with pytest.raises(WorldError, match="not a saved state"):
        made("Taxi-v4").load(b"\x80\x04pickled")


def test_a_world_that_cant_save_says_how_to_go_back() -> None:
    world = made("CartPole-v1")
    assert world.facts.snapshot == "tape"
    with pytest.raises(WorldError, match="replaying the tape"):
        world.save()
    with pytest.raises(WorldError, match="replaying the tape"):
        world.load(b"")


@pytest.mark.parametrize("name", ["FrozenLake-v1", "CliffWalking-v1", "Taxi-v4"])
def test_toy_text_draws_as_text_and_as_pixels(name: str) -> None:
    text = made(name, "ansi")
    text.reset(1)
    assert isinstance(text.frame(), str)
    pixels = made(name, "rgb_array")
    pixels.reset(1)
    frame = pixels.frame()
    assert isinstance(frame, np.ndarray)
    assert frame.ndim == 3


def test_a_render_mode_the_world_lacks_is_refused_when_it_is_made() -> None:
    with pytest.raises(WorldError, match="can't render 'ansi'; it offers: rgb_array"):
        made("Blackjack-v1", "ansi")


def test_without_a_wish_the_best_render_mode_is_taken() -> None:
    assert made("FrozenLake-v1").facts.render_mode == "rgb_array"


def test_an_unknown_world_is_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownName, match="did you mean 'FrozenLake-v1'"):
        made("FrozenLke-v1")


def test_a_world_whose_packages_are_missing_says_what_to_install() -> None:
    with pytest.raises(WorldError, match="needs more packages"):
        made("Ant-v5")


def test_a_world_in_a_package_that_is_not_there_is_unknown() -> None:
    with pytest.raises((UnknownName, WorldError)):
        made("no_such_package:Thing-v0")


def test_a_world_that_can_no_longer_be_made_says_why() -> None:
    with pytest.raises(WorldError, match="can't be made"):
        made("Humanoid-v2")


def test_every_listed_world_of_ours_can_be_made() -> None:
    for name in WORLDS:
        made(name).close()
    assert {*WORLDS, "CartPole-v1"} <= {world.name for world in list_worlds()}


def test_facts_tell_the_versions_a_replay_depends_on() -> None:
    origin = made("LunarLander-v3").facts.origin
    assert origin["gymnasium"] == gymnasium.__version__
    assert {"python", "numpy", "box2d"} <= origin.keys()


def test_a_manifest_makes_a_world_with_its_own_options(tmp_path: Path) -> None:
    path = tmp_path / "lake.yaml"
    path.write_text(
        "name: big-lake\nentry: ptp.worlds.toy_text:ToyTextWorld\noptions: {id: FrozenLake-v1, map_name: 8x8}\n"
    )
    world = made(str(path))
    assert world.facts.name == "big-lake"
    assert world.env.observation_space == spaces.Discrete(64)
    assert world.save()


@pytest.mark.parametrize("text", ["name: x\n", "name: x\noptions: {}\ncolour: red\n", "[", "3"])
def test_a_bad_manifest_is_refused_by_name(tmp_path: Path, text: str) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=r"bad\.yaml:.*(not a world manifest|not valid YAML)"):
        made(str(path))


def test_a_missing_manifest_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="No such file"):
        made(str(tmp_path / "none.yaml"))


def test_an_entry_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "gone.yaml"
    path.write_text("name: x\nentry: no_such:World\noptions: {}\n")
    with pytest.raises(ConfigError, match="no_such can't be imported: ModuleNotFoundError"):
        make_world(find_world(str(path)), trusted=True)


SPACES = [
    spaces.Discrete(5),
    spaces.Discrete(5, start=-2),
    spaces.Box(-1, 1, (3,), np.float32),
    spaces.Box(0, 255, (2, 2), np.uint8),
    spaces.MultiDiscrete([3, 4]),
    spaces.MultiBinary(4),
    spaces.Dict({"a": spaces.Discrete(3), "b": spaces.Box(0, 1, (2,), np.float64)}),
    spaces.Tuple((spaces.Discrete(2), spaces.MultiBinary(2))),
]


@pytest.mark.parametrize("space", SPACES, ids=str)
def test_commands_survive_being_written_as_text(space: spaces.Space[object]) -> None:
    codec = CommandCodec(space)
    space.seed(1)
    for _ in range(20):
        command = space.sample()
        again = codec.decode(codec.encode(command))
        assert digest(again) == digest(command) or isinstance(space, spaces.Discrete)
        assert codec.encode(again) == codec.encode(command)
        assert space.contains(again)


def test_a_command_outside_the_space_is_refused() -> None:
    for bad in (4, -1, "up", None, [1]):
        with pytest.raises(BadCommand, match="not one this world takes"):
            CommandCodec(spaces.Discrete(4)).encode(bad)
    with pytest.raises(BadCommand):
        CommandCodec(spaces.Box(-1, 1, (2,))).encode(np.array([0.0, 2.0], np.float32))


def test_a_person_can_write_names_numbers_and_json() -> None:
    codec = CommandCodec(spaces.Discrete(3), ("stay", "left", "right"))
    assert codec.parse("Left") == 1
    assert codec.parse("2") == 2
    with pytest.raises(UnknownName, match="did you mean 'right'"):
        codec.parse("rihgt")
    with pytest.raises(BadCommand):
        codec.parse("3")
    box = CommandCodec(spaces.Box(-1, 1, (2,)))
    assert box.parse("[0.5, -0.5]").tolist() == [0.5, -0.5]
    with pytest.raises(BadCommand):
        box.parse("hello")


def test_a_large_observation_is_described_by_its_shape_and_hash() -> None:
    small, large = np.zeros(3), np.zeros((9, 9))
    assert describe(small) == [0, 0, 0]
    assert describe(large)["shape"] == [9, 9]
    assert describe(large)["hash"] != describe(large + 1)["hash"]
    assert describe({"a": (np.int64(3), None, "x")}) == {"a": [3, None, "x"]}
    assert describe({1, 2}) == "{1, 2}"
    mixed = describe((np.float64(1.5), np.float32(0.5), np.bool_(True), 2, True))
    assert msgspec.json.encode(mixed) == b"[1.5,0.5,true,2,true]"


def test_values_of_different_types_have_different_digests() -> None:
    values = [1, 1.0, "1", True, (1,), [[1]], {"1": 1}, np.array([1]), np.array([1.0]), None]
    assert len({digest(value) for value in values}) == len(values)
