"""Small promises, each from a state that the walkthrough passed through."""

import random
from collections.abc import Callable

import pytest

from tests.cartridge.player import FACING, ITEMS, LIST, MAPS, MESSAGE, STEPS, TICK, YES_NO, Player, table
from tests.cartridge.promises import broken_promises, screen_differs_from_blocks

At = Callable[[str], Player]


# walking


@pytest.mark.parametrize("hold", [4, 8, 12, 16])
def test_a_press_of_up_to_sixteen_frames_is_exactly_one_step(at: At, hold: int) -> None:
    player = at("home")
    player.press("up", hold=hold, frames=40)
    assert player.here == (MAPS["HOME"], 3, 3)


def test_a_direction_held_down_walks_a_square_every_sixteen_frames(at: At) -> None:
    player = at("road")
    player.walk_to((27, 10))
    player.press("up", hold=16 * 6, frames=16 * 6 + 8)
    assert player.here == (MAPS["MEADOW ROAD"], 21, 10)


def test_one_press_turns_and_walks(at: At) -> None:
    player = at("home")
    player.press("left")
    assert player.byte(0xC109) == FACING["left"]
    assert player.here[1:] == (4, 2)


def test_people_block_the_way_and_turn_to_whom_speaks(at: At) -> None:
    player = at("home")
    player.talk(4, 5)
    stood = player.here
    facing = next(name for name, value in FACING.items() if value == player.byte(0xC109))
    opposite = {"up": "down", "down": "up", "left": "right", "right": "left"}[facing]
    assert player.byte(0xC119) == FACING[opposite]
    player.settle()
    player.press(facing)
    assert player.here == stood


def test_a_sign_blocks_the_way_and_can_be_read(at: At) -> None:
    player = at("starter")
    player.talk(7, 11)
    player.read_to(lambda: player.byte(0xC4F2) == 0xEE, None)
    assert player.rows()[14].strip(" ") == "FERNHOLLOW"
    player.settle()
    spot = player.here
    player.press(next(b for b, v in FACING.items() if v == player.byte(0xC109)))
    assert player.here == spot


def test_one_can_walk_exactly_where_the_collision_list_says(at: At) -> None:
    """Try every direction from a dozen squares of the town and compare with the block map."""
    player, tried = at("starter"), 0
    passable = player.passable_tiles()
    for goal in [(5, 3), (5, 1), (7, 10), (13, 5), (15, 5), (6, 12), (11, 14), (16, 18)]:
        player.walk_to(goal)
        state = player.save_state()
        for button, (dy, dx) in STEPS.items():
            y, x = goal[0] + dy, goal[1] + dx
            may = player.square_tile(y, x) in passable and (y, x) not in player.people()
            player.press(button)
            moved = player.here != (MAPS["FERNHOLLOW"], *goal)
            assert moved == may, (goal, button)
            player.load_state(state)
            tried += 1
    assert tried == 32


@pytest.mark.parametrize("stage", ["home", "starter", "study", "shop", "road", "hall"])
def test_the_screen_shows_what_the_block_map_says(at: At, stage: str) -> None:
    player = at(stage)
    player.press(None)
    assert screen_differs_from_blocks(player) == []


def test_the_background_layer_shows_the_tile_map(at: At) -> None:
    player = at("road")
    for button in ("up", "up", "right", "left", "up", "left"):
        player.press(button)
    left, top = player.byte(0xFF43) // 8, player.byte(0xFF42) // 8
    for y in range(18):
        row = [player.byte(0x9800 + ((top + y) & 31) * 32 + ((left + x) & 31)) for x in range(20)]
        assert row == list(player.memory[0xC3A0 + y * 20 : 0xC3A0 + y * 20 + 20])


def test_the_town_and_the_road_join_without_a_seam(at: At) -> None:
    player = at("road")
    player.walk_to((27, 9))
    before = list(player.memory[0xC3A0 + 40 : 0xC508])
    player.press("down")
    assert player.here == (MAPS["FERNHOLLOW"], 0, 9)
    assert list(player.memory[0xC3A0:0xC4E0]) == before
    assert player.byte(0xD370) == 8
    assert player.byte(0xD371) == MAPS["MEADOW ROAD"]


