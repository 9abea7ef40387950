"""The explorer with the retail game's profile, over memory that a small fake of the game keeps."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ptp.agents import AgentSetup, Observation
from ptp.agents.explorer import ExplorerAgent
from ptp.records import WorldSpec
from ptp.worlds import make_world
from ptp.worlds.gameboy.commands import BUTTONS
from ptp.worlds.gameboy.profiles import load_profile
from ptp.worlds.gameboy.world import GameBoyWorld
from tests.worlds.gameboy.images import fight, show, started, state
from tests.worlds.gameboy.roms import PASSABLE, write_rom

OPEN, WALL = 0, 1
STEPS = {"up": (0, -1, 4), "down": (0, 1, 0), "left": (-1, 0, 8), "right": (1, 0, 12)}
ROOM = ("########", "#......#", "#.####.#", "#.#..#.#", "#.#..#.#", "#.##.#.#", "#......#", "########")
WARP = (3, 3)
HOUSE = 38  # a map of the room's size


@pytest.fixture
def world(tmp_path: Path) -> Iterator[GameBoyWorld]:
    options = {"rom": str(write_rom(tmp_path)), "profile": "pokemon-red"}
    world = make_world(WorldSpec("red", "ptp.worlds.gameboy.world:GameBoyWorld", options))
    assert isinstance(world, GameBoyWorld)
    yield world
    world.close()


class Room:
    """A room in memory that a player walks through: squares, walls and one warp."""

    def __init__(self, world: GameBoyWorld) -> None:
        self.world = world
        self.place = (1, 1)
        memory = world.env.pyboy.memory
        memory[0xD35E] = HOUSE
        memory[0xD367] = world.profile.shapes[HOUSE][0]
        memory[0xD368], memory[0xD369] = len(ROOM) // 2, len(ROOM[0]) // 2
        memory[0xD530], memory[0xD531] = PASSABLE & 255, PASSABLE >> 8
        memory[0xD535] = 0xFF
        memory[0xD3AE] = 1
        memory[0xD3AF], memory[0xD3B0], memory[0xD3B1], memory[0xD3B2] = WARP[1], WARP[0], 0, 40
        self.draw()

    def draw(self) -> None:
        memory = self.world.env.pyboy.memory
        memory[0xD362], memory[0xD361] = self.place
        for row in range(18):
            for column in range(20):
                x, y = column // 2 - 4 + self.place[0], row // 2 - 4 + self.place[1]
                memory[0xC3A0 + 20 * row + column] = OPEN if self.is_open(x, y) else WALL
        self.world.step(0)

    def is_open(self, x: int, y: int) -> bool:
        return 0 <= y < len(ROOM) and 0 <= x < len(ROOM[0]) and ROOM[y][x] == "."

    def press(self, button: str) -> None:
        if button in STEPS:
            across, down, facing = STEPS[button]
            self.world.env.pyboy.memory[0xC109] = facing
            x, y = self.place[0] + across, self.place[1] + down
            if self.is_open(x, y):
                self.place = (x, y)
        self.draw()


def test_it_finds_the_warp_of_a_room_it_has_never_seen(world: GameBoyWorld) -> None:
    room = Room(world)
    agent = ExplorerAgent(world.view(), AgentSetup(seed=1))
    for tick in range(60):
        decision = agent.decide(Observation(None, world.state(None), tick, 1, tick))
        room.press(BUTTONS[decision.commands[0]])
        if room.place == WARP:
            break
    assert room.place == WARP
    assert "go to OAKS LAB" in (decision.reasoning or "")


def test_it_fights_with_the_retail_tables(world: GameBoyWorld) -> None:
    image = started()
    fight(image, species=0xA9)
    image[0xCFEA] = image[0xCFEB] = 5  # ROCK
    image[0xD01C:0xD01E] = bytes([33, 55])  # TACKLE, WATER GUN
    image[0xD02D:0xD02F] = bytes([35, 25])
    image[0xCC24], image[0xCC25] = 14, 9
    show(image, 14, 9, "▶FIGHT")
    agent = ExplorerAgent(world.view(), AgentSetup(seed=1))
    decision = agent.decide(Observation(None, state(image), 0, 1, 0))
    assert decision.type == "BATTLE_MOVE"
    assert (decision.reasoning or "").startswith("WATER GUN hits")
    image[0xCC24], image[0xCC25], image[0xCC26] = 12, 5, 1
    decision = agent.decide(Observation(None, state(image), 1, 1, 1))
    assert BUTTONS[decision.commands[0]] == "down"


@pytest.mark.parametrize("name", ["pokemon-red", "tallgrass"])
def test_both_games_say_which_things_catch_and_heal(name: str) -> None:
    profile = load_profile(name)
    assert set(profile.item_effects) <= set(profile.items)
    assert {facts.effect for facts in profile.item_effects.values()} == {"catch", "heal", "cure"}
    assert all(facts.amount > 0 for facts in profile.item_effects.values() if facts.effect == "heal")
