"""Where the explorer goes: to what is new, to rest, past dead ends."""

from __future__ import annotations

import msgspec
import numpy as np

from ptp.agents.explorer.atlas import Atlas
from ptp.agents.explorer.goals import Goals
from ptp.agents.explorer.learning import note_progress
from ptp.agents.explorer.memory import Area, Errand, Exit, Memory, Talker
from ptp.agents.explorer.ways import Reach
from ptp.worlds.gameboy.state import GameState
from ptp.worlds.gameboy.tiles import Square
from tests.agents.explorer.people import PROFILE, bag, member, move, standing

HERE, NEXT = 1, 2
GAME = GameState("tallgrass", party=(member(),), inventory=bag(TONIC=1), money=0, events=0, badges=0)


def drawn(*rows: str) -> Area:
    """Make a map: . open, # closed, G grass, ? never seen."""
    squares = {(x, y): sign for y, row in enumerate(rows) for x, sign in enumerate(row)}
    area = Area(len(rows[0]), len(rows))
    area.open = {square for square, sign in squares.items() if sign in ".G"}
    area.closed = {square for square, sign in squares.items() if sign == "#"}
    area.grass = {square for square, sign in squares.items() if sign == "G"}
    unseen = {square for square, sign in squares.items() if sign == "?"}
    near = {(x + dx, y + dy) for x, y in unseen for dx, dy in ((0, 1), (0, -1), (1, 0), (-1, 0))}
    area.frontier = near & area.open
    return area


def errand(memory: Memory, place: Square = (0, 0), state: GameState = GAME) -> Errand:
    standing_here = standing(state, HERE, *place)
    note_progress(standing_here, memory)
    return Goals(memory, standing_here, PROFILE, np.random.default_rng(0), Atlas(memory)).choose()


def test_it_walks_to_the_nearest_square_beside_the_unseen() -> None:
    chosen = errand(Memory({HERE: drawn("...?", ".##?", "....")}))
    assert (chosen.kind, chosen.steps) == ("look", ["right", "right"])


def test_it_talks_to_strangers_before_it_walks_on_and_faces_them() -> None:
    area = drawn("...?", "....")
    area.talkers["person 1"] = Talker((0, 1))
    chosen = errand(Memory({HERE: area}))
    assert (chosen.kind, chosen.target, chosen.steps, chosen.face) == ("talk", "person 1", [], "down")


def test_it_talks_across_a_counter_when_nobody_can_stand_beside() -> None:
    area = drawn("...", "###", "#.#")
    area.talkers["person 1"] = Talker((1, 2))
    chosen = errand(Memory({HERE: area}))
    assert (chosen.steps, chosen.face) == (["right"], "down")


def test_it_does_not_walk_over_people_or_warps_that_it_does_not_mean_to_take() -> None:
    area = drawn("....", ".##.", "....")
    area.talkers["person 1"] = Talker((1, 0), seen=0)
    area.exits["warp 0,1"] = Exit((0, 1))
    reach = Reach(area, (0, 0), set(area.standing(0)))
    assert reach.nearest({(3, 0)}) is None
    assert reach.nearest({(0, 1)}) == (0, 1)


def test_a_dead_end_is_not_tried_again_until_the_game_has_moved_on() -> None:
    area = drawn("..", "..")
    area.exits["warp 1,1"] = Exit((1, 1), leads=NEXT)
    memory = Memory({HERE: area})
    note_progress(GAME, memory)
    memory.fail(f"leave {HERE} warp 1,1")
    assert errand(memory).kind != "leave"
    memory.fail(f"leave {HERE} warp 1,1")
    assert errand(memory, state=msgspec.structs.replace(GAME, events=1)).kind == "leave"


def test_a_step_that_failed_is_walked_around() -> None:
    area = drawn("...", "...")
    area.walls = {((0, 0), "right")}
    reach = Reach(area, (0, 0))
    assert reach.nearest({(2, 0)}) == (2, 0)
    assert (reach.steps_to((2, 0))[0], len(reach.steps_to((2, 0)))) == ("down", 4)


def with_nurse_next_door() -> Memory:
    here, door = drawn("..G", "..G"), Exit((1, 1), leads=NEXT, shift=(-1, -1))
    here.exits["warp 1,1"] = door
    there = drawn("...")
    there.talkers["person 1"] = Talker((2, 0), heals=True, heard=1)
    return Memory({HERE: here, NEXT: there})


def test_it_goes_back_to_who_healed_it_when_hp_are_low() -> None:
    chosen = errand(with_nurse_next_door(), state=msgspec.structs.replace(GAME, party=(member(hp=5),)))
    assert (chosen.kind, chosen.target) == ("leave", "warp 1,1")
    assert "rest" in chosen.reason


def test_it_rests_when_no_attack_is_left_too() -> None:
    tired = member(moves=(move("BUMP", 1), move("SCOWL", 30)))
    assert "rest" in errand(with_nurse_next_door(), state=msgspec.structs.replace(GAME, party=(tired,))).reason


def test_it_asks_people_for_help_when_it_knows_nobody_who_heals() -> None:
    memory = with_nurse_next_door()
    memory.areas[NEXT].talkers["person 1"].heals = False
    assert "ask" in errand(memory, state=msgspec.structs.replace(GAME, party=(member(hp=5),))).reason


def test_it_hunts_in_the_grass_with_balls_in_the_bag_until_nothing_new_is_met() -> None:
    memory = Memory({HERE: drawn("..G")})
    hunter = msgspec.structs.replace(GAME, inventory=bag(TONIC=1, CATCH_ORB=2))
    assert errand(memory, state=hunter).kind == "hunt"
    memory.areas[HERE].dull_fights = 9
    memory.areas[HERE].exits["warp 0,0"] = Exit((1, 0), leads=NEXT)
    assert errand(memory, state=hunter).kind == "leave"


def test_it_grows_stronger_than_the_wild_before_it_goes_on() -> None:
    memory = Memory({HERE: drawn("..G")})
    memory.areas[HERE].strongest = 4
    assert errand(memory).kind == "hunt"


def test_it_asks_for_a_rematch_only_when_strong_enough() -> None:
    area = drawn("..G")
    area.talkers["person 1"] = Talker((1, 0), heard=1, lost=5, strength=8)
    memory = Memory({HERE: area})
    area.talkers["person 1"].place = (0, 1)
    assert errand(memory).kind == "hunt"
    strong = msgspec.structs.replace(GAME, party=(member(level=8),))
    assert "fight it again" in errand(memory, state=strong).reason


def test_it_goes_shopping_when_balls_or_potions_are_used_up_and_money_is_left() -> None:
    memory = Memory({HERE: drawn("...")})
    memory.areas[HERE].talkers["person 1"] = Talker((2, 0), heard=1, sells=True, goods={4: 200, 20: 150})
    assert "supplies" in errand(memory, state=msgspec.structs.replace(GAME, money=500)).reason
    assert "supplies" not in errand(memory, state=msgspec.structs.replace(GAME, money=100)).reason
