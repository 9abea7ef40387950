"""Ways over a remembered map."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator

from ptp.agents.explorer.memory import Area, Exit, Talker
from ptp.worlds.gameboy.paths import OPPOSITE, STEPS, Direction, Edge
from ptp.worlds.gameboy.tiles import Square

OUTWARD: dict[Edge, Direction] = {"north": "up", "south": "down", "west": "left", "east": "right"}
MOVES = tuple((direction, across, down) for direction, (across, down) in STEPS.items())


def ahead(square: Square, direction: Direction, squares: int = 1) -> Square:
    """Return the square so many steps away."""
    across, down = STEPS[direction]
    return square[0] + across * squares, square[1] + down * squares


class Reach:
    """What can be reached from a square over open ones, searched only as far as somebody asks.

    Warps are reached, but not walked over. A ledge or a slide is taken as the one step it is.
    """

    def __init__(self, area: Area, start: Square, blocked: Collection[Square] = frozenset()) -> None:
        self._open, self._walls = area.open, area.walls
        self._blocked = blocked
        self._warps = area.warps() - {start}
        self._leaps = {(square, direction): end for square, direction, end in area.leaps}
        self._came: dict[Square, tuple[Square, Direction] | None] = {start: None}
        self._waiting = deque([start])

    def nearest(self, goals: Collection[Square]) -> Square | None:
        """Return the goal with the shortest way; None when none can be reached."""
        if not goals:
            return None
        found = next((square for square in self._came if square in goals), None)
        return found if found is not None else self._search(goals)

    def _search(self, goals: Collection[Square]) -> Square | None:
        """Go on from where the last search ended, until a goal is found."""
        found, came, waiting, walls = None, self._came, self._waiting, self._walls
        free, blocked, leaps = self._open, self._blocked, self._leaps
        while waiting and found is None:
            square = waiting.popleft()
            if square in self._warps:
                continue
            for direction, across, down in MOVES:
                beside = (square[0] + across, square[1] + down)
                if leaps and (square, direction) in leaps:
                    beside = leaps[square, direction]
                if beside in came or beside not in free or beside in blocked:
                    continue
                if walls and (square, direction) in walls:
                    continue
                came[beside] = (square, direction)
                waiting.append(beside)
                if found is None and beside in goals:
                    found = beside
        return found

    def steps_to(self, square: Square) -> list[Direction]:
        """Return the directions to a square that was found."""
        steps: list[Direction] = []
        while (came := self._came[square]) is not None:
            square, direction = came
            steps.append(direction)
        return steps[::-1]


def speaking_places(area: Area, talker: Talker, distance: int) -> Iterator[tuple[Square, Direction]]:
    """Yield where one can stand to talk and which way to look: beside somebody (1), or across a counter (2).

    Signs are read from beside them only. Nobody talks from a warp: it may take one away first.
    """
    if talker.sign and distance > 1:
        return
    warps = area.warps()
    for direction in STEPS:
        place = ahead(talker.place, direction, distance)
        if place not in warps and (distance == 1 or ahead(talker.place, direction) in area.closed):
            yield place, OPPOSITE[direction]


def doorsteps(area: Area, exit_: Exit) -> Iterator[tuple[Square, list[Direction]]]:
    """Yield the squares that an exit is taken from, and the steps from there.

    A warp on the border of the map may be a mat, which is left by walking off the map.
    """
    if exit_.side is None:
        yield exit_.place, _off_the_map(area, exit_.place)
        return
    outward = OUTWARD[exit_.side]
    for square in area.beyond:
        inside = ahead(square, OPPOSITE[outward])
        if inside in area.open and (inside, outward) not in area.walls:
            yield inside, [outward]


def _off_the_map(area: Area, square: Square) -> list[Direction]:
    x, y = square
    if y == area.height - 1:
        return ["down"]
    if y == 0:
        return ["up"]
    if x == 0:
        return ["left"]
    return ["right"] if x == area.width - 1 else []