def test_a_door_leads_in_and_the_mat_leads_out(at: At) -> None:
    player = at("starter")
    player.take_warp(4, 14)
    assert player.here == (MAPS["REST HOUSE"], 7, 4)
    assert player.byte(0xD365) == MAPS["FERNHOLLOW"]
    player.press("down")
    player.settle()
    assert player.here == (MAPS["FERNHOLLOW"], 5, 14)


def test_standing_on_a_mat_does_nothing(at: At) -> None:
    player = at("home")
    player.walk_to((7, 4))
    player.press(None)
    player.press("left")
    assert player.here == (MAPS["HOME"], 7, 3)
    assert player.byte(0xD736) & 4
    player.press("up")
    assert player.here == (MAPS["HOME"], 6, 3)
    assert not player.byte(0xD736) & 4


def test_a_map_changes_frame_by_frame_like_the_retail_one(at: At) -> None:
    player = at("home")
    player.walk_to((6, 3))
    player.pyboy.button_press("down")
    seen = []
    for _ in range(80):
        player.pyboy.tick(1, False)
        seen.append([player.byte(address) for address in (0xD35E, 0xD367, 0xFF47, 0xFF40, 0xD42F)])
    player.pyboy.button_release("down")
    home, town = MAPS["HOME"], MAPS["FERNHOLLOW"]
    assert seen[15][:2] == [home, 1]
    assert seen[16] == [town, 1, 0xE4, 0x83, 0]
    assert [seen[frame][2] for frame in (23, 24, 32, 40)] == [0xE4, 0xF9, 0xFE, 0xFF]
    assert [seen[frame][3] & 0x80 for frame in (47, 48)] == [0x80, 0]
    assert [seen[frame][1] for frame in (48, 49)] == [1, 0]
    assert player.here == (town, 5, 3)


def test_grass_has_its_rate_and_its_ten_kin_in_memory(at: At) -> None:
    player = at("road")
    row = next(row for row in table("wild") if int(row["map"]) == MAPS["MEADOW ROAD"])
    pairs = [slot.split(":") for slot in row["slots"].split()]
    assert player.byte(0xD887) == int(row["rate"]) > 0
    names = {int(row["internal_index"]): row["name"] for row in table("species")}
    assert [(names[player.byte(0xD889 + 2 * i)], str(player.byte(0xD888 + 2 * i))) for i in range(10)] == [
        tuple(pair) for pair in pairs
    ]
    assert player.byte(0xD8A4) == 0
    player.cross("down", (9, 10))
    assert player.byte(0xD887) == 0


@pytest.mark.parametrize("column", [9, 10])
def test_without_kin_somebody_walks_up_and_leads_the_player_away(at: At, column: int) -> None:
    player = at("town")
    for _ in range(2):
        player.walk_to((2, column))
        player.press("up")
        player.press("up")
        assert player.byte(0xCD6B) == 0xFC
        assert player.byte(0xD730) & 0x80
        player.press("up")
        assert player.here == (MAPS["FERNHOLLOW"], 1, column)
        player.settle()
        assert player.here == (MAPS["FERNHOLLOW"], 14, 6)
        assert (14, 5) in player.people()
        assert player.byte(0xCD6B) == 0


def test_with_kin_nobody_minds(at: At) -> None:
    player = at("starter")
    player.cross("up", (9, 10))
    assert player.here[0] == MAPS["MEADOW ROAD"]


def test_stairs_take_whoever_steps_on_them_and_the_floors_differ_in_the_tileset_alone(at: At) -> None:
    player = at("bedroom")
    above = list(player.memory[0xD367:0xD36A])
    player.take_warp(1, 6)
    assert player.here == (MAPS["HOME"], 1, 6)
    below = list(player.memory[0xD367:0xD36A])
    assert above[1:] == below[1:]
    assert above[0] != below[0]


def test_the_two_floors_of_the_hall_are_alike(at: At) -> None:
    shapes = [tuple(at(stage).memory[0xD367:0xD36A]) for stage in ("hall", "loft")]
    assert shapes[0] == shapes[1]
    assert at("loft").here[0] != at("hall").here[0]


def test_a_ledge_is_jumped_one_way_only(at: At) -> None:
    player = at("north")
    player.walk_to((12, 6))
    player.press("down", frames=16)
    assert player.byte(0xD736) & 0x40
    assert player.byte(0xD730) & 0x80
    player.settle()
    assert player.here == (MAPS["MEADOW ROAD"], 14, 6)
    player.press("up")
    assert player.here == (MAPS["MEADOW ROAD"], 14, 6)


