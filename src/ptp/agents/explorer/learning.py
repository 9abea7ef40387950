"""What the explorer learns from what came of steps, exits, talks and battles."""

from __future__ import annotations

from ptp.agents.explorer import needs
from ptp.agents.explorer.leaps import learn_from_jump
from ptp.agents.explorer.memory import Area, Barrier, Exit, Fight, Memory, Step, Talk, Talker, name_square
from ptp.agents.explorer.ways import OUTWARD, ahead
from ptp.worlds.gameboy.parts import SAME_MAP_AS_BEFORE
from ptp.worlds.gameboy.paths import OPPOSITE
from ptp.worlds.gameboy.state import GameState
from ptp.worlds.gameboy.tiles import Square

BADGE_WORTH, THING_WORTH = 10, 3  # events: what they may have changed in the game
BARRED = 1500  # decisions before a square that one was sent back from is tried again, whatever happened
LOST = 1  # how the game notes a battle that was lost


def note_progress(state: GameState, memory: Memory) -> None:
    """Note how far the game has come, and whether anything was gained."""
    memory.things.update(item.id for item in state.inventory or ())
    reached = (state.events or 0) + bool(state.party)
    reached += BADGE_WORTH * (state.badges or 0) + THING_WORTH * len(memory.things)
    if reached > memory.progress or (state.owned or 0) > memory.owned:
        memory.gains += 1
    memory.progress = max(memory.progress, reached)
    memory.owned = max(memory.owned, state.owned or 0)


def arrive(state: GameState, memory: Memory, last_map: int) -> None:
    """Note that one is on another map than before, and which exit led there; *last_map* is where the way back leads."""
    assert state.map_id is not None
    assert state.coordinates is not None
    area = memory.areas.get(state.map_id)
    if area is None:
        area = memory.areas[state.map_id] = _begin_area(state)
        memory.gains += 1
    for exit_ in area.exits.values():
        if exit_.back and exit_.leads != last_map:
            exit_.leads, exit_.shift = last_map, None
            area.changes += 1
    if memory.step is not None:
        _join(memory, memory.step, state.map_id, (state.coordinates.x, state.coordinates.y))
    errand = memory.errand
    if memory.interruption is None:
        if errand is not None and errand.kind != "leave":
            memory.fail(errand.name)
        memory.errand = memory.step = None
    memory.map_id = state.map_id


def _begin_area(state: GameState) -> Area:
    """Return a map that was just entered, with the exits that the game tells of."""
    area = Area(state.width or 0, state.height or 0)
    for warp in state.warps or ():
        back = warp.map_id == SAME_MAP_AS_BEFORE
        leads = None if back else warp.map_id
        area.exits[f"warp {warp.x},{warp.y}"] = Exit((warp.x, warp.y), None, leads, warp.warp, back)
    for connection in state.connections or ():
        area.exits[connection.side] = Exit((0, 0), connection.side, connection.map_id)
    return area


def _join(memory: Memory, step: Step, map_id: int, here: Square) -> None:
    """Note that a step led to another map, unless somebody may have led one there."""
    origin = memory.areas.get(step.map_id)
    found = None if origin is None else _exit_taken(origin, step)
    if origin is None or found is None:
        return
    exit_, square = found
    if memory.interruption is not None and (exit_.side is not None or exit_.leads != map_id):
        return
    memory.step = None
    shift = (here[0] - square[0], here[1] - square[1])
    if (exit_.leads, exit_.shift) != (map_id, shift):
        exit_.leads, exit_.shift = map_id, shift
        origin.changes += 1


def _exit_taken(area: Area, step: Step) -> tuple[Exit, Square] | None:
    """Return the exit that a step went through, and the square it is taken from."""
    target = ahead(step.place, step.direction)
    for square in (target, step.place):
        for exit_ in area.exits.values():
            if exit_.side is None and exit_.place == square:
                return exit_, square
    if not (0 <= target[0] < area.width and 0 <= target[1] < area.height):
        for exit_ in area.exits.values():
            if exit_.side is not None and OUTWARD[exit_.side] == step.direction:
                return exit_, step.place
    return None


