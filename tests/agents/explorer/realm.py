"""A small game in memory, by the retail game's rules: maps drawn in letters, people with something to say, doors, mats,
ledges, edges, tall grass, and battles that only the level decides. The real reader and observer read it."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, field

from ptp.agents import AgentSetup, Decision, Observation
from ptp.agents.explorer import ExplorerAgent
from ptp.worlds.gameboy.commands import BUTTONS
from ptp.worlds.gameboy.state import GameState
from ptp.worlds.gameboy.tiles import Square, Surroundings, observe
from ptp.worlds.gameboy.world import GameBoyView
from tests.worlds.gameboy.images import RED, box, fight, member, put, show, started, state

MAPS = tuple(number for number in RED.maps if number not in RED.shapes)
"""Maps that the retail game does not have: here they are of any size."""
FLOOR, WALL, GRASS, LEDGE = 0, 1, 3, 0x37
TILES = {"#": WALL, "G": GRASS, "v": LEDGE}
ROM = bytes(0x3F00) + bytes([FLOOR, GRASS, 0xFF]) + bytes(0x40FD)
STEPS = {"up": (0, -1, 4), "down": (0, 1, 0), "left": (-1, 0, 8), "right": (1, 0, 12)}
SIDES = {"north": (0xD371, 8), "south": (0xD37C, 4), "west": (0xD387, 2), "east": (0xD392, 1)}
SQUIRTLE, TACKLE, POTION = 0xB1, 33, 20
BEFORE = 0xFF


@dataclass(frozen=True)
class Ask:
    """A question with yes and no."""

    text: str


@dataclass(frozen=True)
class Fight:
    """Somebody's battle: won from that level on."""

    level: int
    wild: bool = False


Script = Callable[["Realm"], Generator["str | Ask | Fight", bool, None]]
"""Says pages, asks questions and fights; each yield gives back whether it went well."""


@dataclass
class Person:
    """Somebody who stands on a square; gone once the event has come to pass."""

    place: Square
    script: Script
    gone_after: int | None = None


@dataclass
class Map:
    """A map, row by row: # wall, . floor, G grass, v a ledge that is jumped from above."""

    plan: str
    warps: dict[Square, tuple[int, int]] = field(default_factory=dict)
    """The map and warp that each leads to."""
    edges: dict[str, tuple[int, int]] = field(default_factory=dict)
    """The map beyond an edge, and how much is added to the coordinate along it."""
    people: list[Person] = field(default_factory=list)
    signs: dict[Square, str] = field(default_factory=dict)
    triggers: dict[Square, Script] = field(default_factory=dict)
    greeting: Script | None = None
    """What is said to whoever comes in by a warp."""
    rate: int = 25
    """What the game says of the grass."""
    wild: int = 3
    """The level of who comes out of the grass; 0 when nobody does, whatever the game says."""

    def __post_init__(self) -> None:
        self.rows = self.plan.split()

    @property
    def size(self) -> Square:
        return len(self.rows[0]), len(self.rows)

    def at(self, x: int, y: int) -> str | None:
        if (x, y) in self.warps:
            return "."
        inside = 0 <= y < len(self.rows) and 0 <= x < len(self.rows[0])
        return self.rows[y][x] if inside else None


class View(GameBoyView):
    """What the explorer sees of a realm."""

    def __init__(self, realm: Realm) -> None:
        self.profile = RED
        self.realm = realm

    def surroundings(self) -> Surroundings | None:
        return observe(self.realm.image, ROM)

    def read_memory(self, start: int, stop: int) -> bytes:
        return bytes(self.realm.image[start:stop])