def test_the_two_halves_of_the_road_meet_only_through_the_wood(at: At) -> None:
    south, north = at("before ramblers"), (4, 9)
    assert south.path({north}) is None
    assert south.path({(16, 17)}) is not None
    player = at("north")
    assert player.path({north}) is not None
    assert player.path({(14, 9)}) is None


def test_glazed_floor_carries_the_player_on(at: At) -> None:
    player = at("hall")
    player.walk_to((6, 5))
    player.press("up", frames=36)
    assert player.byte(0xD736) & 0x80
    assert player.byte(0xD730) & 0x80
    player.settle()
    assert player.here == (MAPS["SLATE HALL"], 2, 5)
    assert not player.byte(0xD736) & 0x80


def test_the_keeper_stands_in_the_way_until_shown_the_pass(at: At) -> None:
    player = at("before ramblers")
    assert player.path({(16, 19)}) is None
    state = player.save_state()
    bag = player.bag()
    player.memory[0xD31D:0xD321] = [1, ITEMS["TONIC"], 1, 0xFF]
    player.talk(16, 18)
    player.settle()
    assert (16, 18) in player.people()
    player.load_state(state)
    assert ITEMS["TRAIL PASS"] in bag
    player.talk(16, 18)
    player.settle()
    assert (16, 18) not in player.people()
    player.walk_to((16, 18))


def test_the_guard_stands_in_the_way_until_the_badge(at: At) -> None:
    player = at("north")
    assert player.path({(1, 15)}) is None
    player.talk(2, 15)
    player.read_to(lambda: "badge" in player.rows()[16])
    player.settle()
    assert player.path({(1, 15)}) is None
    assert at("ridge").here == (MAPS["CAIRN PATH"], 17, 15)


def test_people_walk_about_near_their_place(at: At) -> None:
    player = at("starter")
    places = set()
    for _ in range(120):
        player.press(None)
        places.add((player.byte(0xC224) - 4, player.byte(0xC225) - 4))
    assert len(places) > 3
    assert all(abs(y - 8) <= 2 and abs(x - 5) <= 2 for y, x in places)


def test_nobody_walks_into_the_player(at: At) -> None:
    player = at("starter")
    player.walk_to((8, 7))
    for _ in range(200):
        player.press(None)
        assert player.here[1:] not in player.people()


def test_there_is_tall_grass_where_nobody_lives(at: At) -> None:
    player = at("starter")
    assert player.byte(0xD887) == 0
    grass = list(player.grass())
    assert grass
    player.walk_to(grass[0])
    for _ in range(20):
        player.press("right")
        player.press("left")
    assert player.in_battle == 0


def test_a_sign_stands_beside_a_door(at: At) -> None:
    player = at("starter")
    signs = {(player.byte(0xD4B1 + 2 * i), player.byte(0xD4B2 + 2 * i)) for i in range(player.byte(0xD4B0))}
    assert (4, 15) in signs
    assert (4, 14) in {(y, x) for y, x, _, _ in player.warps()}
    player.walk_to((5, 15))
    player.press("up")
    player.press("a")
    player.read_to(lambda: "REST HOUSE" in player.rows()[14], None)


def test_an_ordinary_walk_never_loses_a_frame(at: At) -> None:
    player = at("road")
    before = clock(player)
    for _ in range(6):
        player.press("up")
        player.press("down")
    assert clock(player) - before == 12 * TICK


def clock(player: Player) -> int:
    hours, _, minutes, seconds, frames = (player.byte(0xDA41 + i) for i in range(5))
    return ((hours * 60 + minutes) * 60 + seconds) * 60 + frames


# text and menus


def test_text_decodes_by_the_character_table(at: At) -> None:
    player = at("home")
    player.talk(4, 5)
    assert player.byte(0xD125) == MESSAGE
    assert player.text_up
    player.read_to(lambda: player.byte(0xC4F2) == 0xEE, None)
    assert "Hello, WREN!" in player.rows()[14]
    assert player.name(0xD158) == "WREN"
    assert player.name(0xD34A) == "JUNO"
    player.settle()
    assert player.byte(0xD125) == 0
    assert not player.text_up


