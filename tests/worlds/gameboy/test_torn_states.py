"""States that the game has written half: they say so, and nothing is made of them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ptp.worlds.gameboy.differences import is_whole
from ptp.worlds.gameboy.state import Point
from tests.worlds.gameboy.images import RED, empty, fight, member, move_to, put, show, started, state

HOUSE_1F, HOUSE_2F = 37, 38  # as wide and as high as each other
MART_2F, MART_3F = 123, 124  # alike in tileset, too


def on_the_mat(map_id: int, leads_to: int) -> bytearray:
    """Return memory of a player who stands on a warp."""
    image = started()
    move_to(image, map_id)
    put(image, 0xD361, 3, 2)
    put(image, 0xD3AE, 1, 3, 2, 0, leads_to)
    image[0xD736] = 0b100
    image[0xD73C] = leads_to  # came from there
    return image


def take(image: bytearray, map_id: int) -> None:
    """Write what the game writes first when a warp is taken."""
    image[0xD73C] = image[0xD35E]
    image[0xD35E] = map_id


def test_a_map_whose_number_alone_is_written_is_no_place() -> None:
    image = on_the_mat(HOUSE_1F, 0)
    take(image, 0)
    found = state(image)
    assert found.screen_type == "map_change"
    assert (found.map_id, found.location, found.coordinates) == (None, None, None)
    assert (found.warps, found.connections, found.width, found.height) == (None, None, None, None)
    assert not is_whole(found)


def test_two_floors_that_differ_in_the_tileset_alone_are_told_apart() -> None:
    assert RED.shapes[HOUSE_1F][1:] == RED.shapes[HOUSE_2F][1:]
    image = on_the_mat(HOUSE_1F, HOUSE_2F)
    assert state(image).map_id == HOUSE_1F
    take(image, HOUSE_2F)
    assert state(image).screen_type == "map_change"
    move_to(image, HOUSE_2F)
    put(image, 0xD3AE, 1, 3, 2, 0, HOUSE_1F)
    assert (state(image).screen_type, state(image).map_id) == ("overworld", HOUSE_2F)


def test_two_floors_of_one_shape_are_told_apart_by_the_warp_underfoot() -> None:
    assert RED.shapes[MART_2F] == RED.shapes[MART_3F]
    image = on_the_mat(MART_2F, MART_3F)
    assert state(image).map_id == MART_2F
    take(image, MART_3F)
    assert state(image).screen_type == "map_change"
    put(image, 0xD3AE, 1, 3, 2, 0, MART_2F)
    assert (state(image).screen_type, state(image).map_id) == ("overworld", MART_3F)


def test_a_warp_to_the_map_before_is_followed_by_its_number() -> None:
    image = on_the_mat(MART_2F, 0xFF)
    image[0xD365] = MART_3F
    take(image, MART_3F)
    assert state(image).screen_type == "map_change"


def test_a_warp_within_one_map_is_no_change_of_map() -> None:
    image = on_the_mat(MART_2F, MART_2F)
    assert state(image).map_id == MART_2F


def test_who_only_stands_on_a_mat_is_there() -> None:
    image = on_the_mat(HOUSE_1F, 0)
    image[0xD42F] = 1  # where the mat leads stays written from the last time
    assert (state(image).map_id, state(image).coordinates) == (HOUSE_1F, Point(2, 3))


@pytest.mark.parametrize(("address", "value"), [(0xFF40, 0x63), (0xFF47, 0x00), (0xFF47, 0xFF)])
def test_a_dark_or_white_screen_is_no_place(address: int, value: int) -> None:
    image = started()
    image[address] = value
    assert state(image).screen_type == "map_change"


@pytest.mark.parametrize("palette", [0xFE, 0xF9, 0x90, 0x40, 0x1B])
def test_a_dark_cave_or_a_flash_is_a_place(palette: int) -> None:
    image = started()
    image[0xFF47] = palette
    assert state(image).screen_type == "overworld"


def test_a_white_screen_in_a_battle_or_under_a_text_is_none_of_it() -> None:
    for change in (fight, lambda image: show(image, 3, 3, "BAG")):
        image = started()
        image[0xFF47] = 0
        change(image)
        assert state(image).map_id == 0


def test_the_title_is_no_change_of_map() -> None:
    image = empty()
    assert state(image).screen_type == "menu"
    assert is_whole(state(image))


def test_a_place_outside_the_map_is_no_place() -> None:
    image = started()
    image[0xD361] = 0xFF
    assert state(image).screen_type == "map_change"


def test_graphics_that_are_loaded_already_are_no_other_tileset() -> None:
    image = started()
    image[0xD367] |= 0x80
    assert state(image).map_id == 0


def test_what_is_no_place_is_kept() -> None:
    image = on_the_mat(HOUSE_1F, 0)
    member(image, 0)
    put(image, 0xD347, 0, 1, 0)
    take(image, 0)
    found = state(image)
    assert (len(found.party or ()), found.money) == (1, 100)


def joining(image: bytearray) -> None:
    put(image, 0xD163, 2, 0x99, 0xB0)


def swapping(image: bytearray) -> None:
    member(image, 1, species=0x99)
    put(image, 0xD16B + 0x2C, *image[0xD16B : 0xD16B + 0x2C])


def healing(image: bytearray) -> None:
    put(image, 0xD16C, 1, 0)


@pytest.mark.parametrize("change", [joining, swapping, healing])
def test_a_party_that_is_half_written_is_none(change: Callable[[bytearray], None]) -> None:
    image = started()
    member(image, 0)
    assert is_whole(state(image))
    change(image)
    assert state(image).party is None
    assert not is_whole(state(image))


def test_money_that_is_half_written_is_none() -> None:
    image = started()
    put(image, 0xD347, 0, 0x0F, 0)
    assert not is_whole(state(image))


def test_a_wild_battle_has_no_enemy_until_it_is_written() -> None:
    image = started()
    fight(image, hp=0, species=0xA5)  # the enemy of the battle before, which fell
    image[0xC3A0 : 0xC3A0 + 360] = bytes(360)
    image[0xD059] = 0x24
    marked = state(image).battle
    assert marked is not None
    assert marked.enemy is None
    assert not is_whole(state(image))
    put(image, 0xCFE5, 0x24, 0, 15)
    assert is_whole(state(image))
