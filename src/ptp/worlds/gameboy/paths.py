"""Shortest ways over squares: on the screen, to a warp or an edge, or over a map that was put together."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Literal

from ptp.worlds.gameboy.tiles import COLUMNS, PLAYER, ROWS, Square, Surroundings

Direction = Literal["up", "down", "left", "right"]
Edge = Literal["north", "south", "west", "east"]

STEPS: dict[Direction, Square] = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}
OPPOSITE: dict[Direction, Direction] = {"up": "down", "down": "up", "left": "right", "right": "left"}


def find_path(start: Square, goals: Collection[Square], is_open: Callable[[Square], bool]) -> list[Direction] | None:
    """Return the shortest way to the nearest goal (A*), or None; a goal may be entered even when it is not open."""
    wanted = frozenset(goals)
    came: dict[Square, tuple[Square, Direction]] = {}
    lengths = {start: 0}
    waiting = [(_distance(start, wanted), start)] if wanted else []
    while waiting:
        _, place = heapq.heappop(waiting)
        if place in wanted:
            return _steps_back(place, came)
        length = lengths[place] + 1
        for direction, beside in _beside(place):
            if length < lengths.get(beside, length + 1) and (beside in wanted or is_open(beside)):
                lengths[beside] = length
                came[beside] = (place, direction)
                heapq.heappush(waiting, (length + _distance(beside, wanted), beside))
    return None


def path_on_screen(around: Surroundings, goal: Square) -> list[Direction] | None:
    """Return the way from the player to a square of the screen, past everybody who stands there."""
    return find_path(PLAYER, {goal}, around.is_open)


def path_beside(around: Surroundings, goal: Square) -> list[Direction] | None:
    """Return the way to a square next to *goal*, and the turn towards it: to talk, or to read a sign."""
    sides = {beside: direction for direction, beside in _beside(goal)}
    path = find_path(PLAYER, [beside for beside in sides if beside == PLAYER or around.is_open(beside)], around.is_open)
    if path is None:
        return None
    end = PLAYER
    for direction in path:
        end = (end[0] + STEPS[direction][0], end[1] + STEPS[direction][1])
    return [*path, OPPOSITE[sides[end]]]


def path_to_warp(around: Surroundings) -> list[Direction] | None:
    """Return the way to the nearest warp on the screen that the player does not stand on."""
    return find_path(PLAYER, around.warps - {PLAYER}, around.is_open)


def path_to_edge(around: Surroundings, edge: Edge) -> list[Direction] | None:
    """Return the way to the nearest open square at an edge of the screen."""
    return find_path(PLAYER, [square for square in _EDGES[edge] if around.is_open(square)], around.is_open)


def path_on_map(start: Square, goals: Collection[Square], known: Mapping[Square, bool]) -> list[Direction] | None:
    """Return the way over squares that an explorer has seen; what was not seen is closed."""
    return find_path(start, goals, lambda place: known.get(place, False))


_EDGES: dict[Edge, list[Square]] = {
    "north": [(column, 0) for column in range(COLUMNS)],
    "south": [(column, ROWS - 1) for column in range(COLUMNS)],
    "west": [(0, row) for row in range(ROWS)],
    "east": [(COLUMNS - 1, row) for row in range(ROWS)],
}


def _beside(place: Square) -> Iterator[tuple[Direction, Square]]:
    for direction, (across, down) in STEPS.items():
        yield direction, (place[0] + across, place[1] + down)


def _distance(place: Square, goals: frozenset[Square]) -> int:
    return min(abs(place[0] - x) + abs(place[1] - y) for x, y in goals)


def _steps_back(place: Square, came: dict[Square, tuple[Square, Direction]]) -> list[Direction]:
    path: list[Direction] = []
    while place in came:
        place, direction = came[place]
        path.append(direction)
    return path[::-1]