def test_a_name_can_be_written_letter_by_letter() -> None:
    player = Player()
    player.press(None, frames=120)
    player.press("start")
    player.read_to(lambda: player.byte(0xCC24) == 2 and player.byte(0xCC25) == 1 and player.cursor_ready())
    player.choose(3)
    for button in ("right", "a", "down", "a", "b", "a", "start"):
        player.press(button)
    player.read_to(lambda: player.byte(0xD368) > 0 and not player.text_up)
    assert player.name(0xD158) == "BK"
    player.close()


def test_pressing_a_alone_gets_from_power_on_to_the_first_room() -> None:
    player = Player()
    for _ in range(60):
        player.press("a")
        if player.byte(0xD368):
            break
    assert player.here == (MAPS["HOME UPSTAIRS"], 4, 3)
    player.close()


def test_the_start_menu_opens_moves_and_closes(at: At) -> None:
    player = at("starter")
    player.press("start")
    assert (player.byte(0xCC24), player.byte(0xCC25), player.byte(0xCC26), player.byte(0xCC28)) == (2, 11, 0, 3)
    assert player.cursor_ready()
    player.press("down")
    assert player.byte(0xCC26) == 1
    assert player.cursor_ready()
    player.press("b")
    assert not player.text_up


def test_the_bag_is_a_list_whose_entry_is_cursor_plus_scroll(at: At) -> None:
    player = at("road")
    player.press("start")
    player.choose(1)
    player.read_to(lambda: player.byte(0xD125) == LIST, None)
    assert player.byte(0xCF94) == 3
    assert "CATCH ORB" in player.rows()[4]
    assert "TONIC" in player.rows()[6]
    player.settle("b")


def test_a_tonic_heals_in_the_field_and_is_used_up(at: At) -> None:
    player = at("road")
    set_health(player, 0, 3)
    before = player.bag()[ITEMS["TONIC"]]
    player.press("start")
    player.choose(1)
    player.choose_in_list(list(player.bag()).index(ITEMS["TONIC"]))
    player.choose(0)
    player.settle("b")
    lead = player.party()[0]
    assert lead["hp"] == min(lead["max"], 23)
    assert player.bag()[ITEMS["TONIC"]] == before - 1


# town life


@pytest.mark.parametrize(("name", "count", "index"), [("CATCH ORB", 3, 0), ("TONIC", 1, 1), ("CURE LEAF", 2, 2)])
def test_buying_takes_the_price_and_gives_the_goods(at: At, name: str, count: int, index: int) -> None:
    player = at("shop")
    money, had = player.money, player.bag().get(ITEMS[name], 0)
    price = next(int(row["price"]) for row in table("item_effects") if int(row["id"]) == ITEMS[name])
    player.buy(ITEMS[name], count, index)
    assert player.money == money - count * price
    assert player.bag()[ITEMS[name]] == had + count


def test_what_one_cannot_pay_one_does_not_get(at: At) -> None:
    player = at("shop")
    player.memory[0xD347:0xD34A] = [0x00, 0x03, 0x99]
    player.buy(ITEMS["CATCH ORB"], 2, 0)
    assert player.money == 399
    assert player.bag()[ITEMS["CATCH ORB"]] == 5


def test_the_nurse_heals_everyone_for_nothing(at: At) -> None:
    player = at("before ramblers")
    for slot in range(len(player.party())):
        set_health(player, slot, 1)
    player.memory[0xD16B + 4] = 0x08
    player.memory[0xD188] = 0
    money = player.money
    player.rest()
    assert all(kin["hp"] == kin["max"] and kin["status"] == 0 for kin in player.party())
    assert player.byte(0xD188) > 0
    assert player.money == money


@pytest.mark.parametrize("question", [0, 1])
def test_saying_no_to_a_starter_leaves_it_there(at: At, question: int) -> None:
    player = at("study")
    player.talk(4, 5)
    for _ in range(question):
        player.read_to(lambda: player.byte(0xD125) == YES_NO and player.cursor_ready(), None)
        player.choose(0)
    player.read_to(lambda: player.byte(0xD125) == YES_NO and player.cursor_ready(), None)
    player.choose(1)
    player.settle()
    assert player.party() == []
    assert (4, 5) in player.people()
    assert screen_differs_from_blocks(player) == []


