"""What the explorer sees: squares, people, signs and grass around it become memory."""

from __future__ import annotations

from collections.abc import Iterator

from ptp.agents.explorer.leaps import note_hurdles
from ptp.agents.explorer.memory import Area, Memory, Talker
from ptp.agents.explorer.ways import MOVES
from ptp.worlds.gameboy import addresses as at
from ptp.worlds.gameboy.memory import SPRITE_TABLES
from ptp.worlds.gameboy.tiles import COLUMNS, PLAYER, ROWS, Square, Surroundings, read_sprites
from ptp.worlds.gameboy.world import GameBoyView

NEAR = [(across, down) for across in range(-2, 3) for down in range(-2, 3) if abs(across) + abs(down) <= 2]
"""From squares so near, hardly more is seen: what borders on them was on the screen as well."""
GRASS_RATE = 0xD887


class Sight:
    """Looks at the map for the explorer."""

    def __init__(self, world: GameBoyView) -> None:
        self._world = world
        self._image = bytearray(at.SPACE)

    def look(self, memory: Memory, area: Area, here: Square) -> None:
        """Put everything that the screen shows into memory."""
        around = self._world.surroundings()
        if around is None or around.walkable is None:
            return
        area.viewpoints.update((here[0] + across, here[1] + down) for across, down in NEAR)
        fresh = _see_squares(area, around)
        if fresh:
            area.changes += 1
            memory.gains += 1
            note_hurdles(memory, area, around, fresh, self._world.read_memory(at.TILESET, at.TILESET + 1)[0])
        if around.grass:
            area.wild = self._world.read_memory(GRASS_RATE, GRASS_RATE + 1) != b"\0"
        for square in around.signs:
            place = around.to_map(square)
            if f"sign {place[0]},{place[1]}" not in area.talkers:
                area.talkers[f"sign {place[0]},{place[1]}"] = Talker(place, sign=True)
                area.changes += 1
        self._see_people(area, around, memory.progress)

    def last_map(self) -> int:
        """Return the map that doors lead back to."""
        return self._world.read_memory(at.LAST_MAP, at.LAST_MAP + 1)[0]

    def _see_people(self, area: Area, around: Surroundings, progress: int) -> None:
        tables = SPRITE_TABLES
        self._image[tables] = self._world.read_memory(tables.start, tables.stop)
        shown = {f"person {sprite.slot}": (sprite.x, sprite.y) for sprite in read_sprites(self._image)}
        for name, place in shown.items():
            talker = area.talkers.setdefault(name, Talker(place))
            if not talker.roams and (talker.seen != progress or talker.place != place):
                area.changes += 1
            if talker.place != place:
                talker.place, talker.roams = place, True
            talker.seen = progress
        for name in [name for name, talker in area.talkers.items() if not talker.sign and name not in shown]:
            if _is_on_screen(around, area.talkers[name].place):
                del area.talkers[name]
                area.changes += 1


def _see_squares(area: Area, around: Surroundings) -> list[Square]:
    """Note which squares are open; return those that were not known to be as they are."""
    fresh = []
    left, top = around.to_map((0, 0))
    for row, line in enumerate(around.walkable or (), top):
        inside = 0 <= row < area.height
        for column, is_open in enumerate(line, left):
            square = (column, row)
            if inside and 0 <= column < area.width:
                known, other = (area.open, area.closed) if is_open else (area.closed, area.open)
                if square not in known:
                    known.add(square)
                    other.discard(square)
                    fresh.append(square)
            elif square not in area.beyond and square not in area.closed and area.borders_on(square):
                (area.beyond if is_open else area.closed).add(square)
                fresh.append(square)
    _move_frontier(area, fresh)
    area.grass.update(square for square in map(around.to_map, around.grass) if square in area.open)
    return fresh


def _move_frontier(area: Area, fresh: list[Square]) -> None:
    """Keep the open squares that border on the unseen, after some more were seen."""
    touched = set(fresh)
    for square in fresh:
        touched.update(_squares_beside(area, square))
    for square in touched:
        if square in area.open and _borders_the_unseen(area, square):
            area.frontier.add(square)
        else:
            area.frontier.discard(square)


def _borders_the_unseen(area: Area, square: Square) -> bool:
    """Whether a square beside it was never looked at."""
    beside = _squares_beside(area, square)
    return any(place not in area.open and place not in area.closed and place not in area.beyond for place in beside)


def _squares_beside(area: Area, square: Square) -> Iterator[Square]:
    """Yield the squares beside one that are on the map, or just beyond an edge that can be crossed."""
    for _, across, down in MOVES:
        x, y = square[0] + across, square[1] + down
        if (0 <= x < area.width and 0 <= y < area.height) or area.borders_on((x, y)):
            yield x, y


def _is_on_screen(around: Surroundings, place: Square) -> bool:
    column, row = around.to_screen(place)
    # sprites at the border of the screen may not be drawn yet
    return 0 < column < COLUMNS - 1 and 0 < row < ROWS - 1 and (column, row) != PLAYER
