"""The state of the player, the map, the bag and the clock: every address, byte by byte."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ptp.worlds.gameboy.profiles import RAW
from ptp.worlds.gameboy.reader import StateReader, has_event, is_owned, read_state
from ptp.worlds.gameboy.state import Connection, GameState, Item, PlayTime, Point, Warp
from tests.worlds.gameboy.images import RED, empty, move_to, put, started, state, write

BADGES = ["BOULDER", "CASCADE", "THUNDER", "RAINBOW", "SOUL", "MARSH", "VOLCANO", "EARTH"]


def test_where_the_player_is() -> None:
    image = started()
    put(image, 0xD361, 17)
    put(image, 0xD362, 3)
    move_to(image, 12)
    found = state(image)
    assert found.coordinates == Point(x=3, y=17)
    assert (found.map_id, found.location) == (12, "ROUTE 1")
    assert (found.width, found.height) == (20, 36)


def test_a_map_in_no_table_has_no_name() -> None:
    image = started()
    put(image, 0xD35E, 250)
    assert (state(image).map_id, state(image).location) == (250, None)


@pytest.mark.parametrize(("value", "facing"), [(0, "down"), (4, "up"), (8, "left"), (12, "right"), (5, None)])
def test_where_the_player_looks(value: int, facing: str | None) -> None:
    image = started()
    put(image, 0xC109, value)
    assert state(image).facing == facing


@pytest.mark.parametrize(("bit", "name"), list(enumerate(BADGES)))
def test_each_badge(bit: int, name: str) -> None:
    image = started()
    put(image, 0xD356, 1 << bit)
    assert (state(image).badges, state(image).badge_names) == (1, (name,))


def test_all_badges() -> None:
    image = started()
    put(image, 0xD356, 0xFF)
    assert (state(image).badges, state(image).badge_names) == (8, tuple(BADGES))


def test_money_and_coins_are_decimal() -> None:
    image = started()
    put(image, 0xD347, 0x12, 0x34, 0x56)
    put(image, 0xD5A4, 0x98, 0x76)
    assert (state(image).money, state(image).coins) == (123456, 9876)


def test_money_with_a_digit_above_nine_is_none() -> None:
    image = started()
    put(image, 0xD347, 0x0A, 0, 0)
    put(image, 0xD5A4, 0, 0xF0)
    assert (state(image).money, state(image).coins) == (None, None)


def test_an_empty_bag() -> None:
    assert state(started()).inventory == ()


def test_a_full_bag() -> None:
    image = started()
    put(image, 0xD31D, 20)
    put(image, 0xD31E, *(value for item in range(1, 21) for value in (item, 100 - item)), 0xFF)
    bag = state(image).inventory
    assert bag is not None
    assert bag == tuple(Item(item, RED.items.get(item), 100 - item) for item in range(1, 21))
    assert bag[3] == Item(4, "POKé BALL", 96)


def test_an_item_in_no_table_has_no_name() -> None:
    image = started()
    put(image, 0xD31D, 1, 0x7F, 2, 0xFF)
    assert state(image).inventory == (Item(0x7F, None, 2),)


def test_a_bag_of_more_than_twenty_is_no_bag() -> None:
    image = started()
    put(image, 0xD31D, 21)
    assert state(image).inventory is None


@pytest.mark.parametrize("base", [0xD2F7, 0xD30A])
@pytest.mark.parametrize("dex", [1, 8, 9, 150, 151])
def test_each_end_of_the_dex(base: int, dex: int) -> None:
    image = started()
    image[base + (dex - 1) // 8] |= 1 << (dex - 1) % 8
    expected = (1, 0) if base == 0xD2F7 else (0, 1)
    assert (state(image).owned, state(image).seen) == expected
    assert is_owned(image, dex) == (base == 0xD2F7)
    assert not is_owned(image, 2)


def test_a_full_dex_has_151() -> None:
    image = started()
    for dex in range(151):
        image[0xD2F7 + dex // 8] |= 1 << dex % 8
    put(image, 0xD30A, *image[0xD2F7:0xD30A])
    assert (state(image).owned, state(image).seen) == (151, 151)


@pytest.mark.parametrize("flag", [0, 7, 8, 2552, 2559])
def test_each_end_of_the_event_flags(flag: int) -> None:
    image = started()
    image[0xD747 + flag // 8] |= 1 << flag % 8
    assert state(image).events == 1
    assert has_event(image, flag)
    assert not has_event(image, 100)


def test_no_byte_beside_the_event_flags_counts() -> None:
    image = started()
    put(image, 0xD746, 0xFF)
    put(image, 0xD887, 0xFF)
    assert state(image).events == 0


def test_the_names_of_player_and_rival() -> None:
    image = started()
    write(image, 0xD158, "RED")
    write(image, 0xD34A, "BLUE")
    assert (state(image).player, state(image).rival) == ("RED", "BLUE")


def test_a_name_that_was_never_written_is_none() -> None:
    assert (state(started()).player, state(started()).rival) == (None, None)


def test_the_play_time() -> None:
    image = started()
    put(image, 0xDA41, 12, 1, 34, 56, 59)
    assert state(image).play_time == PlayTime(12, 34, 56)


def test_warps_and_where_they_lead() -> None:
    image = started()
    put(image, 0xD3AE, 2, 5, 6, 1, 37, 7, 8, 0, 250)
    assert state(image).warps == (Warp(6, 5, 37, "REDS HOUSE 1F", 1), Warp(8, 7, 250, None, 0))


def test_a_warp_to_the_last_map_has_its_name() -> None:
    image = started()
    put(image, 0xD365, 1)
    put(image, 0xD3AE, 1, 5, 6, 2, 0xFF)
    assert state(image).warps == (Warp(6, 5, 0xFF, "VIRIDIAN CITY", 2),)


def test_the_most_warps_and_one_more() -> None:
    image = started()
    put(image, 0xD3AE, 32, *(value for warp in range(32) for value in (warp, warp, 0, 0)))
    warps = state(image).warps
    assert warps is not None
    assert (len(warps), warps[31].x) == (32, 31)
    put(image, 0xD3AE, 33)
    assert state(image).warps is None


@pytest.mark.parametrize(
    ("bit", "header", "side"),
    [(8, 0xD371, "north"), (4, 0xD37C, "south"), (2, 0xD387, "west"), (1, 0xD392, "east")],
)
def test_each_edge_leads_to_its_map(bit: int, header: int, side: str) -> None:
    image = started()
    put(image, 0xD370, bit)
    put(image, header, 12)
    assert state(image).connections == (Connection(side, 12, "ROUTE 1"),)  # type: ignore[arg-type]


@pytest.mark.parametrize(("address", "value"), [(0xCD6B, 1), (0xD730, 0x20), (0xD730, 0x80)])
def test_input_is_blocked(address: int, value: int) -> None:
    image = started()
    assert state(image).input_blocked is False
    put(image, address, value)
    assert state(image).input_blocked is True


def test_before_a_game_is_started_nothing_is_owned_and_there_is_no_place() -> None:
    found = state(empty())
    assert found == GameState("pokemon-red", "menu", party=(), inventory=(), waiting=False)


def test_a_profile_without_tables_reads_nothing() -> None:
    assert read_state(bytes(started()), RAW) == GameState("raw")


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32), st.booleans())
def test_any_memory_gives_a_state(seed: int, has_small_counts: bool) -> None:
    image = bytearray(Random(seed).randbytes(0x10000))
    if has_small_counts:
        put(image, 0xD163, image[0xD163] % 8)
        put(image, 0xD31D, image[0xD31D] % 24)
    assert state(image).screen_type in ("overworld", "battle", "dialog", "menu", "pause", "map_change")


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.integers(0xC100, 0xDA45), st.integers(0, 255)), max_size=60))
def test_a_reader_that_remembers_reads_the_same_as_one_that_does_not(changes: list[tuple[int, int]]) -> None:
    image, reader = started(), StateReader(RED)
    for address, value in changes:
        image[address] = value
        assert reader.read(image) == state(image)
