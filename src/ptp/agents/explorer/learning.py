"""What the explorer learns from exits, talks and battles."""

from __future__ import annotations

from ptp.agents.explorer import needs
from ptp.agents.explorer.memory import Area, Fight, Memory, Talk, measure_progress
from ptp.agents.explorer.sight import begin_area
from ptp.worlds.gameboy.state import GameState
from ptp.worlds.gameboy.tiles import Square


def arrive(state: GameState, memory: Memory) -> Area:
    """Return the map one is on, and note which exit led to it."""
    assert state.map_id is not None
    area = memory.areas.get(state.map_id)
    if area is None:
        area = memory.areas[state.map_id] = begin_area(state)
    if memory.leaving is not None and memory.leaving[0] != state.map_id:
        if memory.interruption is None:
            _join(memory, area, memory.leaving, state.map_id)
        memory.leaving = None
    if memory.errand is not None and memory.errand.map_id != state.map_id:
        memory.errand = None
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
