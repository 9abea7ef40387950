"""Looking around: what is on the screen is put into the memory of the map."""

from __future__ import annotations

from ptp.agents.explorer.memory import Area, Exit, Talker
from ptp.agents.explorer.ways import borders_the_unseen, squares_beside
from ptp.worlds.gameboy import addresses as at
from ptp.worlds.gameboy.memory import SPRITE_TABLES
from ptp.worlds.gameboy.parts import SAME_MAP_AS_BEFORE
from ptp.worlds.gameboy.state import GameState
from ptp.worlds.gameboy.tiles import COLUMNS, PLAYER, ROWS, Square, Surroundings, read_sprites
from ptp.worlds.gameboy.world import GameBoyView

NEAR = [(across, down) for across in range(-2, 3) for down in range(-2, 3) if abs(across) + abs(down) <= 2]
"""From squares so near, hardly more is seen: what borders on them was on the screen as well."""


class Sight:
    """Looks at the map for the explorer."""

    def __init__(self, world: GameBoyView) -> None:
        self._world = world
        self._image = bytearray(at.SPACE)

    def look(self, area: Area, here: Square) -> None:
        """Put everything that the screen shows into memory."""
        around = self._world.surroundings()
        if around is None or around.walkable is None:
            return
        area.viewpoints.update((here[0] + across, here[1] + down) for across, down in NEAR)
        _see_squares(area, around)
        for square in around.signs:
            place = around.to_map(square)
            area.talkers.setdefault(f"sign {place[0]},{place[1]}", Talker(place, sign=True))
        self._see_people(area, around)

    def _see_people(self, area: Area, around: Surroundings) -> None:
        tables = SPRITE_TABLES
        self._image[tables] = self._world.read_memory(tables.start, tables.stop)
        shown = {f"person {sprite.slot}": (sprite.x, sprite.y) for sprite in read_sprites(self._image)}
        for name, place in shown.items():
            area.talkers.setdefault(name, Talker(place)).place = place
        for name in [name for name, talker in area.talkers.items() if not talker.sign and name not in shown]:
            if _is_on_screen(around, area.talkers[name].place):
                del area.talkers[name]


def _see_squares(area: Area, around: Surroundings) -> None:
    fresh = []
    left, top = around.to_map((0, 0))
    for row, line in enumerate(around.walkable or (), top):
        inside = 0 <= row < area.height
        for column, is_open in enumerate(line, left):
            square = (column, row)
            if inside and 0 <= column < area.width:
                if square not in (area.open if is_open else area.closed):
                    _note_square(area, square, is_open)
                    fresh.append(square)
            elif is_open:
                area.beyond.add(square)
    _move_frontier(area, fresh)
    area.grass.update(square for square in map(around.to_map, around.grass) if square in area.open)


def _note_square(area: Area, square: Square, is_open: bool) -> None:
    known, other = (area.open, area.closed) if is_open else (area.closed, area.open)
    known.add(square)
    other.discard(square)


def _move_frontier(area: Area, fresh: list[Square]) -> None:
    """Keep the open squares that border on the unseen, after some more were seen."""
    touched = set(fresh)
    for square in fresh:
        touched.update(squares_beside(area, square))
    for square in touched:
        if square in area.open and borders_the_unseen(area, square):
            area.frontier.add(square)
        else:
            area.frontier.discard(square)


def _is_on_screen(around: Surroundings, place: Square) -> bool:
    column, row = around.to_screen(place)
    # sprites at the border of the screen may not be drawn yet
    return 0 < column < COLUMNS - 1 and 0 < row < ROWS - 1 and (column, row) != PLAYER


def begin_area(state: GameState) -> Area:
    """Return a map that was just entered, with the exits that the game tells of."""
    area = Area(state.width or 0, state.height or 0)
    for warp in state.warps or ():
        leads = None if warp.map_id == SAME_MAP_AS_BEFORE else warp.map_id
        area.exits[f"warp {warp.x},{warp.y}"] = Exit((warp.x, warp.y), None, leads)
    for connection in state.connections or ():
        area.exits[connection.side] = Exit((0, 0), connection.side, connection.map_id)
    return area