class Realm:
    """The game: a place, a creature, events and money, moved on by one press after the other."""

    def __init__(
        self, maps: dict[int, Map], start: int, place: Square, level: int = 5, home: int | None = None
    ) -> None:
        self.maps, self.map, self.place = maps, start, place
        self.level, self.fights = level, 0
        self.home = (home if home is not None else start, place)
        self.events: set[int] = set()
        self.badges, self.result, self.facing = 0, 0, 0
        self.hp, self.losses = 20, 0
        self.chosen = ""
        self.script: Generator[str | Ask | Fight, bool, None] | None = None
        self.shown: str | Ask | Fight | None = None
        self.answer_yes = True
        self.dark = self.busy = 0
        self.last_outside = start
        self.visits: list[tuple[int, Square]] = []
        self.draw()

    # what a press does

    def press(self, button: str) -> None:
        if self.dark:
            self.dark -= 1
            greeting = self.maps[self.map].greeting
            if greeting is not None and not self.dark:
                self.say(greeting)
        elif self.busy:
            self.busy -= 1
            if not self.busy and isinstance(self.shown, Fight):
                self._end_fight(self.shown)
        elif self.script is not None:
            self._read(button)
        elif button in STEPS:
            self._walk(button)
        elif button == "a":
            self._talk()
        self.draw()

    def _read(self, button: str) -> None:
        if isinstance(self.shown, Ask):
            if button in ("up", "down"):
                self.answer_yes = button == "up"
            elif button in ("a", "b"):
                self._go_on(self.answer_yes and button == "a")
        elif button in ("a", "b"):
            self._go_on(True)

    def _go_on(self, well: bool | None = None) -> None:
        assert self.script is not None
        try:
            self.shown = next(self.script) if well is None else self.script.send(well)
        except StopIteration:
            self.script = self.shown = None
            return
        self.answer_yes = True
        if isinstance(self.shown, Fight):
            self.busy = 3

    def say(self, script: Script) -> None:
        """Let somebody speak."""
        self.script = script(self)
        self._go_on()

    def _end_fight(self, fought: Fight) -> None:
        self.hp -= 2
        won = self.level >= fought.level and self.hp > 0
        self.result = 0 if won else 1
        self.fights += 1
        if fought.wild:
            self.level = min(100, self.level + (self.fights % 3 == 0))
        if won:
            self._go_on(True)
            return
        self.losses += 1
        self.hp = 20
        self.script = self.shown = None
        self.travel(*self.home)

    def _walk(self, button: str) -> None:
        across, down, self.facing = STEPS[button]
        here, (x, y) = self.maps[self.map], (self.place[0] + across, self.place[1] + down)
        if self.place in here.warps and self._is_mat(here, self.place) and button == "down":
            self._take(here.warps[self.place])
            return
        if here.at(x, y) is None:
            self._leave(here, x, y, button)
            return
        if here.at(x, y) == "v" and button == "down":
            y += 1
        elif here.at(x, y) in ("#", "v") or (x, y) in self.standing() or (x, y) in here.signs:
            return
        self.place = (x, y)
        self.visits.append((self.map, self.place))
        if self.place in here.triggers:
            self.say(here.triggers[self.place])
        elif self.place in here.warps and not self._is_mat(here, self.place):
            self._take(here.warps[self.place])
        elif here.at(x, y) == "G" and here.rate and here.wild and len(self.visits) % 4 == 0:
            self.say(_wild)

    def _leave(self, here: Map, x: int, y: int, button: str) -> None:
        side = {"up": "north", "down": "south", "left": "west", "right": "east"}[button]
        if side in here.edges:
            number, shift = here.edges[side]
            width, height = self.maps[number].size
            landing = {
                "north": (x + shift, height - 1), "south": (x + shift, 0),
                "west": (width - 1, y + shift), "east": (0, y + shift),
            }[side]  # fmt: skip
            if self.maps[number].at(*landing) not in (None, "#", "v"):
                self.map, self.place = number, landing
                self.visits.append((self.map, self.place))

    @staticmethod
    def _is_mat(here: Map, place: Square) -> bool:
        """Whether a warp lies at the lower edge of a map: it is left by walking down."""
        return place[1] == here.size[1] - 1

    def _take(self, warp: tuple[int, int]) -> None:
        number = self.last_outside if warp[0] == BEFORE else warp[0]
        if self.maps[self.map].edges:
            self.last_outside = self.map
        place = list(self.maps[number].warps)[warp[1]]
        self.travel(number, place)
        below = (place[0], place[1] + 1)
        if self.maps[number].at(*below) == ".":
            self.place = below  # out of a door the game walks one step by itself

    def travel(self, number: int, place: Square) -> None:
        """Go to another map; for one tick memory mixes two."""
        self.map, self.place, self.dark = number, place, 1
        self.visits.append((number, place))

    def _talk(self) -> None:
        here = self.maps[self.map]
        across, down = next((x, y) for x, y, facing in STEPS.values() if facing == self.facing)
        for distance in (1, 2):
            spot = (self.place[0] + across * distance, self.place[1] + down * distance)
            for person in here.people:
                if person.place == spot and person.gone_after not in self.events:
                    self.say(person.script)
                    return
            if distance == 1 and spot in here.signs:
                self.say(says(here.signs[spot]))
                return
            if here.at(*spot) != "#":
                return

    def standing(self) -> set[Square]:
        return {person.place for person in self.maps[self.map].people if person.gone_after not in self.events}

    # what memory says of it

    def draw(self) -> None:
        """Write everything to memory."""
        image, here = started(), self.maps[self.map]
        image[0xD35E], image[0xD362], image[0xD361], image[0xC109] = self.map, *self.place, self.facing
        image[0xD369], image[0xD368] = here.size[0] // 2, here.size[1] // 2
        image[0xD530], image[0xD531], image[0xD535], image[0xD887] = 0x00, 0x3F, GRASS, here.rate
        image[0xD365], image[0xCF0B], image[0xD356] = self.last_outside, self.result, (1 << self.badges) - 1
        put(image, 0xD31D, 2, POTION, 1, 4, 0)
        for event in self.events:
            image[0xD747 + event // 8] |= 1 << event % 8
        if self.level:
            base = member(image, 0, SQUIRTLE, self.level, self.hp)
            image[base + 0x22 + 1], image[base + 8], image[base + 0x1D] = 20, TACKLE, 35
        self._draw_places(image, here)
        self._draw_squares(image)
        self._draw_text(image)
        if self.dark:
            image[0xFF47] = 0xFF
        self.image = image

    def _draw_places(self, image: bytearray, here: Map) -> None:
        image[0xD3AE] = len(here.warps)
        for number, ((x, y), (to, warp)) in enumerate(here.warps.items()):
            put(image, 0xD3AF + 4 * number, y, x, warp, to)
        for side, (to, _) in here.edges.items():
            image[0xD370] |= SIDES[side][1]
            image[SIDES[side][0]] = to
        image[0xD4B0] = len(here.signs)
        for number, (x, y) in enumerate(here.signs):
            put(image, 0xD4B1 + 2 * number, y, x)
        for number, person in enumerate(here.people, 1):
            image[0xC100 + 16 * number] = 1
            hidden = person.gone_after in self.events or not self._is_near(person.place)
            image[0xC102 + 16 * number] = 0xFF if hidden else 0
            put(image, 0xC204 + 16 * number, person.place[1] + 4, person.place[0] + 4)

    def _is_near(self, place: Square) -> bool:
        return -4 <= place[0] - self.place[0] <= 5 and -4 <= place[1] - self.place[1] <= 4

    def _draw_squares(self, image: bytearray) -> None:
        for row in range(9):
            for column in range(10):
                tile = TILES.get(self._square(column - 4 + self.place[0], row - 4 + self.place[1]), FLOOR)
                corner = 0xC3A0 + 40 * row + 2 * column
                for offset in (0, 1, 20, 21):
                    image[corner + offset] = tile

    def _square(self, x: int, y: int) -> str:
        """Return a square of this map, or of the one beyond the edge."""
        here = self.maps[self.map]
        inside = here.at(x, y)
        if inside is not None:
            return inside
        width, height = here.size
        side = "north" if y < 0 else "south" if y >= height else "west" if x < 0 else "east"
        if side not in here.edges:
            return "#"
        other, shift = self.maps[here.edges[side][0]], here.edges[side][1]
        beyond = {
            "north": (x + shift, other.size[1] + y), "south": (x + shift, y - height),
            "west": (other.size[0] + x, y + shift), "east": (x - width, y + shift),
        }[side]  # fmt: skip
        return other.at(*beyond) or "#"

    def _draw_text(self, image: bytearray) -> None:
        if isinstance(self.shown, Fight):
            fight(image, 1 if self.shown.wild else 2, level=self.shown.level)
            return
        if self.shown is None:
            return
        box(image, 12, 0, 6, 20)
        text = self.shown.text if isinstance(self.shown, Ask) else self.shown
        for row, line in enumerate(text.split("\n")):
            show(image, 14 + 2 * row, 1, line)
        if isinstance(self.shown, Ask):
            image[0xD125], image[0xCC26] = 0x14, int(not self.answer_yes)
            show(image, 8, 15, "▶YES" if self.answer_yes else " YES")
            show(image, 10, 15, " NO" if self.answer_yes else "▶NO")
        else:
            image[0xC4F2] = 0xEE

    @property
    def state(self) -> GameState:
        return state(self.image)


def _wild(realm: Realm) -> Generator[str | Ask | Fight, bool, None]:
    yield Fight(realm.maps[realm.map].wild, wild=True)


def says(page: str) -> Script:
    """Make somebody who says the same every time."""

    def script(realm: Realm) -> Generator[str | Ask | Fight, bool, None]:
        yield page

    return script


def nurse(realm: Realm) -> Generator[str | Ask | Fight, bool, None]:
    """Heal whoever says yes."""
    if (yield Ask("Shall we heal\nyour friends?")):
        realm.hp = 20
        doors = realm.maps[realm.last_outside].warps.items()
        x, y = next(place for place, (to, _) in doors if to == realm.map)
        realm.home = (realm.last_outside, (x, y + 1))  # who loses wakes up in front of the door


class Player:
    """An explorer in a realm."""

    def __init__(self, realm: Realm, seed: int = 1) -> None:
        self.realm = realm
        self.agent = ExplorerAgent(View(realm), AgentSetup(seed=seed))
        self.decisions: list[Decision] = []

    def play(self, ticks: int, until: Callable[[Realm], bool] = lambda realm: False) -> int | None:
        """Play; return the ticks it took until something was so, None when it never was."""
        for tick in range(ticks):
            if until(self.realm):
                return tick
            decision = self.agent.decide(Observation(None, self.realm.state, tick, 1, tick))
            self.decisions.append(decision)
            self.realm.press(BUTTONS[decision.commands[0]])
        return None
