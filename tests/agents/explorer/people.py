"""States for the explorer's tests, made from a few facts."""

from __future__ import annotations

import msgspec

from ptp.worlds.gameboy.profiles import load_profile
from ptp.worlds.gameboy.state import Battle, BattleKind, Fighter, GameState, Item, Member, Menu, Move, Point

PROFILE = load_profile("tallgrass")
SPECIES = {facts.name: number for number, facts in PROFILE.species.items()}
MOVES = {facts.name: number for number, facts in PROFILE.moves.items()}
ITEMS = {name: number for number, name in PROFILE.items.items()}


def move(name: str, pp: int = 10) -> Move:
    facts = PROFILE.moves[MOVES[name]]
    return Move(MOVES[name], name, facts.type, facts.power, pp)


def fighter(
    species: str, *moves: Move, level: int = 5, hp: int = 20, max_hp: int = 20, kind: str = "NORMAL"
) -> Fighter:
    return Fighter(SPECIES[species], species, level, hp, max_hp, None, 0, (kind,), moves)


def member(species: str = "MOSSKIT", hp: int = 20, level: int = 5, moves: tuple[Move, ...] = ()) -> Member:
    return Member(
        species_id=SPECIES[species], species=species, dex=SPECIES[species], nickname=species, level=level, hp=hp,
        max_hp=20, status=None, sleep_turns=0, types=("NORMAL",), moves=moves or (move("BUMP", 30),), experience=0,
        attack=10, defence=10, speed=10, special=10, trainer_id=1, dvs=0,
    )  # fmt: skip


def bag(**things: int) -> tuple[Item, ...]:
    names = {name: name.replace("_", " ") for name in things}
    return tuple(Item(ITEMS[names[name]], names[name], count) for name, count in things.items())


def battle(own: Fighter, enemy: Fighter, kind: BattleKind = "wild", items: tuple[Item, ...] = ()) -> GameState:
    fight = Battle(kind, "normal", False, None, None, None, enemy, own, 0, True)
    return GameState("tallgrass", "battle", map_id=1, party=(member(),), inventory=items, battle=fight)


def menu(*text: str, box: int = 0, item: int = 0, last: int = 3, x: int = 1, y: int = 2, scroll: int = 0) -> GameState:
    return GameState("tallgrass", "menu", map_id=1, text=text, menu=Menu(box, item, last, x, y, scroll), waiting=False)


def standing(state: GameState, map_id: int, x: int, y: int) -> GameState:
    return msgspec.structs.replace(state, map_id=map_id, coordinates=Point(x, y), screen_type="overworld")
