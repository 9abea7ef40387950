"""What readers and recorders know of a family of worlds, without making one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Any, ClassVar, Literal

from msgspec import Struct

from ptp.records import Event

ScreenType = Literal["overworld", "battle", "dialog", "menu", "pause", "map_change"]
State = Mapping[str, Any]


class Row(Struct, frozen=True):
    """A statement for one of the tables of a game, which are written rarely."""

    sql: str
    values: tuple[object, ...] = ()


class Trigger(Struct, frozen=True):
    """An event that `--snapshot-on-event` has a word for."""

    kind: str
    about: tuple[str, ...] = ()
    """The facts of the event that the text after the word is compared with: `item:POTION`."""
    called: str = ""
    """The fact, or else the very text, that the name of a snapshot ends with."""
    where: tuple[tuple[str, object], ...] = ()
    """Facts that the event must have."""


class Coordinates(Struct):
    """A square of the map."""

    x: int
    """Squares from the left."""
    y: int
    """Squares from the top."""


class PartyMember(Struct):
    """A creature of the party."""

    name: str | None
    """Its nickname, or its species; null when neither can be read."""
    level: int
    hp: int
    max_hp: int
    """Its HP when it is well."""
    status: str | None
    """What ails it."""


class CurrentState(Struct):
    """What the game is like now; null where the world does not report it."""

    screen_type: ScreenType | None
    """What the screen shows."""
    location: str | None
    """The name of the place."""
    coordinates: Coordinates | None
    """Where the player stands."""
    party: list[PartyMember] | None
    """The creatures that the player has along."""
    inventory: dict[str, int | None]
    """How many of each item; `pokeballs` and `potions` are sums over their kinds."""
    badges: int | None
    """Badges earned."""
    pokemon_caught: int | None
    """Creatures caught in the wild or traded for."""
    pokemon_owned: int | None
    """Species that were ever owned, those that were given too."""


class Knowledge:
    """What is known about any world; a family with more to report has a subclass."""

    state_names: ClassVar[Mapping[str, str]] = {}
    """Short names that scripts have for parts of a state; `signals` stands for the world's `Signals`."""
    turn_kinds: ClassVar[frozenset[str]] = frozenset()
    """The events that begin a turn of a fight."""
    identity: ClassVar[str | None] = None
    """What in a world's origin tells that it is the very same one, whatever it is called; None for its name."""
    figures: ClassVar[Mapping[str, str]] = {}
    """The figures that a state holds, each with its unit."""
    tallies: ClassVar[Mapping[str, str]] = {}
    """Figures that the tables of the game tell, each with the SQL that counts it."""
    chapters: ClassVar[Mapping[str, str]] = {}
    """The story of a run by title: the SQL that gives ticks and what happened then."""
    curves: ClassVar[Mapping[str, tuple[str, str]]] = {}
    """Figures that grow, by title: the unit, and the SQL that gives ticks and values."""
    event_names: ClassVar[Mapping[str, str]] = {}
    """What the action log calls kinds of events, where that is not the kind in capitals."""
    event_fields: ClassVar[Mapping[str, str]] = {}
    """What the action log calls facts of events, where the events call them otherwise."""
    triggers: ClassVar[Mapping[str, Trigger]] = {}
    """What snapshots can be taken at, by the words that people use."""
    spellings: ClassVar[Mapping[str, str]] = {}
    """How letters are written that can't be typed, in names of snapshots."""
    tables_by_tick: ClassVar[tuple[str, ...]] = ()
    """Tables of the game that have a column `tick`."""
    tables_by_id: ClassVar[Mapping[str, str]] = {}
    """The others, each with the id that begins with a number made of its tick."""

    def title(self, kind: str, detail: Mapping[str, Any]) -> str:
        """Return an event in a few words."""
        return kind

    def action(self, command: str) -> str:
        """Return what the action log calls a command."""
        return command.upper()

    def event_name(self, kind: str) -> str:
        """Return what the action log calls a kind of event: MapChanged is MAP_CHANGED."""
        return self.event_names.get(kind) or _in_capitals(kind)

    def describe(self, state: State) -> CurrentState:
        """Return what every world's state is shown as."""
        return CurrentState(None, None, None, None, {"pokeballs": None, "potions": None}, None, None, None)

    def figure(self, name: str, state: State) -> float | None:
        """Return one of the figures; None where the state does not hold it."""
        return None

    def is_engaged(self, state: State) -> bool:
        """Whether the player is in a fight."""
        return False

    def world_of(self, name: str, origin: Mapping[str, str]) -> str | None:
        """Return the name of the world here that a snapshot is of; None when a file of it must be given."""
        return name

    def rows(self, run_id: str, event: Event) -> list[Row]:
        """Return what an event adds to the tables of the game."""
        return []

    def rewound(self, run_id: str, to_tick: int) -> list[Row]:
        """Return what is left to do when everything after a tick was deleted from the tables named above."""
        return []


@cache
def _in_capitals(kind: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", kind).upper()


def old_title(kind: str, detail: Mapping[str, Any]) -> str:
    """Return an event of an older run, which kept no title, in a few words; only one family had events then."""
    return knowledge_of("gameboy").title(kind, detail)


FAMILIES = {"gameboy": "ptp.worlds.gameboy.knowledge:GameBoyKnowledge"}


def knowledge_of(family: str) -> Knowledge:
    """Return what is known of a family of worlds; a family nobody knows is like any world."""
    module, _, name = FAMILIES.get(family, f"{__name__}:Knowledge").partition(":")
    known: Knowledge = getattr(import_module(module), name)()
    return known
