"""What the explorer remembers; all of it is saved with a run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import msgspec

from ptp.worlds.gameboy.paths import Direction, Edge
from ptp.worlds.gameboy.state import Battle, Facing, Menu, Point
from ptp.worlds.gameboy.tiles import Square

Interruption = Literal["text", "wild", "challenge"]
"""Something was said, or a battle came: from the wild, or from somebody."""

NEVER = -1
FREE_TRIES = 3  # so often any event makes a barrier worth another try; then it takes one event more each time
NEAR = 5  # squares: who roams and was seen so near may still stand in the way


class Talker(msgspec.Struct):
    """Somebody to talk to, or a sign to read."""

    place: Square
    sign: bool = False
    roams: bool = False
    """Whether it was seen at more than one place."""
    seen: int = NEVER
    """How far the game had come when it was last seen."""
    heard: int = NEVER
    """How far the game had come when it was last heard."""
    repeats: int = 0
    """How often in a row it had nothing new to say."""
    useless: int = NEVER
    """How far the game had come when it was asked for help in need and gave none."""
    heals: bool = False
    sells: bool = False
    goods: dict[int, int] = msgspec.field(default_factory=dict)
    """What is for sale, and for how much."""
    lost: int = 0
    """The level with which a battle against it was lost; 0 when none was, or when it was beaten since."""
    strength: int = 0
    """The highest level it was seen to fight with."""
    offer: float = 0.0
    """How good the first creature is that it offers; 0 when it offers none."""
    silences: int = 0
    """How often nothing was said when it was spoken to."""


class Exit(msgspec.Struct):
    """A warp, or the edge towards a neighbouring map."""

    place: Square
    side: Edge | None = None
    """The edge of the map; None for a warp."""
    leads: int | None = None
    warp: int | None = None
    """Which warp of the other map it leads to, counted from 0."""
    back: bool = False
    """Whether it leads to the last map under the sky, whichever that was."""
    shift: Square | None = None
    """How far from the last square here the first square there is, in coordinates; known once it was taken."""

    @property
    def taken(self) -> bool:
        """Whether it was ever taken."""
        return self.shift is not None


class Barrier(msgspec.Struct):
    """A square from which somebody sends one back."""

    progress: int
    """How far the game had come then."""
    until: int
    """The moment from which it is worth another try in any case."""
    times: int = 1


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
    leaps: set[tuple[Square, Direction, Square]] = msgspec.field(default_factory=set)
    """Steps that end further away, and where: over a ledge, or along a slide."""
    hurdles: set[tuple[Square, int]] = msgspec.field(default_factory=set)
    """Closed squares between two open ones, and what they look like."""
    barriers: dict[str, Barrier] = msgspec.field(default_factory=dict)
    frontier: set[Square] = msgspec.field(default_factory=set)
    """Open squares beside squares that were never looked at."""
    viewpoints: set[Square] = msgspec.field(default_factory=set)
    """Squares from which there is nothing new to look at."""
    talkers: dict[str, Talker] = msgspec.field(default_factory=dict)
    exits: dict[str, Exit] = msgspec.field(default_factory=dict)
    changes: int = 0
    """Grows whenever a way may have opened or closed."""
    strongest: int = 0
    """The highest level met in the wild here."""
    dull_fights: int = 0
    """Wild fights in a row against nothing new."""
    wild: bool = True
    """Whether the game says that wild creatures live in the grass."""
    quiet: int = 0
    """Steps in the grass since the last wild battle here."""

    def warps(self) -> set[Square]:
        """Return the squares that take one elsewhere."""
        return {exit_.place for exit_ in self.exits.values() if exit_.side is None}

    def borders_on(self, square: Square) -> bool:
        """Whether a square is the first beyond an edge that leads to another map."""
        x, y = square
        if 0 <= x < self.width:
            side = "north" if y == -1 else "south" if y == self.height else None
        elif 0 <= y < self.height:
            side = "west" if x == -1 else "east" if x == self.width else None
        else:
            return False
        return side in self.exits

    def standing(self, progress: int, here: Square | None = None) -> Iterator[Square]:
        """Yield where somebody stands in the way; from afar, or later in the game, only guesses are left."""
        for talker in self.talkers.values():
            stays = not talker.roams or (here is not None and _near(here, talker.place))
            if talker.sign or (talker.seen == progress and stays):
                yield talker.place

    def barred(self, progress: int, moment: int) -> Iterator[Square]:
        """Yield the squares from which one is sent back, as far as that still holds."""
        for name, barrier in self.barriers.items():
            events = max(1, barrier.times - FREE_TRIES)
            if progress < barrier.progress + events and moment < barrier.until:
                yield square_named(name)


def _near(one: Square, other: Square) -> bool:
    return abs(one[0] - other[0]) + abs(one[1] - other[1]) <= NEAR


SQUARES = ("open", "closed", "viewpoints", "grass")
REST = [name for name in Area.__struct_fields__ if name not in SQUARES]
_encode = msgspec.json.encode


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
    purpose: str = ""
    """The wish it serves and the place where it ends: what is given up when it leads to nothing."""

    @property
    def name(self) -> str:
        """What it is remembered by when it fails."""
        return f"{self.kind} {self.map_id} {self.target}"


class Pursuit(msgspec.Struct):
    """What an errand, with all the ways it needs, has cost since it last brought something new."""

    spent: int = 0
    gains: int = 0
    times: int = 0
    """How often it was given up."""
    begun: list[str] = msgspec.field(default_factory=list)
    """Where it was set out for: to set out from one place again and again leads nowhere."""


class Fight(msgspec.Struct):
    """The battle that goes on."""

    wild: bool
    map_id: int | None
    level: int
    """The level of one's own lead."""
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
    gains: int = 0
    """What had been gained when it began."""
    level: int = 0
    """The level of one's own lead in the battle that it led to; 0 when it led to none."""
    strength: int = 0
    """The highest level that was fought."""
    words: list[str] = msgspec.field(default_factory=list)
    """What was said, as long as there is no creature to fight with."""


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
    map_id: int | None = None
    """The map that was last walked on."""
    interruption: Interruption | None = None
    """What came up since the last step on the map."""
    failures: dict[str, int] = msgspec.field(default_factory=dict)
    """Errands that came to nothing, and how far the game had come then."""
    pursuits: dict[str, Pursuit] = msgspec.field(default_factory=dict)
    paused: dict[str, int] = msgspec.field(default_factory=dict)
    """What was given up, and the moment from which it is worth another try."""
    progress: int = 0
    """How far the game has come, as far as it says; people and ways may be worth another try when it grows."""
    gains: int = 0
    """How often anything new was seen, heard, owned or done."""
    things: set[int] = msgspec.field(default_factory=set)
    """Every kind of thing that was ever in the bag."""
    texts: set[int] = msgspec.field(default_factory=set)
    """Checksums of everything that was ever read to its end."""
    ledges: dict[str, int] = msgspec.field(default_factory=dict)
    """Looks and direction of squares that were jumped at: 1 when that works, else how often it did not, below 0."""
    owned: int = 0
    rounds: int = 0
    """How often everything that failed was made worth another try."""
    level_wanted: int = 0
    moment: int = 0
    """Decisions made so far."""
    last_look: Look | None = None
    still: int = 0
    """Decisions in a row that changed nothing."""

    def talker(self, talk: Talk) -> Talker:
        """Return who is spoken with."""
        return self.areas[talk.map_id].talkers[talk.talker]

    def has_failed(self, name: str) -> bool:
        """Whether an errand came to nothing, and nothing has changed in the game since."""
        return self.failures.get(name, NEVER) == self.progress

    def fail(self, name: str) -> None:
        """Note that an errand came to nothing."""
        self.failures[name] = self.progress


class Notebook:
    """Writes a memory down; the squares of a map, which are most of it, change only while one is there."""

    def __init__(self) -> None:
        self._squares: dict[int, dict[str, msgspec.Raw]] = {}

    def write(self, memory: Memory, been: set[int]) -> str:
        """Return a memory as JSON; the squares of maps where one has *been* since the last time are written anew."""
        for map_id in been:
            self._squares.pop(map_id, None)
        areas = {map_id: self._write_area(map_id, area) for map_id, area in memory.areas.items()}
        return _encode({name: getattr(memory, name) for name in Memory.__struct_fields__} | {"areas": areas}).decode()

    def _write_area(self, map_id: int, area: Area) -> dict[str, Any]:
        if map_id not in self._squares:
            self._squares[map_id] = {name: msgspec.Raw(_encode(getattr(area, name))) for name in SQUARES}
        return {name: getattr(area, name) for name in REST} | self._squares[map_id]


def name_square(square: Square) -> str:
    """Return what errands and barriers call a square."""
    return f"{square[0]},{square[1]}"


def square_named(name: str) -> Square:
    """Return the square of that name."""
    x, _, y = name.partition(",")
    return int(x), int(y)