@pytest.mark.parametrize(("column", "species", "nickname"), [(3, 1, None), (5, 2, "ASH"), (7, 3, "Z")])
def test_each_orb_holds_its_own_starter(at: At, column: int, species: int, nickname: str | None) -> None:
    player = at("study")
    player.take_orb(column, nickname)
    assert [kin["species"] for kin in player.party()] == [species]
    assert player.party()[0]["level"] == 5
    assert player.bag() == {ITEMS["CATCH ORB"]: 5}
    assert player.people() == {(2, 5)}
    assert player.name(0xD2B5) == (nickname or table("species")[species - 1]["name"])


def test_a_starter_is_shown_before_it_is_taken(at: At) -> None:
    player = at("study")
    player.talk(4, 7)
    player.read_to(lambda: player.byte(0xD125) == YES_NO and player.cursor_ready(), None)
    player.choose(0)
    player.read_to(lambda: "Take it along?" in player.rows()[14], None)
    portrait = [player.byte(0xC3A0 + (3 + j) * 20 + 4 + i) for i in range(5) for j in range(5)]
    assert portrait == list(range(25))


def test_the_parcel_goes_from_the_shop_to_ives_for_a_pass(at: At) -> None:
    player = at("shop")
    assert player.event("EVENT_GOT_PARCEL")
    assert ITEMS["PARCEL"] in player.bag()
    player.take_warp(7, 3)
    player.take_warp(12, 6)
    player.talk(2, 5)
    player.settle()
    assert ITEMS["PARCEL"] not in player.bag()
    assert ITEMS["TRAIL PASS"] in player.bag()


def test_two_of_the_party_change_places(at: At) -> None:
    player = at("before ramblers")
    before = player.party()
    names = [player.name(0xD2B5 + 11 * slot) for slot in (0, 1)]
    player.press("start")
    player.choose(0)
    player.choose(0)
    player.read_to(lambda: "SWITCH" in player.rows()[14], None)
    player.choose(1)
    player.read_to(lambda: "Move it" in player.rows()[14], None)
    player.choose(1)
    player.settle("b")
    assert player.party() == [before[1], before[0], *before[2:]]
    assert [player.name(0xD2B5 + 11 * slot) for slot in (1, 0)] == names
    assert broken_promises(player) == []


def test_a_saved_game_goes_on_after_the_power_was_off(at: At) -> None:
    player = at("before ramblers")
    player.press("start")
    player.choose(2)
    player.read_to(lambda: player.byte(0xD125) == YES_NO, None)
    player.choose(0)
    player.settle()
    saved = bytes(player.memory[0xD158:0xD89C])
    battery = battery_of(player)
    fresh = Player(ram=battery)
    fresh.press(None, frames=120)
    fresh.press("start")
    fresh.read_to(fresh.cursor_ready, None)
    assert "CONTINUE" in fresh.rows()[2]
    fresh.choose(0)
    fresh.read_to(lambda: fresh.byte(0xD368) > 0 and not fresh.text_up, None)
    assert bytes(fresh.memory[0xD158:0xD730]) == saved[: 0xD730 - 0xD158]
    assert fresh.here == player.here
    fresh.press("down")
    fresh.close()


def battery_of(player: Player) -> bytes:
    player.memory[0x0000] = 0x0A
    battery = bytes(player.memory[0xA000:0xC000])
    player.memory[0x0000] = 0
    return battery


# battles


def meet_wild(player: Player) -> None:
    """Walk in the grass until something wild appears and the menu is open."""
    squares = [square for square in player.grass() if square[0] >= 21]
    while not player.in_battle:
        path = player.path({squares[player.here[1:] == squares[0]]})
        assert path
        player.press(path[0])
    assert player.in_battle == 1
    player.read_to(player.menu_is_up)


def set_health(player: Player, slot: int, hp: int) -> None:
    player.memory[0xD16B + slot * 0x2C + 1 : 0xD16B + slot * 0x2C + 3] = [hp >> 8, hp & 255]


def test_one_can_run_from_the_wild(at: At) -> None:
    player = at("road")
    meet_wild(player)
    for _ in range(12):
        player.pick(1, 1)
        player.read_to(lambda: player.menu_is_up() or not player.in_battle)
        if not player.in_battle:
            break
    assert player.in_battle == 0
    assert player.byte(0xCF0B) == 2
    assert player.here[0] == MAPS["MEADOW ROAD"]


