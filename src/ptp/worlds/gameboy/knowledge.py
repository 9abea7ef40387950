"""What readers and recorders know of Game Boy games."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar, TypeVar, get_args

import msgspec

from ptp.worlds.gameboy import tables
from ptp.worlds.gameboy.cartridge import read_cartridge
from ptp.worlds.gameboy.events import title_of
from ptp.worlds.gameboy.profiles import BUILT_IN
from ptp.worlds.knowledge import Coordinates, CurrentState, Knowledge, PartyMember, ScreenType, State, Trigger

BALLS = frozenset({1, 2, 3, 4, 8})  # ids of the items that catch: master, ultra, great, poke, safari
MOVES = frozenset({"up", "down", "left", "right"})
POTIONS = frozenset({16, 17, 18, 19, 20})  # ids of the items that heal HP: full restore, max, hyper, super, potion
TRIGGERS = {
    "catch": Trigger("Caught", ("species",), "species"),
    "battle": Trigger("BattleStarted", ("trainer", "enemy_species", "kind"), "1"),  # a battle begins with turn 1
    "badge": Trigger("BadgeEarned", ("name",), "count"),
    "death": Trigger("Fainted", ("species",), "species", (("side", "own"),)),
    "location": Trigger("MapChanged", ("to_location",), "to_location"),
    "item": Trigger("ItemChanged", ("item",), "item", (("action", "add"),)),
    "flag": Trigger("FlagSet", ("name",), "name"),
}

Known = TypeVar("Known")


class _Member(msgspec.Struct):
    level: int
    hp: int
    max_hp: int
    nickname: str | None = None
    species: str | None = None
    status: str | None = None


class _Item(msgspec.Struct):
    id: int
    quantity: int
    name: str | None = None


def _known(state: State, part: str, kind: type[Known]) -> Known | None:
    """Return a part of a state in the form it has today; None for another form that an older run may have kept."""
    try:
        return msgspec.convert(state.get(part), kind)
    except msgspec.ValidationError:
        return None


def _party(state: State) -> list[_Member] | None:
    return _known(state, "party", list[_Member])


def _size(state: State) -> int | None:
    party = _party(state)
    return None if party is None else len(party)


def _health(state: State) -> float | None:
    party = _party(state) or ()
    most = sum(member.max_hp for member in party)
    return round(100 * sum(member.hp for member in party) / most, 2) if most else None


def _inventory(items: list[_Item] | None) -> dict[str, int | None]:
    if items is None:
        return {"pokeballs": None, "potions": None}
    counts: dict[str, int | None] = {
        "pokeballs": sum(item.quantity for item in items if item.id in BALLS),
        "potions": sum(item.quantity for item in items if item.id in POTIONS),
    }
    for item in items:
        name = item.name or f"item {item.id}"
        counts[name] = (counts.get(name) or 0) + item.quantity
    return counts


FIGURES: dict[str, tuple[str, Callable[[State], float | None]]] = {
    "pokemon_caught": ("creatures", lambda state: _known(state, "caught", int)),
    "pokemon_owned": ("species", lambda state: _known(state, "owned", int)),
    "badges_earned": ("badges", lambda state: _known(state, "badges", int)),
    "current_level": ("level", lambda state: max((it.level for it in _party(state) or ()), default=None)),
    "pokemon_party_size": ("creatures", _size),
    "money": ("money", lambda state: _known(state, "money", int)),
    "party_health": ("% of HP", _health),
}


def _events(*kinds: str, where: str = "true", title: str = "title") -> str:
    """Return the SQL that gives ticks and titles of events; older runs kept no titles."""
    named = ", ".join(f"'{kind}'" for kind in kinds)
    return f"SELECT tick, {title} FROM events WHERE kind IN ({named}) AND {where} ORDER BY tick, event_id"


STORY = {
    "Badges": _events("BadgeEarned"),
    "Party": _events(
        "Caught", "Joined", "Evolved",
        where="NOT (kind = 'Joined' AND tick IN (SELECT tick FROM events WHERE kind = 'Caught'))",
    ),
    "Trainers and defeats": _events(
        "BattleEnded",
        where="(detail ->> 'trainer' IS NOT NULL OR detail ->> 'outcome' = 'loss')",
        title="iif(detail ->> 'outcome' = 'win', 'beat ', iif(detail ->> 'outcome' = 'loss', 'lost to ', 'left ')) || "
        "coalesce(detail ->> 'trainer', 'a wild ' || (detail ->> 'enemy_species'), 'somebody') || "
        "printf(' in %d turns', detail ->> 'turns')",
    ),
    "Levels": _events("LevelUp"),
    "Places": "SELECT min(tick), detail ->> 'to_location' FROM events WHERE kind = 'MapChanged' GROUP BY 2 ORDER BY 1",
}  # fmt: skip
_LEVEL = "coalesce(detail ->> 'to_level', detail ->> 'level')"
CURVES = {
    "Highest level": (
        "level",
        f"SELECT tick, max(CAST({_LEVEL} AS INTEGER)) OVER (ORDER BY tick, event_id) FROM events "
        "WHERE kind IN ('Joined', 'LevelUp') ORDER BY tick",
    ),
    **{
        title: (
            unit,
            "SELECT tick, row_number() OVER (ORDER BY tick, event_id) FROM events "
            f"WHERE kind = '{kind}' AND {where} ORDER BY tick",
        )
        for title, unit, kind, where in (
            ("Caught", "creatures", "Caught", "true"),
            ("Battles won", "battles", "BattleEnded", "detail ->> 'outcome' IN ('win', 'caught')"),
        )
    },
}


class GameBoyKnowledge(Knowledge):
    """Titles, states and tables of the games whose memory ptp can read."""

    state_names: ClassVar[Mapping[str, str]] = {
        "map": "map_id",
        "x": "coordinates.x",
        "y": "coordinates.y",
        "screen": "screen_type",
        "in_battle": "signals.engaged",
    }
    turn_kinds: ClassVar[frozenset[str]] = frozenset({"BattleStarted", "BattleTurn"})
    identity: ClassVar[str | None] = "rom_sha1"  # a cartridge's file may be renamed
    figures: ClassVar[Mapping[str, str]] = {name: unit for name, (unit, _) in FIGURES.items()}
    tallies: ClassVar[Mapping[str, str]] = {
        f"battles_{name}": f"SELECT count(*) FROM battles WHERE outcome = '{outcome}'"
        for name, outcome in (("won", "win"), ("lost", "loss"), ("fled", "flee"))
    }
    tables_by_tick: ClassVar[tuple[str, ...]] = tables.BY_TICK
    tables_by_id: ClassVar[Mapping[str, str]] = tables.BY_ID
    chapters: ClassVar[Mapping[str, str]] = STORY
    curves: ClassVar[Mapping[str, tuple[str, str]]] = CURVES
    event_names: ClassVar[Mapping[str, str]] = {"BattleStarted": "BATTLE_START", "BattleEnded": "BATTLE_END"}
    event_fields: ClassVar[Mapping[str, str]] = {"species": "pokemon", "enemy_species": "enemy"}
    triggers: ClassVar[Mapping[str, Trigger]] = TRIGGERS
    spellings: ClassVar[Mapping[str, str]] = {"♂": "-M", "♀": "-F", "'": "", "é": "e", "É": "E"}
    title = staticmethod(title_of)
    rows = staticmethod(tables.rows)
    rewound = staticmethod(tables.rewound)

    def describe(self, state: State) -> CurrentState:
        """Return what the game is like."""
        party = _party(state)
        shown = [PartyMember(it.nickname or it.species, it.level, it.hp, it.max_hp, it.status) for it in party or ()]
        return CurrentState(
            screen_type=next((name for name in get_args(ScreenType) if name == state.get("screen_type")), None),
            location=_known(state, "location", str),
            coordinates=_known(state, "coordinates", Coordinates),
            party=None if party is None else shown,
            inventory=_inventory(_known(state, "inventory", list[_Item])),
            badges=_known(state, "badges", int),
            pokemon_caught=_known(state, "caught", int),
            pokemon_owned=_known(state, "owned", int),
        )

    def figure(self, name: str, state: State) -> float | None:
        """Return one of the figures; None where the state does not hold it."""
        return FIGURES[name][1](state)

    def action(self, command: str) -> str:
        """Return the button, and one of the cross as a move, however long it is held."""
        button = command.partition("/")[0].partition(":")[0]
        return f"MOVE_{button.upper()}" if button in MOVES else button.upper()

    def is_engaged(self, state: State) -> bool:
        """Whether a battle is fought."""
        return bool(state.get("battle"))

    def world_of(self, name: str, origin: Mapping[str, str]) -> str | None:
        """Return the built-in cartridge that has the hash."""
        hashes = {read_cartridge(path).sha1: built_in for built_in, path in BUILT_IN.items()}
        return hashes.get(origin.get("rom_sha1", ""))
