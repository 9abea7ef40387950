"""What the explorer learns: from the screen, and from what came of exits, talks and battles."""

from __future__ import annotations

from collections.abc import Iterator

from ptp.agents.explorer import needs
from ptp.agents.explorer.memory import Area, Exit, Fight, Memory, Talk, Talker, measure_progress
from ptp.agents.explorer.ways import MOVES
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
                known, other = (area.open, area.closed) if is_open else (area.closed, area.open)
                if square not in known:
                    known.add(square)
                    other.discard(square)
                    fresh.append(square)
            elif is_open:
                area.beyond.add(square)
    _move_frontier(area, fresh)
    area.grass.update(square for square in map(around.to_map, around.grass) if square in area.open)


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
    return any(beside not in area.open and beside not in area.closed for beside in _squares_beside(area, square))


def _squares_beside(area: Area, square: Square) -> Iterator[Square]:
    """Yield the squares beside one that are on the map."""
    for _, across, down in MOVES:
        x, y = square[0] + across, square[1] + down
        if 0 <= x < area.width and 0 <= y < area.height:
            yield x, y


def _is_on_screen(around: Surroundings, place: Square) -> bool:
    column, row = around.to_screen(place)
    # sprites at the border of the screen may not be drawn yet
    return 0 < column < COLUMNS - 1 and 0 < row < ROWS - 1 and (column, row) != PLAYER


def arrive(state: GameState, memory: Memory) -> Area:
    """Return the map one is on, and note which exit led to it."""
    assert state.map_id is not None
    area = memory.areas.get(state.map_id)
    if area is None:
        area = memory.areas[state.map_id] = _begin_area(state)
    if memory.leaving is not None and memory.leaving[0] != state.map_id:
        if memory.interruption is None:
            _join(memory, area, memory.leaving, state.map_id)
        memory.leaving = None
    if memory.errand is not None and memory.errand.map_id != state.map_id:
        memory.errand = None
    return area


def _begin_area(state: GameState) -> Area:
    """Return a map that was just entered, with the exits that the game tells of."""
    area = Area(state.width or 0, state.height or 0)
    for warp in state.warps or ():
        leads = None if warp.map_id == SAME_MAP_AS_BEFORE else warp.map_id
        area.exits[f"warp {warp.x},{warp.y}"] = Exit((warp.x, warp.y), None, leads)
    for connection in state.connections or ():
        area.exits[connection.side] = Exit((0, 0), connection.side, connection.map_id)
    return area


def _join(memory: Memory, area: Area, leaving: tuple[int, str], map_id: int) -> None:
    origin, name = leaving
    way = memory.areas[origin].exits[name]
    way.taken, way.leads = True, map_id
    for back in area.exits.values():
        if back.leads is None:  # such a warp leads to where one came from
            back.leads = origin


def take_up_again(state: GameState, memory: Memory, area: Area, here: Square) -> None:
    """After text or a battle: learn from it, and plan anew."""
    progress = measure_progress(state)
    if memory.talk is not None:
        _learn_from_talk(memory.talk, state, memory, progress)
    elif memory.errand is not None and memory.interruption == "text":
        memory.failures[memory.errand.name] = progress
    if memory.interruption != "wild":  # people may have come, gone or moved
        area.viewpoints.discard(here)
    memory.errand = memory.step = memory.talk = memory.leaving = memory.interruption = None


def _learn_from_talk(talk: Talk, state: GameState, memory: Memory, progress: int) -> None:
    talker = memory.talker(talk)
    talker.heard = progress
    talker.silences = 0
    if talk.fought:
        talker.undefeated = state.battle_result == 1
    elif needs.vigour(state) > talk.vigour:
        talker.heals = True
    elif talk.in_need or (talker.sells and state.money == talk.money):
        talker.heals, talker.useless = False, progress


def remember_fight(fight: Fight, state: GameState, memory: Memory) -> None:
    """Learn how strong others are."""
    lead = needs.lead_of(state)
    if state.battle_result == 1 and lead is not None:
        memory.level_wanted = max(memory.level_wanted, lead.level + 1, fight.strongest)
    area = memory.areas.get(fight.map_id) if fight.map_id is not None else None
    if area is not None and fight.wild:
        area.strongest = max(area.strongest, fight.strongest)
        area.dull_fights = 0 if fight.is_new else area.dull_fights + 1
