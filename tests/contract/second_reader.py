"""A second reader of the game's memory, to check the first one with.

It was written from the table of addresses alone and shares no line with the reader it checks. It is slow, it knows
no game but the addresses, and it has what the first can't have: it sees every frame, so it knows from what came before
whether a map is loaded, where the first has to tell from one image of memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

RAM, END = 0xC000, 0xE000
LCD_CONTROL, PALETTE, BRIGHT = 0xFF40, 0xFF47, 0xE4
BATTLES: dict[int, set[str | None]] = {1: {"wild"}, 2: {"trainer", "gym"}, 0xFF: {None}}  # FF: it was lost
NAME_LENGTH, STRUCT = 11, 0x2C
FACING = {0: "down", 4: "up", 8: "left", 12: "right"}
STYLES = {0: "normal", 1: "old man", 2: "safari"}
SIDES = (("north", 8, 0xD371), ("south", 4, 0xD37C), ("west", 2, 0xD387), ("east", 1, 0xD392))
LETTERS = {0x7F: " ", 0xE0: "'", 0xE3: "-", 0xE6: "?", 0xE7: "!", 0xE8: ".", 0xF3: "/", 0xF4: ","}
LETTERS |= {0x80 + i: chr(ord("A") + i) for i in range(26)} | {0xA0 + i: chr(ord("a") + i) for i in range(26)}
LETTERS |= {0xF6 + i: str(i) for i in range(10)}

Values = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Image:
    """The work RAM at the end of one frame."""

    ram: bytes

    @classmethod
    def of(cls, memory: Any) -> Image:
        return cls(bytes(memory[RAM:END]))

    def byte(self, address: int) -> int:
        return self.ram[address - RAM]

    def part(self, address: int, length: int) -> bytes:
        return self.ram[address - RAM : address - RAM + length]

    def word(self, address: int) -> int:
        return int.from_bytes(self.part(address, 2), "big")

    def digits(self, address: int, length: int) -> int:
        return int(self.part(address, length).hex())

    def bits(self, address: int, length: int) -> int:
        return int.from_bytes(self.part(address, length), "big").bit_count()

    def name(self, address: int) -> str | None:
        """The name at *address*, or None where it has a character that is no letter here."""
        codes = self.part(address, NAME_LENGTH)
        letters = [LETTERS.get(code) for code in codes[: codes.find(0x50)]]
        return "".join(letter for letter in letters if letter) if None not in letters else None


@dataclass(slots=True)
class SecondReader:
    """Follow a game frame by frame, and say what the reader under test must say about the last one."""

    begun: bool = False
    loading: bool = False
    dark: bool = False
    last: tuple[int, bytes] | None = None
    names: dict[tuple[str, int], str] = field(default_factory=dict)

    def follow(self, memory: Any) -> None:
        """See one frame: a map whose number changes is loaded when its header follows."""
        number, header = memory[0xD35E], bytes(memory[0xD367:0xD370])
        if self.last is not None and number != self.last[0]:
            self.loading = header == self.last[1]
        elif self.last is not None and header != self.last[1]:
            self.loading = False
        self.dark = not memory[LCD_CONTROL] & 0x80 or memory[PALETTE] != BRIGHT
        self.begun = self.begun or (header[2] != 0 and not self.dark)
        self.last = number, header

    def wrong(self, image: Image, state: Values) -> Iterator[str]:
        """Name every value of *state* that is not what this memory holds."""
        theirs, ours = flat(state), expected(image)
        yield from self._place(image, state)
        if state["party"] is None and self.begun and _is_written(image):
            yield "no party, though all of it is written"
        for path, value in ours.items():
            if theirs.get(path) is not None and theirs[path] != value:
                yield f"{path} is {theirs[path]!r}, memory has {value!r}"
        yield from self._renamed(state)

    def _place(self, image: Image, state: Values) -> Iterator[str]:
        place = (state["map_id"], state["coordinates"], state["location"])
        if self.loading and any(part is not None for part in place):
            yield f"{place} is a place while map {image.byte(0xD35E)} is being loaded"
        if self.begun and self.loading and not image.byte(0xD057) and state["screen_type"] != "map_change":
            yield f"the screen is {state['screen_type']!r} while a map is being loaded"
        if self.begun and not self.loading and not self.dark and None in place:
            yield f"no place at map {image.byte(0xD35E)}, which is loaded and shown"
        kinds = BATTLES.get(image.byte(0xD057), set())
        if (state["screen_type"] == "battle") != bool(kinds):
            yield f"the screen is {state['screen_type']!r}, memory has {image.byte(0xD057)} for a battle"
        if state["battle"] is not None and state["battle"]["kind"] not in kinds:
            yield f"the battle is {state['battle']['kind']!r}, memory has {image.byte(0xD057)} for it"

    def _renamed(self, state: Values) -> Iterator[str]:
        for kind, number, name in named(state):
            if self.names.setdefault((kind, number), name) != name:
                yield f"{kind} {number} is {name!r} and was {self.names[kind, number]!r}"


def expected(image: Image) -> Values:
    """Return every value of a state that memory holds, by its path."""
    warps = [image.part(0xD3AF + 4 * i, 4) for i in range(min(image.byte(0xD3AE), 32))]
    sides = [(side, image.byte(header)) for side, bit, header in SIDES if image.byte(0xD370) & bit]
    bag = image.part(0xD31E, 2 * min(image.byte(0xD31D), 20))
    values: Values = {
        "map_id": image.byte(0xD35E),
        "coordinates.x": image.byte(0xD362),
        "coordinates.y": image.byte(0xD361),
        "facing": FACING.get(image.byte(0xC109)),
        "width": 2 * image.byte(0xD369),
        "height": 2 * image.byte(0xD368),
        "warps.*": [(x, y, number, warp) for y, x, warp, number in warps],
        "connections.*": sides,
        "player": image.name(0xD158),
        "rival": image.name(0xD34A),
        "money": image.digits(0xD347, 3),
        "coins": image.digits(0xD5A4, 2),
        "badges": image.byte(0xD356).bit_count(),
        "owned": image.bits(0xD2F7, 19),
        "seen": image.bits(0xD30A, 19),
        "events": image.bits(0xD747, 320),
        "inventory.*": list(zip(bag[::2], bag[1::2], strict=True)),
        "play_time.hours": image.byte(0xDA41),
        "play_time.minutes": image.byte(0xDA43),
        "play_time.seconds": image.byte(0xDA44),
        "battle_result": image.byte(0xCF0B),
        "waiting": image.byte(0xC4F2) == 0xEE,
        "input_blocked": image.byte(0xCD6B) != 0 or bool(image.byte(0xD730) & 0xA0),
        "menu.text_box": image.byte(0xD125),
        "menu.item": image.byte(0xCC26),
        "menu.last": image.byte(0xCC28),
        "menu.x": image.byte(0xCC25),
        "menu.y": image.byte(0xCC24),
        "menu.scroll": image.byte(0xCC36),
    }
    return values | _party(image) | _battle(image)


def _party(image: Image) -> Values:
    values: Values = {}
    for slot in range(min(image.byte(0xD163), 6)):
        at, path = 0xD16B + STRUCT * slot, f"party.{slot}"
        values |= _creature(image, path, at, at + 4, at + 8, at + 0x1D)
        values |= {
            f"{path}.nickname": image.name(0xD2B5 + NAME_LENGTH * slot),
            f"{path}.level": image.byte(at + 0x21),
            f"{path}.max_hp": image.word(at + 0x22),
            f"{path}.experience": int.from_bytes(image.part(at + 0x0E, 3), "big"),
            f"{path}.attack": image.word(at + 0x24),
            f"{path}.defence": image.word(at + 0x26),
            f"{path}.speed": image.word(at + 0x28),
            f"{path}.special": image.word(at + 0x2A),
            f"{path}.trainer_id": image.word(at + 0x0C),
            f"{path}.dvs": image.word(at + 0x1B),
        }
    return values


def _is_written(image: Image) -> bool:
    """Whether the list of species ends where the count says, and each struct is of the species it names."""
    count = image.byte(0xD163)
    structs = [(image.byte(0xD16B + STRUCT * i), image.byte(0xD16B + STRUCT * i + 0x21)) for i in range(min(count, 6))]
    listed = list(image.part(0xD164, min(count, 6) + 1))
    return listed == [*(species for species, _ in structs), 0xFF] and all(level for _, level in structs)


def _creature(image: Image, path: str, at: int, status: int, moves: int, points: int) -> Values:
    known = [
        (move, left & 0x3F) for move, left in zip(image.part(moves, 4), image.part(points, 4), strict=True) if move
    ]
    return {
        f"{path}.species_id": image.byte(at),
        f"{path}.hp": image.word(at + 1),
        f"{path}.sleep_turns": image.byte(status) & 7,
        f"{path}.ailing": image.byte(status) != 0,
        f"{path}.moves.*": known,
    }


def _battle(image: Image) -> Values:
    if image.byte(0xD057) == 0:
        return {}
    values = _creature(image, "battle.enemy", 0xCFE5, 0xCFE9, 0xCFED, 0xCFFE)
    values |= _creature(image, "battle.own", 0xD014, 0xD018, 0xD01C, 0xD02D)
    return values | {
        "battle.lost": image.byte(0xD057) == 0xFF,
        "battle.style": STYLES.get(image.byte(0xD05A)),
        "battle.active_slot": image.byte(0xCC2F),
        "battle.enemy.level": image.byte(0xCFF3),
        "battle.enemy.max_hp": image.word(0xCFF4),
        "battle.own.level": image.byte(0xD022),
        "battle.own.max_hp": image.word(0xD023),
        "battle.trainer_class": image.byte(0xD031),
        "battle.trainer_number": image.byte(0xD05D),
    }


def flat(state: Values) -> Values:
    """Lay a state out by path, its lists as the tuples that memory has."""
    values: Values = {}
    for key, value in state.items():
        if isinstance(value, dict):
            values |= {f"{key}.{path}": inner for path, inner in flat(value).items()}
        elif key == "party" and value is not None:
            values |= {f"party.{slot}.{p}": v for slot, member in enumerate(value) for p, v in flat(member).items()}
        else:
            values[key] = value
    lists = {
        "moves": ("id", "pp"),
        "warps": ("x", "y", "map_id", "warp"),
        "connections": ("side", "map_id"),
        "inventory": ("id", "quantity"),
    }
    for key, fields in lists.items():
        if isinstance(state.get(key), list):
            values[f"{key}.*"] = [tuple(row[name] for name in fields) for row in state[key]]
    if "sleep_turns" in state:
        values["ailing"] = state["status"] is not None
    return values


def named(state: Values) -> Iterator[tuple[str, int, str]]:
    """Yield what the state calls things: a number has one name, always."""
    if state["map_id"] is not None:
        yield "map", state["map_id"], state["location"]
    for item in state["inventory"] or ():
        yield "item", item["id"], item["name"]
    creatures = [*(state["party"] or ()), *(c for c in ((state["battle"] or {}).get(k) for k in ("enemy", "own")) if c)]
    for creature in creatures:
        yield "species", creature["species_id"], creature["species"]
        for move in creature["moves"]:
            yield "move", move["id"], move["name"]
