"""Shortest ways."""

from __future__ import annotations

from collections import deque

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ptp.worlds.gameboy.paths import (
    STEPS,
    Direction,
    find_path,
    path_beside,
    path_on_map,
    path_on_screen,
    path_to_edge,
    path_to_warp,
)
from ptp.worlds.gameboy.tiles import PLAYER, Square
from tests.worlds.gameboy.images import put
from tests.worlds.gameboy.test_tiles import OPEN, screen, seen


def walked(path: list[Direction] | None, start: Square = PLAYER) -> list[Square]:
    assert path is not None
    places = [start]
    for direction in path:
        across, down = STEPS[direction]
        places.append((places[-1][0] + across, places[-1][1] + down))
    return places


def test_the_way_over_open_ground_is_straight() -> None:
    assert path_on_screen(seen(screen(OPEN)), (4, 1)) == ["up"] * 3
    assert path_on_screen(seen(screen(OPEN)), PLAYER) == []


def test_the_way_goes_round_a_wall() -> None:
    rows = [*OPEN]
    rows[3] = "########.#"
    path = path_on_screen(seen(screen(rows)), (4, 2))
    assert len(walked(path)) == 11
    assert (8, 3) in walked(path)


def test_the_way_goes_round_somebody() -> None:
    image = screen(OPEN, x=20, y=30)
    put(image, 0xC110, 7)
    put(image, 0xC214, 29 + 4, 20 + 4)
    path = path_on_screen(seen(image), (4, 2))
    assert (4, 3) not in walked(path)
    assert len(walked(path)) == 5


def test_there_is_no_way_out_of_a_closed_room() -> None:
    rows = ["##########"] * 9
    rows[4] = "####.#####"
    around = seen(screen(rows))
    assert path_on_screen(around, (4, 1)) is None
    assert path_to_edge(around, "north") is None
    assert path_to_warp(around) is None


def test_a_door_in_a_wall_can_be_entered() -> None:
    rows = [*OPEN]
    rows[2] = "##########"
    image = screen(rows, x=20, y=30)
    put(image, 0xD3AE, 1, 28, 20, 0, 0)
    assert path_to_warp(seen(image)) == ["up", "up"]


def test_the_warp_under_the_player_is_no_goal() -> None:
    image = screen(OPEN, x=20, y=30)
    put(image, 0xD3AE, 2, 30, 20, 0, 0, 30, 22, 0, 0)
    assert path_to_warp(seen(image)) == ["right", "right"]


@pytest.mark.parametrize(
    ("edge", "path"),
    [("north", ["up"] * 4), ("south", ["down"] * 4), ("west", ["left"] * 4), ("east", ["right"] * 5)],
)
def test_the_way_to_each_edge(edge: str, path: list[str]) -> None:
    assert path_to_edge(seen(screen(OPEN)), edge) == path  # type: ignore[arg-type]


def test_to_talk_one_walks_beside_and_turns() -> None:
    image = screen(OPEN, x=20, y=30)
    put(image, 0xC110, 7)
    put(image, 0xC214, 30 + 4, 23 + 4)
    path = path_beside(seen(image), (7, 4))
    assert path == ["right", "right", "right"]
    assert path_beside(seen(image), (4, 3)) == ["up"]


def test_nobody_can_be_reached_through_a_wall() -> None:
    rows = [*OPEN]
    rows[3] = "##########"
    assert path_beside(seen(screen(rows)), (4, 1)) is None


def test_the_way_over_a_known_map_keeps_to_what_was_seen() -> None:
    known = {(x, 0): True for x in range(5)} | {(4, y): True for y in range(5)} | {(0, 1): False}
    assert path_on_map((0, 0), {(4, 4)}, known) == ["right"] * 4 + ["down"] * 4
    assert path_on_map((0, 0), {(9, 9)}, known) is None


def test_the_nearest_of_several_goals_is_chosen() -> None:
    assert find_path((0, 0), {(5, 0), (0, -2)}, lambda place: True) == ["up", "up"]


@settings(deadline=None)
@given(st.sets(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=30), st.integers(0, 7), st.integers(0, 7))
def test_no_way_is_shorter(walls: set[Square], x: int, y: int) -> None:
    def is_open(place: Square) -> bool:
        return 0 <= place[0] < 8 and 0 <= place[1] < 8 and place not in walls

    path = find_path((0, 0), {(x, y)}, is_open)
    assert (None if path is None else len(path)) == breadth_first((0, 0), (x, y), is_open)
    if path is not None:
        places = walked(path, (0, 0))
        assert places[-1] == (x, y)
        assert all(is_open(place) for place in places[1:-1])


def breadth_first(start: Square, goal: Square, is_open: object) -> int | None:
    lengths, waiting = {start: 0}, deque([start])
    while waiting:
        place = waiting.popleft()
        if place == goal:
            return lengths[place]
        for across, down in STEPS.values():
            beside = (place[0] + across, place[1] + down)
            if beside not in lengths and (beside == goal or is_open(beside)):  # type: ignore[operator]
                lengths[beside] = lengths[place] + 1
                waiting.append(beside)
    return None