def test_the_battle_menu_says_in_memory_where_its_cursor_is(at: At) -> None:
    player = at("road")
    meet_wild(player)
    places = []
    for button in ("left", "down", "right", "up"):
        player.press(button)
        assert player.cursor_ready()
        places.append((player.byte(0xCC25), player.byte(0xCC24) + 2 * player.byte(0xCC26)))
    assert places == [(9, 14), (9, 16), (15, 16), (15, 14)]


def test_a_used_move_costs_a_point_and_hurts(at: At) -> None:
    player = at("road")
    meet_wild(player)
    points, health = player.byte(0xD02D), player.word(0xCFE6)
    for _ in range(8):
        player.attack(0)
        player.read_to(lambda: player.menu_is_up() or not player.in_battle)
        if not player.in_battle or player.word(0xCFE6) < health:
            break
    assert player.byte(0xD188) < points
    assert player.word(0xCFE6) < health


@pytest.mark.parametrize("nickname", [None, "FIZZ"])
def test_an_orb_is_used_up_and_what_it_caught_joins_the_party(at: At, nickname: str | None) -> None:
    player = at("road")
    meet_wild(player)
    species, orbs = player.byte(0xCFE5), player.bag()[ITEMS["CATCH ORB"]]
    player.memory[0xCFE6:0xCFE8] = [0, 1]
    player.memory[0xCFEC] = 255
    player.memory[0xCFE9] = 0x08
    player.use_in_battle(ITEMS["CATCH ORB"])
    player.answer_nickname(nickname)
    player.read_to(lambda: player.in_battle == 0)
    assert player.bag()[ITEMS["CATCH ORB"]] == orbs - 1
    assert player.party()[1]["species"] == species
    assert player.party()[1]["hp"] == 1
    assert species in player.owned
    assert player.name(0xD2B5 + 11) == (nickname or table("species")[species - 1]["name"])


def start_trainer_battle(player: Player) -> None:
    player.walk_to((18, 11))
    for _ in range(3):
        player.press("left")
    player.read_to(lambda: player.in_battle == 2)
    player.read_to(player.menu_is_up)


def test_a_rambler_sees_the_player_and_input_is_blocked_meanwhile(at: At) -> None:
    player = at("before ramblers")
    player.walk_to((18, 11))
    player.press("left")
    player.press("left")
    assert player.byte(0xCD6B) != 0
    assert player.byte(0xD730) & 0x80
    player.read_to(lambda: player.in_battle == 2)
    assert (player.byte(0xD031), player.byte(0xD05D), player.byte(0xD059)) == (1, 1, 201)


def test_an_orb_on_anothers_kin_and_running_are_refused(at: At) -> None:
    player = at("before ramblers")
    start_trainer_battle(player)
    orbs = 2
    player.memory[0xD31D:0xD321] = [1, ITEMS["CATCH ORB"], orbs, 0xFF]
    player.use_in_battle(ITEMS["CATCH ORB"])
    player.read_to(player.menu_is_up)
    assert player.bag()[ITEMS["CATCH ORB"]] == orbs
    player.pick(1, 1)
    player.read_to(player.menu_is_up)
    assert player.in_battle == 2


def test_a_beaten_rambler_pays_once_and_fights_once(at: At) -> None:
    player = at("before ramblers")
    money = player.money
    start_trainer_battle(player)
    player.fight()
    player.settle()
    assert player.event("EVENT_BEAT_TESS")
    assert player.money == money + 120
    assert player.byte(0xCF0B) == 0
    player.talk(18, 8)
    assert player.in_battle == 0
    player.settle()
    assert player.money == money + 120


def test_losing_halves_the_money_and_ends_in_the_rest_house(at: At) -> None:
    player = at("road")
    player.memory[0xD347:0xD34A] = [0x01, 0x23, 0x45]
    meet_wild(player)
    seen = set()
    player.watch = lambda: seen.add(player.in_battle)
    player.memory[0xD015:0xD017] = [0, 1]
    set_health(player, 0, 1)
    while player.in_battle:
        if player.menu_is_up():
            player.memory[0xCFE6:0xCFE8] = player.memory[0xCFF4:0xCFF6]
            player.attack(1)
        else:
            player.press("a")
    player.watch = None
    player.settle()
    assert 0xFF in seen
    assert player.byte(0xCF0B) == 1
    assert player.money == 6172
    assert player.here == (MAPS["REST HOUSE"], 4, 4)
    assert player.party()[0]["hp"] == player.party()[0]["max"]


