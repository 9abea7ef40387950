"""The screen as squares, and whether the player gets on."""

from __future__ import annotations

import pytest

from ptp.worlds.gameboy.tiles import Repetition, Surroundings, changed_tiles, observe, read_sprites
from tests.worlds.gameboy.images import put, started

FLOOR, WALL, GRASS = 0x10, 0x01, 0x52
LIST = 0x1234
ROM = bytes(LIST) + bytes([FLOOR, GRASS, 0xFF]) + bytes(0x8000 - LIST - 3)


def screen(rows: list[str], x: int = 20, y: int = 30) -> bytearray:
    """Put squares on the tile map: . floor, # wall, w grass; only their lower left tile says so."""
    image = started()
    put(image, 0xD361, y)
    put(image, 0xD362, x)
    put(image, 0xD530, LIST & 255, LIST >> 8)
    put(image, 0xD535, GRASS)
    kinds = {".": FLOOR, "#": WALL, "w": GRASS}
    for row, line in enumerate(rows):
        for column, kind in enumerate(line):
            put(image, 0xC3A0 + 20 * (2 * row + 1) + 2 * column, kinds[kind])
    return image


def seen(image: bytearray) -> Surroundings:
    return observe(image, ROM)


OPEN = [".........."] * 9


def test_a_square_is_walkable_by_its_lower_left_tile() -> None:
    around = seen(screen(["#.w......." if row == 4 else "##########" for row in range(9)]))
    assert around.walkable is not None
    assert around.walkable[4] == (False, True, True, *[True] * 7)
    assert around.walkable[3] == (False,) * 10
    assert around.grass == {(2, 4)}


def test_the_tiles_are_twenty_by_eighteen() -> None:
    image = screen(OPEN)
    put(image, 0xC3A0, 0xAA)
    put(image, 0xC507, 0xBB)
    tiles = seen(image).tiles
    assert (len(tiles), tiles[0], tiles[359]) == (360, 0xAA, 0xBB)


def test_without_a_list_of_passable_tiles_nothing_is_said_of_walking() -> None:
    image = screen(OPEN)
    put(image, 0xD530, 0x00, 0xC0)
    around = seen(image)
    assert around.walkable is None
    assert not around.is_open((4, 4))


def test_warps_and_signs_are_shown_where_they_are_on_the_screen() -> None:
    image = screen(OPEN, x=20, y=30)
    put(image, 0xD3AE, 3, 26, 16, 0, 0, 34, 25, 0, 0, 30, 99, 0, 0)
    put(image, 0xD4B0, 1, 30, 21)
    around = seen(image)
    assert around.warps == {(0, 0), (9, 8)}
    assert around.signs == {(5, 4)}


def test_sprites_stand_four_off_and_block_the_way() -> None:
    image = screen(OPEN, x=20, y=30)
    put(image, 0xC120, 7)
    put(image, 0xC129, 8)
    put(image, 0xC224, 29 + 4, 20 + 4)
    around = seen(image)
    assert around.sprites == {(4, 3)}
    assert not around.is_open((4, 3))
    (sprite,) = read_sprites(image)
    assert (sprite.slot, sprite.picture, sprite.x, sprite.y, sprite.facing) == (2, 7, 20, 29, "left")


@pytest.mark.parametrize(("address", "value"), [(0xC120, 0), (0xC122, 0xFF)])
def test_a_sprite_that_is_not_shown_is_left_out(address: int, value: int) -> None:
    image = screen(OPEN)
    put(image, 0xC120, 7)
    put(image, address, value)
    assert read_sprites(image) == []


def test_the_player_is_no_sprite_in_the_way() -> None:
    image = screen(OPEN)
    put(image, 0xC100, 1)
    assert seen(image).sprites == frozenset()


def test_places_on_screen_and_map() -> None:
    around = seen(screen(OPEN, x=20, y=30))
    assert around.to_map((4, 4)) == (20, 30)
    assert around.to_screen((16, 26)) == (0, 0)
    assert around.to_screen(around.to_map((9, 1))) == (9, 1)


def test_outside_the_screen_nothing_is_open() -> None:
    around = seen(screen(OPEN))
    assert not any(around.is_open(square) for square in [(-1, 0), (10, 0), (0, -1), (0, 9)])


def test_what_changed_since_the_last_tick() -> None:
    image = screen(OPEN)
    before = seen(image)
    put(image, 0xC3A0 + 20 * 3 + 7, 0x99)
    assert changed_tiles(before, seen(image)) == [(7, 3)]
    assert changed_tiles(before, before) == []


def told(watch: Repetition, *ticks: tuple[object, str]) -> list[str]:
    """Return what the watch says after each tick."""
    said: list[str] = []
    for present, action in ticks:
        watch.feed(present, action)
        said.append(watch.movement)
    return said


def test_a_player_who_sees_the_same_for_long_is_stuck() -> None:
    watch = Repetition(stuck_after=5)
    assert told(watch, *[("wall", "up")] * 7) == ["moving"] * 5 + ["stuck"] * 2
    assert told(watch, ("free", "down")) == ["moving"]


def test_a_player_who_does_different_things_to_no_avail_is_stuck() -> None:
    assert told(Repetition(stuck_after=3), *(("same", action) for action in "abcd"))[-1] == "stuck"


@pytest.mark.parametrize("period", [2, 3, 8])
def test_a_player_who_repeats_a_pattern_loops(period: int) -> None:
    said = told(Repetition(longest=8, times=4), *((tick % period, "step") for tick in range(period * 4)))
    assert said[:-1] == ["moving"] * (period * 4 - 1)
    assert said[-1] == "looping"


def test_a_player_who_breaks_the_pattern_does_not_loop() -> None:
    assert set(told(Repetition(times=3), *((place, "step") for place in (1, 2, 1, 2, 3, 1, 2, 1, 2, 4)))) == {"moving"}


def test_a_longer_pattern_than_is_looked_for_is_moving() -> None:
    assert set(told(Repetition(longest=3, times=2), *((tick % 4, "step") for tick in range(40)))) == {"moving"}
