"""What to do in a battle: a pure choice from the two that fight, the bag and the party."""

from __future__ import annotations

from typing import Literal

import msgspec

from ptp.agents.explorer.needs import find_items
from ptp.worlds.gameboy.profiles import GameProfile
from ptp.worlds.gameboy.state import Fighter, GameState, Move

Kind = Literal["move", "item", "run", "switch"]

SAME_TYPE = 1.5
LOW = 0.35
WEAKENED = 0.5


class Choice(msgspec.Struct, frozen=True):
    """One turn: a move by its place, a thing by its place in the bag, or somebody else by place in the party."""

    kind: Kind
    index: int
    why: str
    confidence: float | None = None


def choose(state: GameState, profile: GameProfile, is_new: bool) -> Choice:
    """Return what to do this turn."""
    battle = state.battle
    assert battle is not None
    own, enemy = battle.own, battle.enemy
    if own is None or enemy is None:
        return Choice("move", 0, "nobody to be seen; attack")
    if not own.hp:
        return choose_next(state)
    wild = battle.kind == "wild"
    catch = _catch(state, profile, own, enemy) if wild and is_new else None
    if catch is not None:
        return catch
    in_trouble = own.hp < own.max_hp * LOW and not _wins_now(own, enemy, profile)
    rescue = _rescue(state, profile, own, enemy) if in_trouble else None
    return rescue or attack(own, enemy, profile)


def damage(move: Move, own: Fighter, enemy: Fighter, profile: GameProfile) -> float:
    """Return about how many HP a hit takes, for two of equal build: power, level, own type and the type chart."""
    if not move.power or move.type is None:
        return 0.0
    hit = (2 * own.level / 5 + 2) * move.power / 50 + 2
    if move.type in own.types:
        hit *= SAME_TYPE
    return hit * profile.effectiveness(move.type, enemy.types)


def worth(move: Move, own: Fighter, enemy: Fighter, profile: GameProfile) -> float:
    """Return the HP a move takes on average; nothing without points."""
    if not move.pp:
        return 0.0
    facts = profile.moves.get(move.id)
    return damage(move, own, enemy, profile) * (facts.accuracy / 100 if facts else 1)


def attack(own: Fighter, enemy: Fighter, profile: GameProfile) -> Choice:
    """Return the move that hurts most; one without power only when nothing else is left."""
    values = [worth(move, own, enemy, profile) for move in own.moves]
    best = max(values, default=0.0)
    if best:
        index = values.index(best)
        move = own.moves[index]
        why = f"{move.name} hits {enemy.species} hardest, about {best:.0f} of {enemy.hp} HP"
        return Choice("move", index, why, best / sum(values))
    index = next((index for index, move in enumerate(own.moves) if move.pp), 0)
    return Choice("move", index, "no attack has points left", 0.1)


def _wins_now(own: Fighter, enemy: Fighter, profile: GameProfile) -> bool:
    return any(move.pp and damage(move, own, enemy, profile) >= enemy.hp for move in own.moves)


def _catch(state: GameState, profile: GameProfile, own: Fighter, enemy: Fighter) -> Choice | None:
    """Weaken something new, then throw; None without anything to throw."""
    balls = find_items(state, profile, "catch")
    if not balls:
        return None
    gentle = None if enemy.hp <= enemy.max_hp * WEAKENED else _gentle_move(own, enemy, profile)
    if gentle is not None and own.hp >= own.max_hp * LOW:
        why = f"{enemy.species} is new: weaken it with {own.moves[gentle].name} first"
        return Choice("move", gentle, why, 1 - enemy.hp / enemy.max_hp / 2)
    index, ball = balls[-1]
    why = f"{enemy.species} is new and has {enemy.hp} of {enemy.max_hp} HP: throw {ball.name}"
    return Choice("item", index, why, 1 - enemy.hp / enemy.max_hp / 2)


def _gentle_move(own: Fighter, enemy: Fighter, profile: GameProfile) -> int | None:
    """Return the move that takes most and surely does not end it."""
    hits = [(damage(move, own, enemy, profile), -index) for index, move in enumerate(own.moves) if move.pp]
    gentle = [hit for hit in hits if 0 < hit[0] < enemy.hp * 0.7]
    return -max(gentle)[1] if gentle else None


def _rescue(state: GameState, profile: GameProfile, own: Fighter, enemy: Fighter) -> Choice | None:
    """Return how to get out of trouble: away from the wild, else with a potion that gives more than a hit takes."""
    left = f"{own.species} has {own.hp} of {own.max_hp} HP left"
    if state.battle is not None and state.battle.kind == "wild":
        return Choice("run", 0, f"{left}: run", 0.6)
    hit = max((worth(move, enemy, own, profile) for move in enemy.moves), default=0.0)
    for place, potion in find_items(state, profile, "heal"):
        if min(profile.item_effects[potion.id].amount, own.max_hp - own.hp) > hit:
            return Choice("item", place, f"{left}: use {potion.name}", 0.7)
    return None


def choose_next(state: GameState) -> Choice:
    """Return who shall fight when one has fallen: the strongest that can."""
    fallen = state.battle.active_slot if state.battle is not None else None
    party = enumerate(state.party or ())
    able = [(member.level, member.hp, -slot) for slot, member in party if member.hp and slot != fallen]
    if not able or not state.party:
        return Choice("switch", 0, "nobody is left to fight", 0.0)
    slot = -max(able)[2]
    return Choice("switch", slot, f"{state.party[slot].species} is the strongest that can fight", None)
