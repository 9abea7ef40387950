"""What happened between two states, and how to say it in a few words.

| event | table |
|---|---|
| Encounter, MapChanged, DialogShown | navigation_events |
| BattleStarted, BattleEnded | battles |
| BattleTurn | battle_turns |
| ItemChanged, MoneyChanged | inventory_transactions |
| PartySeen | pokemon_party |
| BadgeEarned, Caught | objectives; a catch that is not in the party, pokemon_party |
| FlagSet | none but that of all events |
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

import msgspec

from ptp.worlds.gameboy.state import BattleKind, Facing, Member, Point

Outcome = Literal["win", "loss", "flee", "draw", "caught"]
TurnAction = Literal["move", "item", "switch", "run"]
TurnResult = Literal["goes on", "enemy fainted", "own fainted", "both fainted", "fled", "caught", "lost"]


class GameEvent(msgspec.Struct, frozen=True, gc=False, tag=True, tag_field="event"):
    """The form of every event."""


class Encounter(GameEvent, frozen=True, gc=False):
    """A wild creature appeared."""

    species: str | None
    species_id: int
    level: int
    location: str | None
    coordinates: Point | None


class MapChanged(GameEvent, frozen=True, gc=False):
    """The player went to another map."""

    from_map: int
    from_location: str | None
    to_map: int
    to_location: str | None
    direction: Facing | None
    coordinates: Point | None


class DialogShown(GameEvent, frozen=True, gc=False):
    """Somebody, or a sign, has said something; told when the text is complete, that is when it goes."""

    text: str
    location: str | None
    coordinates: Point | None


class BattleStarted(GameEvent, frozen=True, gc=False):
    """A fight began; who a trainer sends out is not known yet."""

    kind: BattleKind | None
    trainer: str | None
    enemy_species: str | None
    enemy_level: int | None
    location: str | None
    party_index: int | None = None
    """The slot of the first that can fight, whom the game sends out."""


class BattleTurn(GameEvent, frozen=True, gc=False):
    """Both sides acted; None is what the game's memory does not tell."""

    number: int
    player_action: TurnAction | None
    player_move: str | None
    player_target: str | None
    player_damage: int | None
    enemy_action: Literal["move"] | None
    enemy_move: str | None
    enemy_damage: int | None
    player_hp_after: int | None
    enemy_hp_after: int | None
    result: TurnResult


class BattleEnded(GameEvent, frozen=True, gc=False):
    """A fight is over."""

    kind: BattleKind | None
    outcome: Outcome | None
    turns: int
    enemy_species: str | None
    enemy_level: int | None
    trainer: str | None
    player_pokemon: str | None
    used_items: list[str]
    """Names of the items used, each as often as it was used."""
    money_earned: int | None


class Joined(GameEvent, frozen=True, gc=False):
    """A creature is new in the party."""

    slot: int
    species: str | None
    species_id: int
    nickname: str | None
    level: int
    location: str | None


class PartySeen(GameEvent, frozen=True, gc=False):
    """The party as it is after something happened to it."""

    members: tuple[Member, ...]
    location: str | None


class Caught(GameEvent, frozen=True, gc=False):
    """A wild creature was caught, or one was traded for; one that is given only joins."""

    species: str | None
    species_id: int
    level: int
    location: str | None
    in_party: bool
    source: Literal["wild", "trade"] = "wild"
    given: str | None = None
    """The id of the creature that was given for it."""


class Fainted(GameEvent, frozen=True, gc=False):
    """A creature has no HP left."""

    side: Literal["own", "enemy"]
    species: str | None
    species_id: int
    level: int
    slot: int | None


class LevelUp(GameEvent, frozen=True, gc=False):
    """A creature of the party reached a level."""

    slot: int
    species: str | None
    nickname: str | None
    from_level: int
    to_level: int


class Evolved(GameEvent, frozen=True, gc=False):
    """A creature of the party became another."""

    slot: int
    from_species: str | None
    to_species: str | None


class BadgeEarned(GameEvent, frozen=True, gc=False):
    """A badge is new; None is one the profile does not name."""

    name: str | None
    count: int


class FlagSet(GameEvent, frozen=True, gc=False):
    """The story went on: the game set one of its event flags."""

    flag: int
    name: str | None
    """None for a flag that the profile does not name."""


class ItemChanged(GameEvent, frozen=True, gc=False):
    """There is more or less of something in the bag."""

    action: Literal["add", "remove", "use"]
    item: str | None
    item_id: int
    quantity: int
    """How many, always above 0; the action says which way."""
    source: Literal["shop", "battle", "pickup"] | None
    """Where it came from or went; what is found, or given by somebody, is picked up."""


class MoneyChanged(GameEvent, frozen=True, gc=False):
    """The player has more or less money."""

    change: int
    money: int
    source: Literal["shop", "reward"] | None = None
    """What it was paid for; money won in a battle is a reward."""


def _name(detail: Mapping[str, Any], *fields: str) -> str:
    return next((str(detail[field]) for field in fields if detail.get(field) is not None), "something")


TITLES: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "Encounter": lambda d: f"a wild {_name(d, 'species')} (level {d.get('level')}) appeared",
    "MapChanged": lambda d: f"went to {_name(d, 'to_location', 'to_map')}",
    "DialogShown": lambda d: f"“{' '.join(str(d.get('text', '')).split())}”",
    "BattleStarted": lambda d: f"battle with {_name(d, 'trainer', 'enemy_species', 'kind')} began",
    "BattleTurn": lambda d: f"turn {d.get('number')}: {_name(d, 'player_move', 'player_action')}, {d.get('result')}",
    "BattleEnded": lambda d: f"battle with {_name(d, 'trainer', 'enemy_species', 'kind')}: {_name(d, 'outcome')}",
    "Joined": lambda d: f"{_name(d, 'nickname', 'species')} joined the party",
    "PartySeen": lambda d: f"party of {len(d.get('members') or ())}",
    "Caught": lambda d: (
        f"{'traded for' if d.get('source') == 'trade' else 'caught'} {_name(d, 'species')} (level {d.get('level')})"
    ),
    "Fainted": lambda d: f"{'own' if d.get('side') == 'own' else 'enemy'} {_name(d, 'species')} fainted",
    "LevelUp": lambda d: f"{_name(d, 'nickname', 'species')} reached level {d.get('to_level')}",
    "Evolved": lambda d: f"{_name(d, 'from_species')} became {_name(d, 'to_species')}",
    "BadgeEarned": lambda d: f"earned the {_name(d, 'name')} badge",
    "FlagSet": lambda d: f"set {_name(d, 'name', 'flag')}",
    "ItemChanged": lambda d: f"{d.get('action')} {d.get('quantity')} {_name(d, 'item', 'item_id')}",
    "MoneyChanged": lambda d: f"money {d.get('change', 0):+d}",
}


def title_of(kind: str, detail: Mapping[str, Any]) -> str:
    """Return an event in a few words."""
    return TITLES[kind](detail) if kind in TITLES else kind
