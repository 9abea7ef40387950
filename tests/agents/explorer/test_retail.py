"""The explorer with the retail game's profile, over memory that a small fake of the game keeps."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

from ptp.agents import AgentSetup, Observation
from ptp.agents.explorer import ExplorerAgent
from ptp.agents.explorer.learning import check_step
from ptp.agents.explorer.memory import Area, Memory, Step
from ptp.agents.explorer.patience import is_given_up, set_out, spend
from ptp.records import WorldSpec
from ptp.worlds import make_world
from ptp.worlds.gameboy.commands import BUTTONS
from ptp.worlds.gameboy.profiles import load_profile
from ptp.worlds.gameboy.state import GameState
from ptp.worlds.gameboy.world import GameBoyWorld
from tests.agents.explorer.people import standing
from tests.agents.explorer.realm import BEFORE, MAPS, Ask, Fight, Map, Player, Realm, View
from tests.worlds.gameboy.images import box, fight, member, put, show, started, state
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


OWN_HP, TYPES, MOVES, POINTS = 0xD015, 0xD019, 0xD01C, 0xD02D


def pressed(image: bytearray) -> tuple[str, str]:
    """Return the button that an explorer presses at one moment, and why."""
    realm = Realm({MAPS[0]: Map(".. ..")}, MAPS[0], (0, 0))
    agent = ExplorerAgent(View(realm), AgentSetup(seed=1))
    decision = agent.decide(Observation(None, state(image), 0, 1, 0))
    return BUTTONS[decision.commands[0]], decision.reasoning or ""


def party_screen(*asked: str, hp: int = 20, cursor: int = 0) -> bytearray:
    """A trainer's battle with two of one's own and a potion, and the party on the screen."""
    image = started()
    fight(image, kind=2)
    member(image, 0, hp=hp)
    member(image, 1, species=0xB1, level=4, hp=15)
    put(image, OWN_HP, 0, hp)
    put(image, TYPES, 22, 3)  # GRASS, POISON
    put(image, MOVES, 33)
    put(image, POINTS, 30)
    put(image, 0xD31D, 1, 20, 3, 0xFF)
    image[0xCC24], image[0xCC25], image[0xCC26], image[0xCC28] = 1, 0, cursor, 1
    show(image, 1, 0, "▶NAME0" if cursor == 0 else " NAME0")
    show(image, 3, 0, "▶NAME1" if cursor == 1 else " NAME1")
    for row, line in enumerate(asked):
        show(image, 14 + 2 * row, 1, line)
    return image


BRING_OUT, USE_ITEM = ("Bring out which", "POKéMON?"), ("Use item on which", "POKéMON?")


def test_the_party_screen_is_left_when_it_asks_who_to_bring_out_and_the_own_creature_stands() -> None:
    assert pressed(party_screen(*BRING_OUT))[0] == "b"
    assert pressed(party_screen(*BRING_OUT, hp=3))[0] == "b"


def test_after_a_faint_another_one_is_brought_out() -> None:
    assert pressed(party_screen(*BRING_OUT, hp=0))[0] == "down"
    assert pressed(party_screen(*BRING_OUT, hp=0, cursor=1))[0] == "a"


def test_a_potion_is_used_on_the_one_that_fights() -> None:
    assert pressed(party_screen(*USE_ITEM, hp=3))[0] == "a"
    assert pressed(party_screen(*USE_ITEM, hp=3, cursor=1))[0] == "up"


def test_a_screen_that_asks_for_the_target_of_a_thing_is_left_when_somebody_must_be_brought_out() -> None:
    assert pressed(party_screen(*USE_ITEM, hp=0))[0] == "b"


def question(*lines: str, hp: int = 20, in_battle: bool = True) -> bytearray:
    image = party_screen(hp=hp) if in_battle else started()
    image[0xC3A0:0xC508] = bytes(0x168)
    image[0xD125], image[0xCC26] = 0x14, 0
    box(image, 12, 0, 6, 20)
    for row, line in enumerate(lines):
        show(image, 14 + 2 * row, 1, line)
    show(image, 8, 15, "▶YES")
    show(image, 10, 15, " NO")
    return image


@pytest.mark.parametrize(
    ("lines", "button"),
    [
        (("Will RED change", "POKéMON?"), "b"),
        (("a nickname to", "PIDGEY?"), "b"),
        (("Use next POKéMON?",), "a"),
        (("move to make room", "for WATER GUN?"), "a"),
        (("move to make room", "for TAIL WHIP?"), "b"),
        (("Abandon learning", "TAIL WHIP?"), "a"),
    ],
)
def test_a_question_in_a_battle_is_answered_by_its_words(lines: tuple[str, ...], button: str) -> None:
    assert pressed(question(*lines))[0] == button


def test_the_weakest_move_is_forgotten() -> None:
    image = party_screen()
    image[0xC3A0:0xC508] = bytes(0x168)
    image[0xCC24], image[0xCC25] = 8, 5
    for row, name in enumerate(("▶TACKLE", " GROWL", " WATER GUN")):
        show(image, 8 + row, 5, name)
    show(image, 14, 1, "Which move should")
    show(image, 16, 1, "be forgotten?")
    assert pressed(image) == ("down", "forget GROWL, the weakest move")


def test_while_somebody_leads_the_player_it_waits() -> None:
    realm = Realm({MAPS[0]: Map(".... .... .... ....")}, MAPS[0], (1, 1))
    for address, value in ((0xCD6B, 0xFC), (0xD730, 0x20), (0xD730, 0x80)):
        image = bytearray(realm.image)
        image[address] = value
        assert pressed(image) == ("none", "the game moves by itself")


def test_nothing_of_a_state_between_two_maps_is_kept() -> None:
    realm = Realm({MAPS[0]: Map(".... .... .... ....")}, MAPS[0], (1, 1))
    realm.image[0xFF47] = 0xFF
    player = Player(realm)
    before = json.loads(player.agent.save()["memory"])
    decision = player.agent.decide(Observation(None, realm.state, 0, 1, 0))
    assert BUTTONS[decision.commands[0]] == "none"
    after = json.loads(player.agent.save()["memory"])
    changed = {name for name in after if after[name] != before[name]}
    assert changed == {"moment", "last_look"}


HUT, YARD = MAPS[:2]
INSIDE = Map("###### #....# #....# ######", warps={(2, 3): (BEFORE, 0)})


def test_a_sign_that_can_be_read_from_a_door_only_is_left_alone() -> None:
    yard = Map("######## #.#.#### #...#..# #......#", warps={(3, 1): (HUT, 0)}, signs={(4, 1): "My hut"})
    realm = Realm({YARD: yard, HUT: INSIDE}, YARD, (1, 1), home=YARD)
    player = Player(realm)
    player.play(300)
    visits = sum(number == HUT and place == (2, 3) for number, place in realm.visits)
    assert visits >= 1
    assert not any("read the sign" in (decision.reasoning or "") for decision in player.decisions)


def test_a_hunt_that_brings_no_battle_ends_whatever_the_game_says_of_the_grass() -> None:
    meadow = Map("######## #GGGG..# #GGGG..# ########", wild=0)
    player = Player(Realm({YARD: meadow}, YARD, (5, 1)))
    player.agent.memory.level_wanted = 50
    player.play(600)
    hunts = [number for number, decision in enumerate(player.decisions) if "train" in (decision.reasoning or "")]
    assert 50 < len(hunts) < 150
    assert max(hunts) < 200


def test_a_slide_is_remembered_by_where_it_ends() -> None:
    area, memory = Area(10, 10), Memory()
    memory.step = Step(1, (2, 2), "right", turning=False)
    check_step(standing(GameState("pokemon-red", facing="right"), 1, 6, 4), memory, area, (6, 4))
    assert area.leaps == {((2, 2), "right", (6, 4))}


def test_an_errand_that_brings_nothing_is_given_up_for_a_while_that_grows() -> None:
    memory, pauses = Memory(), []
    for _ in range(3):
        while not spend(memory, "talk again 1 person 2"):
            memory.moment += 1
        begun = memory.moment
        while is_given_up(memory, "talk again 1 person 2"):
            memory.moment += 1
        pauses.append(memory.moment - begun)
    assert pauses[1] == 2 * pauses[0]
    assert pauses[2] == 4 * pauses[0]


def test_to_set_out_for_one_thing_from_one_place_again_and_again_is_given_up_sooner() -> None:
    memory = Memory()
    rounds = 0
    while not is_given_up(memory, "talk again 1 person 2"):  # to and fro between two maps, one step on each
        memory.moment += 6
        rounds += 1
        set_out(memory, "talk again 1 person 2", "7 4,4")
        spend(memory, "talk again 1 person 2")
    assert rounds <= 6


def test_an_errand_that_brings_something_new_is_not_given_up() -> None:
    memory = Memory()
    for _ in range(5000):
        memory.gains += memory.moment % 100 == 0
        memory.moment += 1
        assert not spend(memory, "see more 1")


@pytest.mark.parametrize("name", ["pokemon-red", "tallgrass"])
def test_both_games_say_which_things_catch_and_heal(name: str) -> None:
    profile = load_profile(name)
    assert set(profile.item_effects) <= set(profile.items)
    assert {facts.effect for facts in profile.item_effects.values()} - {"key"} == {"catch", "heal", "cure"}
    assert all(facts.amount > 0 for facts in profile.item_effects.values() if facts.effect == "heal")


def test_who_is_spoken_to_on_entering_a_house_still_knows_the_door() -> None:
    spoken: list[str] = []

    def greets(realm: Realm) -> Generator[str | Ask | Fight, bool, None]:
        if not spoken:
            spoken.append("once")
            yield "Hey! You there!"

    yard = Map("######## #.#.#### #......# #......#", warps={(3, 1): (HUT, 0)})
    inside = Map("###### #....# #....# ######", warps={(2, 3): (BEFORE, 0)}, greeting=greets)
    player = Player(Realm({YARD: yard, HUT: inside}, YARD, (1, 1), home=YARD))
    player.play(60, until=lambda realm: bool(spoken) and realm.script is None)
    player.play(2)
    assert spoken
    assert player.agent.memory.areas[YARD].exits["warp 3,1"].taken
    assert not player.agent.memory.areas[YARD].barriers
    assert player.agent.memory.areas[HUT].exits["warp 2,3"].leads == YARD


def test_it_never_trains_in_grass_where_the_game_says_that_nothing_lives() -> None:
    meadow = Map("######## #GGGG..# #GGGG..# ########", rate=0)
    player = Player(Realm({YARD: meadow}, YARD, (5, 1)))
    player.agent.memory.level_wanted = 50
    player.play(200)
    assert not any("train" in (decision.reasoning or "") for decision in player.decisions)