def lose(player: Player) -> None:
    """Let the battle that is fought be lost."""
    for _ in range(200):
        if not player.in_battle:
            break
        if player.menu_is_up():
            for slot in range(len(player.party())):
                set_health(player, slot, 0 if slot else 1)
            player.memory[0xD015:0xD017] = [0, 1]
            player.memory[0xCFE6:0xCFE8] = player.memory[0xCFF4:0xCFF6] = [3, 0]
            player.attack(next(i for i in range(4) if player.byte(0xD02D + i) & 63))
        else:
            player.press("a" if player.byte(0xC4F2) == 0xEE else None)
    player.settle()


def test_losing_to_the_leader_leaves_the_leader_to_be_beaten(at: At) -> None:
    player = at("loft")
    money = player.money
    player.talk(2, 4)
    player.read_to(lambda: player.in_battle == 2)
    lose(player)
    assert player.here == (MAPS["REST HOUSE"], 4, 4)
    assert player.money == money // 2
    assert player.byte(0xD356) == 0
    assert not player.event("EVENT_BEAT_WARDEN")
    assert all(kin["hp"] == kin["max"] for kin in player.party())
    player.take_warp(7, 4)
    assert player.here == (MAPS["FERNHOLLOW"], 5, 14)


def test_who_loses_wakes_up_where_the_party_last_rested(at: At) -> None:
    player = at("end")
    while not player.in_battle:
        path = player.path({(5, 10) if player.here[1:] == (5, 13) else (5, 13)})
        assert path
        player.press(path[0])
    lose(player)
    assert player.here == (MAPS["RIDGE HUT"], 4, 4)
    player.take_warp(7, 4)
    assert player.here == (MAPS["CAIRN PATH"], 5, 3)


def test_growing_a_level_raises_the_stats(at: At) -> None:
    player = at("road")
    before = player.party()[0]
    at_slot = 0xD16B
    player.memory[at_slot + 0x0E : at_slot + 0x11] = [0, 0, 215]
    meet_wild(player)
    player.memory[0xCFE6:0xCFE8] = [0, 1]
    while player.in_battle:
        if player.menu_is_up():
            player.attack(0)
        else:
            player.press("a" if player.byte(0xC4F2) == 0xEE else None)
    after = player.party()[0]
    assert after["level"] == before["level"] + 1
    assert after["max"] > before["max"]


def test_a_move_is_learned_at_its_level(at: At) -> None:
    player = at("road")
    player.memory[0xD16E] = player.memory[0xD18C] = 8
    assert 8 not in player.memory[0xD173:0xD177]
    player.memory[0xD179:0xD17C] = [0, *(9**3 - 1).to_bytes(2, "big")]
    meet_wild(player)
    player.memory[0xCFE6:0xCFE8] = [0, 1]
    win(player)
    assert player.party()[0]["level"] == 9
    assert 8 in player.memory[0xD173:0xD177]


def win(player: Player) -> None:
    while player.in_battle:
        if player.menu_is_up():
            player.attack(player.best_move())
        else:
            player.press("a" if player.byte(0xC4F2) == 0xEE else None)


@pytest.mark.parametrize(("move", "bits"), [("BARB", 0x08), ("DOZE DUST", 0x07), ("TINGLE", 0x40)])
def test_moves_poison_put_to_sleep_and_paralyse(at: At, move: str, bits: int) -> None:
    player = at("road")
    meet_wild(player)
    number = next(int(row["id"]) for row in table("moves") if row["name"] == move)
    seen = set()
    player.watch = lambda: seen.add(player.byte(0xD018))
    for _ in range(20):
        player.memory[0xCFED:0xCFF1] = [number] * 4
        player.memory[0xCFE6:0xCFE8] = player.memory[0xCFF4:0xCFF6]
        player.memory[0xD015:0xD017] = player.memory[0xD023:0xD025]
        set_health(player, 0, player.word(0xD023))
        player.attack(1)
        player.read_to(player.menu_is_up)
        if any(status & bits for status in seen):
            break
    player.watch = None
    assert any(status & bits for status in seen)
    assert all(status & ~bits == 0 for status in seen)


