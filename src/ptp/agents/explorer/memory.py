"""What the explorer remembers; all of it is saved with a run."""

from __future__ import annotations

from typing import Literal

import msgspec

from ptp.worlds.gameboy.paths import Direction, Edge
from ptp.worlds.gameboy.state import Battle, Facing, GameState, Menu, Point
from ptp.worlds.gameboy.tiles import Square

Interruption = Literal["text", "wild", "challenge"]
"""Something was said, or a battle came: from the wild, or from somebody."""

NEVER = -1


class Talker(msgspec.Struct):
    """Somebody to talk to, or a sign to read."""

    place: Square
    sign: bool = False
    heard: int = NEVER
    """How far the game had come when it was last heard."""
    useless: int = NEVER
    """How far the game had come when it was asked for help in need and gave none."""
    heals: bool = False
    sells: bool = False
    goods: dict[int, int] = msgspec.field(default_factory=dict)
    """What is for sale, and for how much."""
    undefeated: bool = False
    """Whether it won a battle against us, and none was won since."""
    silences: int = 0
    """How often nothing was said when it was spoken to."""


class Exit(msgspec.Struct):
    """A warp, or the edge towards a neighbouring map."""

    place: Square
    side: Edge | None = None
    """The edge of the map; None for a warp."""
    leads: int | None = None
    taken: bool = False


class Area(msgspec.Struct):
    """One map, as far as it was seen."""

    width: int
    height: int
    open: set[Square] = msgspec.field(default_factory=set)
    closed: set[Square] = msgspec.field(default_factory=set)
    beyond: set[Square] = msgspec.field(default_factory=set)
    """Open squares outside the map: where an edge can be crossed."""
    grass: set[Square] = msgspec.field(default_factory=set)
    walls: set[tuple[Square, Direction]] = msgspec.field(default_factory=set)
    """Steps that failed though the square ahead looked open."""
    frontier: set[Square] = msgspec.field(default_factory=set)
    """Open squares beside squares that were never looked at."""
    viewpoints: set[Square] = msgspec.field(default_factory=set)
    """Squares from which there is nothing new to look at."""
    talkers: dict[str, Talker] = msgspec.field(default_factory=dict)
    exits: dict[str, Exit] = msgspec.field(default_factory=dict)
    exhausted: int = NEVER
    """How far the game had come when nothing new was left here."""
    strongest: int = 0
    """The highest level met in the wild here."""
    dull_fights: int = 0
    """Wild fights in a row against nothing new."""

    def occupied(self) -> set[Square]:
        """Return where people and signs are."""
        return {talker.place for talker in self.talkers.values()}


class Errand(msgspec.Struct):
    """Something to do on foot: a way, and what to do at its end."""

    kind: str
    map_id: int
    target: str
    steps: list[Direction]
    reason: str
    face: Direction | None = None
    """Where to look at the end, to talk."""
    tries: int = 0
    """Presses since the end of the way was reached."""

    @property
    def name(self) -> str:
        """What it is remembered by when it fails."""
        return f"{self.kind} {self.map_id} {self.target}"


class Fight(msgspec.Struct):
    """The battle that goes on."""

    wild: bool
    map_id: int | None
    is_new: bool = False
    """Whether the enemy is of a species not owned."""
    strongest: int = 0
    species_id: int = 0


class Talk(msgspec.Struct):
    """A conversation that was begun."""

    map_id: int
    talker: str
    in_need: bool
    vigour: int
    money: int
    fought: bool = False


class Step(msgspec.Struct):
    """The last press of a direction, and where it was made."""

    map_id: int
    place: Square
    direction: Direction
    turning: bool
    """Whether it was only to look that way."""


class Look(msgspec.Struct):
    """What tells one moment from the next."""

    map_id: int | None
    place: Point | None
    facing: Facing | None
    text: tuple[str, ...] | None
    menu: Menu | None
    battle: Battle | None


class Memory(msgspec.Struct):
    """Everything the explorer knows."""

    areas: dict[int, Area] = msgspec.field(default_factory=dict)
    errand: Errand | None = None
    fight: Fight | None = None
    talk: Talk | None = None
    step: Step | None = None
    leaving: tuple[int, str] | None = None
    """The exit that the last step should have taken."""
    interruption: Interruption | None = None
    """What came up since the last step on the map."""
    failures: dict[str, int] = msgspec.field(default_factory=dict)
    """Errands that came to nothing, and how far the game had come then."""
    level_wanted: int = 0
    last_look: Look | None = None
    still: int = 0
    """Decisions in a row that changed nothing."""

    def talker(self, talk: Talk) -> Talker:
        """Return who is spoken with."""
        return self.areas[talk.map_id].talkers[talk.talker]

    def has_failed(self, name: str, progress: int) -> bool:
        """Whether an errand came to nothing, and nothing has changed in the game since."""
        return self.failures.get(name, NEVER) == progress


def measure_progress(state: GameState) -> int:
    """Return how far the game has come, as far as it says; people and ways may be worth another try when it grows."""
    return (state.events or 0) + (state.badges or 0) + bool(state.party)