def check_step(state: GameState, memory: Memory, area: Area, here: Square) -> bool:
    """Learn from the last step on this map; return whether it ran into something that one should look at."""
    step, memory.step = memory.step, None
    if step is None or step.turning:
        return False
    target = ahead(step.place, step.direction)
    if here == target:
        return False
    if target in area.closed and memory.interruption is None:
        learn_from_jump(memory, area, step, here)
    if here != step.place:  # over a ledge, or along a slide
        if memory.interruption is None and (step.place, step.direction, here) not in area.leaps:
            area.leaps.add((step.place, step.direction, here))
            area.changes += 1
        memory.errand = None
    elif state.facing != step.direction:
        if memory.errand is not None:  # the press only turned the player
            memory.errand.steps.insert(0, step.direction)
    elif step.place not in area.warps() or target in area.open:  # a mat may take a second push
        memory.errand = None
        return True
    return False


def add_wall(memory: Memory, area: Area, step: Step) -> None:
    """Remember a step that failed though nobody stands ahead."""
    target = ahead(step.place, step.direction)
    if target not in area.standing(memory.progress, step.place):
        area.walls |= {(step.place, step.direction), (target, OPPOSITE[step.direction])}
        area.changes += 1


def take_up_again(state: GameState, memory: Memory, area: Area, here: Square) -> None:
    """After text or a battle: learn from it, and plan anew."""
    if memory.talk is not None:
        _learn_from_talk(memory.talk, state, memory)
    elif memory.interruption == "text":
        _learn_from_text(state, memory, here)
    if memory.interruption != "wild":  # people may have come, gone or moved
        area.viewpoints.discard(here)
    memory.errand = memory.step = memory.talk = memory.interruption = None


def _learn_from_text(state: GameState, memory: Memory, here: Square) -> None:
    """Somebody spoke up on the way: if one does not stand where one was going, that square is barred for now."""
    step, errand = memory.step, memory.errand
    if step is None or step.map_id not in memory.areas:
        return
    target = ahead(step.place, step.direction)
    if step.turning or (state.map_id == step.map_id and here == target):
        return
    area = memory.areas[step.map_id]
    times = area.barriers[name_square(target)].times + 1 if name_square(target) in area.barriers else 1
    area.barriers[name_square(target)] = Barrier(memory.progress, memory.moment + BARRED * times, times)
    area.changes += 1
    if errand is not None and not errand.steps:
        memory.fail(errand.name)


def _learn_from_talk(talk: Talk, state: GameState, memory: Memory) -> None:
    talker = memory.talker(talk)
    talker.repeats = 0 if memory.gains > talk.gains else talker.repeats + 1
    talker.heard = memory.progress
    talker.silences = 0
    talker.lost = talk.level if state.battle_result == LOST else 0
    if talk.level:
        talker.strength = max(talker.strength, talk.strength)
    elif needs.vigour(state) > talk.vigour:
        talker.heals = True
    elif talk.in_need or (talker.sells and state.money == talk.money):
        talker.heals, talker.useless = False, memory.progress


def remember_fight(fight: Fight, state: GameState, memory: Memory) -> None:
    """Learn how strong others are."""
    if memory.talk is not None:
        memory.talk.level = max(1, fight.level)
        memory.talk.strength = max(memory.talk.strength, fight.strongest)
    elif state.battle_result == LOST:
        memory.level_wanted = max(memory.level_wanted, fight.level + 1, fight.strongest)
    area = memory.areas.get(fight.map_id) if fight.map_id is not None else None
    if area is not None and fight.wild:
        area.quiet = 0
        area.strongest = max(area.strongest, fight.strongest)
        area.dull_fights = 0 if fight.is_new else area.dull_fights + 1


def level_for_rematch(talker: Talker) -> int:
    """Return the level that a battle which was lost is fought again with: the other's, but two more than last time."""
    return max(talker.lost + 2, min(talker.strength, talker.lost + 4))