@pytest.mark.parametrize(("types", "words"), [((5, 5), "so well"), ((22, 22), "hardly"), ((0, 0), "")])
def test_the_type_chart_decides_how_well_a_move_works(at: At, types: tuple[int, int], words: str) -> None:
    player = at("road")
    meet_wild(player)
    player.memory[0xCFEA:0xCFEC] = list(types)
    player.memory[0xCFED:0xCFF1] = [1] * 4
    player.memory[0xCFE6:0xCFE8] = player.memory[0xCFF4:0xCFF6] = [0, 200]
    leaf = list(player.memory[0xD01C:0xD020]).index(3)
    said = []
    player.watch = lambda: said.append(player.rows()[14])
    player.attack(leaf)
    player.read_to(player.menu_is_up, None)
    player.watch = None
    heard = [row for row in said if "so well" in row or "hardly" in row]
    assert all(words in row for row in heard)
    assert bool(heard) == bool(words)


def test_what_has_no_effect_does_no_harm(at: At) -> None:
    player = at("road")
    meet_wild(player)
    player.memory[0xCFEA:0xCFEC] = [4, 4]
    player.memory[0xD01C] = 9
    health = player.word(0xCFE6)
    player.attack(0)
    player.read_to(player.menu_is_up, None)
    assert player.word(0xCFE6) == health


def test_changing_kin_sends_out_the_other(at: At) -> None:
    player = at("before ramblers")
    start_trainer_battle(player)
    player.pick(1, 0)
    player.choose(1)
    player.read_to(player.menu_is_up, None)
    assert player.byte(0xCC2F) == 1
    assert player.byte(0xD014) == player.party()[1]["species"]


def to_the_question(player: Player) -> None:
    """Beat the first of OLLIE's two kin."""
    for slot in range(len(player.party())):
        set_health(player, slot, player.party()[slot]["max"])
    player.walk_to((9, 9))
    player.press("up")
    player.read_to(lambda: player.in_battle == 2)
    player.read_to(player.menu_is_up)
    while player.byte(0xD125) != YES_NO:
        player.memory[0xCFE6:0xCFE8] = [0, 1]
        if player.menu_is_up():
            player.attack(player.best_move())
        else:
            player.press("a" if player.byte(0xC4F2) == 0xEE else None)
    player.read_to(player.cursor_ready, None)


def test_a_challenger_asks_whether_to_change_and_yes_changes(at: At) -> None:
    player = at("north")
    to_the_question(player)
    player.choose(0)
    player.read_to(lambda: "Bring out which" in player.rows()[14], None)
    player.choose(0)
    player.read_to(lambda: "already out" in player.rows()[16])
    player.read_to(lambda: "Bring out which" in player.rows()[14])
    player.choose(1)
    player.read_to(player.menu_is_up)
    assert player.byte(0xCC2F) == 1
    assert player.byte(0xD014) == player.party()[1]["species"]


@pytest.mark.parametrize("answer", ["no", "yes, then back"])
def test_a_challenger_asks_whether_to_change_and_no_does_not(at: At, answer: str) -> None:
    player = at("north")
    to_the_question(player)
    if answer == "no":
        player.choose(1)
    else:
        player.choose(0)
        player.read_to(lambda: "Bring out which" in player.rows()[14], None)
        player.press("b")
    player.read_to(player.menu_is_up, None)
    assert player.byte(0xCC2F) == 0


def test_ives_has_more_orbs_for_those_without(at: At) -> None:
    player = at("starter")
    player.memory[0xD31D:0xD31F] = [0, 0xFF]
    player.take_warp(12, 6)
    for expected in (3, 3):
        player.talk(2, 5)
        player.settle()
        assert player.bag() == {ITEMS["CATCH ORB"]: expected}


def test_a_monkey_at_the_buttons_breaks_no_promise(at: At) -> None:
    player, monkey = at("before ramblers"), random.Random(7)
    buttons = ["up", "down", "left", "right", "a", "a", "b", "start", None]
    for _ in range(800):
        player.press(monkey.choice(buttons))
        assert broken_promises(player) == []
