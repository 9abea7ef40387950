"""Ledges: closed squares that can be jumped over from one side; which kinds of squares are such is found by trying."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ptp.agents.explorer.memory import Area, Memory, Step
from ptp.agents.explorer.ways import MOVES, ahead
from ptp.worlds.gameboy import addresses as at
from ptp.worlds.gameboy.paths import Direction
from ptp.worlds.gameboy.tiles import COLUMNS, ROWS, Square, Surroundings

Leap = tuple[Square, Direction, Square]
"""From where, which way, and to where."""
Gap = tuple[int, Leap]
"""What the square looks like that is to be jumped over, and how."""

WORKS = 1
MOST_TRIES = 2  # of one kind of square in one direction, before it is taken for a wall


def note_hurdles(memory: Memory, area: Area, around: Surroundings, fresh: Iterable[Square], tileset: int) -> None:
    """Remember the closed squares with an open one on either side, by what they look like."""
    closed = area.closed
    for square in {beside for x, y in fresh for beside in _cross(x, y) if beside in closed}:
        if not any(_sides(area, square)):
            continue
        column, row = around.to_screen(square)
        if 0 <= column < COLUMNS and 0 <= row < ROWS:
            tile = around.tiles[(2 * row + 1) * at.TILE_COLUMNS + 2 * column]
            area.hurdles.add((square, tileset << 8 | tile))
            _add_leaps(memory, area, square, tileset << 8 | tile)


def _cross(x: int, y: int) -> tuple[Square, ...]:
    """Return a square and those beside it."""
    return (x, y), (x, y - 1), (x, y + 1), (x - 1, y), (x + 1, y)


def _sides(area: Area, square: Square) -> Iterator[Leap]:
    """Yield from where, which way and to where one could jump over a square."""
    x, y = square
    for direction, across, down in MOVES:
        start, end = (x - across, y - down), (x + across, y + down)
        if start in area.open and end in area.open:
            yield start, direction, end


def _add_leaps(memory: Memory, area: Area, square: Square, kind: int) -> None:
    for leap in _sides(area, square):
        if memory.ledges.get(_name(kind, leap[1])) == WORKS and leap not in area.leaps:
            area.leaps.add(leap)
            area.changes += 1


def find_gaps(area: Area, parts: dict[Square, Square]) -> list[Gap]:
    """Return the jumps over one square that would lead to another part of the map."""
    gaps = ((kind, leap) for square, kind in area.hurdles for leap in _sides(area, square))
    joined = ((kind, leap) for kind, leap in gaps if leap[0] in parts and leap[2] in parts)
    return sorted((kind, leap) for kind, leap in joined if parts[leap[0]] != parts[leap[2]])


def is_untried(memory: Memory, area: Area, gap: Gap) -> bool:
    """Whether nobody knows what comes of a jump."""
    kind, (start, direction, _) = gap
    return (start, direction) not in area.walls and -MOST_TRIES < memory.ledges.get(_name(kind, direction), 0) <= 0


def learn_from_jump(memory: Memory, area: Area, step: Step, here: Square) -> None:
    """Remember whether such a square can be jumped over that way."""
    over = ahead(step.place, step.direction)
    kind = next((kind for square, kind in area.hurdles if square == over), None)
    if kind is None:
        return
    name = _name(kind, step.direction)
    if here == ahead(over, step.direction):
        memory.ledges[name] = WORKS
        for known in memory.areas.values():
            for square, other in known.hurdles:
                if other == kind:
                    _add_leaps(memory, known, square, kind)
    elif memory.ledges.get(name) != WORKS:
        memory.ledges[name] = memory.ledges.get(name, 0) - 1


def _name(kind: int, direction: Direction) -> str:
    return f"{kind} {direction}"
