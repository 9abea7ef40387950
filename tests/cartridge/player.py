"""Play Tallgrass by reading its memory: paths by search, menus by cursor, text by characters.

It knows only the addresses every reader of the game knows, nothing of the ROM's inside.
"""

import csv
import io
import warnings
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # its SDL bindings announce themselves on import
    from pyboy import PyBoy

PROFILE = Path(__file__).parents[2] / "src/ptp/worlds/gameboy/profiles/tallgrass"
ROM = PROFILE / "tallgrass.gb"
TICK, HOLD = 24, 8
STEPS = {"down": (1, 0), "up": (-1, 0), "left": (0, -1), "right": (0, 1)}
FACING = {"down": 0, "up": 4, "left": 8, "right": 12}
END, SPACE, CURSOR, ARROW = 0x50, 0x7F, 0xED, 0xEE
MESSAGE, BATTLE_MENU, LIST, YES_NO = 0x01, 0x0B, 0x0D, 0x14
SYMBOLS = dict(
    zip((0x9A, 0x9B, 0x9C, 0xE0, 0xE3, 0xE6, 0xE7, 0xE8, 0xF0, 0xF1, 0xF3, 0xF4), "():'-?!.¥\u00d7/,", strict=True)
)


def table(name: str) -> list[dict[str, str]]:
    """Read one of the profile's CSV tables."""
    with (PROFILE / f"{name}.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


SPECIES = {row["name"]: int(row["internal_index"]) for row in table("species")}
MOVES = {int(row["id"]): row for row in table("moves")}
ITEMS = {row["name"]: int(row["id"]) for row in table("items")}
SHAPES = {
    int(row["id"]): (int(row["tileset"]), int(row["height_blocks"]), int(row["width_blocks"])) for row in table("maps")
}
MAPS = {row["name"]: int(row["id"]) for row in table("maps")}
EVENTS = {row["name"]: int(row["flag"]) for row in table("events")}
TYPES = {int(row["id"]): row["name"] for row in table("types")}
CHART = {(row["attacker"], row["defender"]): float(row["multiplier"]) for row in table("type_chart")}


def character(code: int) -> str:
    """Return what one character code shows, or '' for a picture tile."""
    if 0x80 <= code <= 0x99:
        return chr(ord("A") + code - 0x80)
    if 0xA0 <= code <= 0xB9:
        return chr(ord("a") + code - 0xA0)
    if code >= 0xF6:
        return str(code - 0xF6)
    return " " if code == SPACE else SYMBOLS.get(code, "")


class Player:
    """One game, one pair of hands. Every press goes on the tape."""

    def __init__(self, rom: Path = ROM, ram: bytes | None = None) -> None:
        self.pyboy = PyBoy(
            str(rom), window="null", sound_emulated=False, log_level="ERROR", ram_file=io.BytesIO(ram) if ram else None
        )
        self.memory = self.pyboy.memory
        self.tape: list[tuple[str | None, int, int]] = []
        self.watch: Callable[[], None] | None = None

    def close(self) -> None:
        self.pyboy.stop(save=False)

    # hands

    def press(self, button: str | None, hold: int = HOLD, frames: int = TICK) -> None:
        """Hold a button for some frames of a tick."""
        self.tape.append((button, hold, frames))
        if button is None:
            self.pyboy.tick(frames, False)
        else:
            self.pyboy.button_press(button)
            self.pyboy.tick(hold, False)
            self.pyboy.button_release(button)
            self.pyboy.tick(frames - hold, False)
        if self.watch:
            self.watch()

    def replay(self, tape: list[tuple[str | None, int, int]]) -> None:
        for button, hold, frames in tape:
            self.press(button, hold, frames)

    def save_state(self) -> bytes:
        file = io.BytesIO()
        self.pyboy.save_state(file)
        return file.getvalue()

    def load_state(self, state: bytes) -> None:
        self.pyboy.load_state(io.BytesIO(state))

    # eyes

    def byte(self, address: int) -> int:
        return int(self.memory[address])

    def word(self, address: int) -> int:
        return self.byte(address) << 8 | self.byte(address + 1)

    def pointer(self, address: int) -> int:
        return self.byte(address) | self.byte(address + 1) << 8

    def name(self, address: int) -> str:
        codes = list(self.memory[address : address + 11])
        return "".join(character(c) for c in codes[: codes.index(END)])

    def rows(self) -> list[str]:
        """The 18 rows of the screen as text; picture tiles are left blank."""
        tiles = list(self.memory[0xC3A0:0xC508])
        return ["".join(character(t) or " " for t in tiles[y * 20 : y * 20 + 20]) for y in range(18)]

    @property
    def here(self) -> tuple[int, int, int]:
        return self.byte(0xD35E), self.byte(0xD361), self.byte(0xD362)

    @property
    def money(self) -> int:
        return int("".join(f"{b:02x}" for b in self.memory[0xD347:0xD34A]))

    @property
    def in_battle(self) -> int:
        return self.byte(0xD057)

    @property
    def text_up(self) -> bool:
        return bool(self.byte(0xCFC4) & 1)

    @property
    def owned(self) -> set[int]:
        bits = self.memory[0xD2F7:0xD30A]
        return {n + 1 for n in range(152) if bits[n // 8] >> n % 8 & 1}

    def event(self, name: str) -> bool:
        flag = EVENTS[name]
        return bool(self.byte(0xD747 + flag // 8) >> flag % 8 & 1)

    def bag(self) -> dict[int, int]:
        count = self.byte(0xD31D)
        return {self.byte(0xD31E + 2 * i): self.byte(0xD31F + 2 * i) for i in range(count)}

    def party(self) -> list[dict[str, int]]:
        out = []
        for slot in range(self.byte(0xD163)):
            at = 0xD16B + slot * 0x2C
            out.append(
                {
                    "species": self.byte(at),
                    "hp": self.word(at + 1),
                    "status": self.byte(at + 4),
                    "level": self.byte(at + 0x21),
                    "max": self.word(at + 0x22),
                }
            )
        return out

    def people(self) -> set[tuple[int, int]]:
        return {
            (self.byte(0xC204 + s * 16) - 4, self.byte(0xC205 + s * 16) - 4)
            for s in range(1, 15)
            if self.byte(0xC100 + s * 16)
        }

    def warps(self) -> list[tuple[int, int, int, int]]:
        return [tuple(self.memory[0xD3AF + 4 * i : 0xD3B3 + 4 * i]) for i in range(self.byte(0xD3AE))]

    def square_tile(self, y: int, x: int) -> int:
        """The lower left tile of a square, from the block map (one border block each way too)."""
        width = self.byte(0xD369)
        block = self.byte(0xC6E8 + ((y + 6) // 2) * (width + 6) + (x + 6) // 2)
        return int(self.memory[self.byte(0xD52B), self.pointer(0xD52C) + block * 16 + (y % 2) * 8 + 4 + (x % 2) * 2])

    def passable_tiles(self) -> set[int]:
        at, tiles = self.pointer(0xD530), set()
        while self.byte(at) != 0xFF:
            tiles.add(self.byte(at))
            at += 1
        return tiles

    def path(self, goals: set[tuple[int, int]], avoid: frozenset[tuple[int, int]] = frozenset()) -> list[str] | None:
        """The shortest list of directions from here to one of the goals."""
        height, width, passable = self.byte(0xD368) * 2, self.byte(0xD369) * 2, self.passable_tiles()
        blocked = self.people() | ({(y, x) for y, x, _, _ in self.warps()} - goals) | avoid
        start = self.here[1:]
        came: dict[tuple[int, int], tuple[tuple[int, int], str] | None] = {start: None}
        queue = deque([start])
        while queue:
            spot = queue.popleft()
            if spot in goals:
                out: list[str] = []
                while (step := came[spot]) is not None:
                    spot = step[0]
                    out.append(step[1])
                return out[::-1]
            for button, (dy, dx) in STEPS.items():
                y, x = spot[0] + dy, spot[1] + dx
                if (y, x) in came or (y, x) in blocked or not (0 <= y < height and 0 <= x < width):
                    continue
                if self.square_tile(y, x) in passable:
                    came[y, x] = (spot, button)
                    queue.append((y, x))
        return None

    # manners

    def changing(self) -> bool:
        """Whether the map is being changed: it is not the one its number says, or the screen is dark."""
        if self.in_battle or self.text_up or not self.byte(0xD368):
            return False
        area, y, x = self.here
        is_loaded = SHAPES[area] == tuple(self.memory[0xD367:0xD36A])
        lead = [self.byte(0xD365) if target == 0xFF else target for wy, wx, _, target in self.warps() if (wy, wx) == (y, x)]
        return not is_loaded or lead == [area] or self.byte(0xFF47) != 0xE4 or not self.byte(0xFF40) & 0x80

    def settle(self, answer: str = "a", limit: int = 400) -> None:
        """Press on through messages until the player may walk again."""
        for _ in range(limit):
            if self.in_battle:
                self.fight()
            elif self.text_up:
                self.press(answer)
            elif self.byte(0xCD6B) or self.byte(0xD730) & 0x80 or self.changing():
                self.press(None)
            else:
                return
        raise AssertionError("still talking:\n" + "\n".join(self.rows()))

    def read_to(self, condition: Callable[[], bool], button: str | None = "a", limit: int = 200) -> None:
        """Press until something is true of memory."""
        for _ in range(limit):
            if condition():
                return
            self.press(button)
        raise AssertionError("waited in vain:\n" + "\n".join(self.rows()))

    def cursor_ready(self) -> bool:
        """Whether the cursor is drawn where memory says, in a menu spaced by one or two rows."""
        y, x, item = self.byte(0xCC24), self.byte(0xCC25), self.byte(0xCC26)
        return any(y + item * gap < 18 and self.byte(0xC3A0 + (y + item * gap) * 20 + x) == CURSOR for gap in (1, 2))

    def choose(self, item: int) -> None:
        """Move the cursor of a plain menu to an item and press A."""
        self.read_to(self.cursor_ready, None)
        while self.byte(0xCC26) != item:
            self.press("down" if self.byte(0xCC26) < item else "up")
        self.press("a")

    def choose_in_list(self, index: int) -> None:
        """Choose an entry of a scrolling list."""
        self.read_to(lambda: self.byte(0xD125) == LIST and self.cursor_ready(), None)
        while (at := self.byte(0xCC26) + self.byte(0xCC36)) != index:
            self.press("down" if at < index else "up")
        self.press("a")

    # feet

    def face(self, button: str) -> None:
        """Turn towards something that blocks the way."""
        if self.byte(0xC109) != FACING[button]:
            self.press(button)

    def walk_to(self, *goals: tuple[int, int], limit: int = 600) -> None:
        """Walk to one of the goals, dealing with what happens on the way."""
        area = self.here[0]
        for _ in range(limit):
            self.settle()
            if self.here[0] != area or self.here[1:] in goals:
                return
            path = self.path(set(goals))
            assert path is not None, f"no way from {self.here} to {goals}"
            self.press(path[0])
        raise AssertionError(f"never reached {goals}")

    def take_warp(self, y: int, x: int) -> None:
        """Walk to a door or stairs, or to a mat and off the map."""
        area = self.here[0]
        self.walk_to((y, x))
        if self.here[0] == area:
            self.press("down")
        self.settle()
        assert self.here[0] != area

    def cross(self, button: str, columns: tuple[int, ...]) -> None:
        """Walk over the edge of the map."""
        area = self.here[0]
        row = 0 if button == "up" else self.byte(0xD368) * 2 - 1
        self.walk_to(*[(row, x) for x in columns])
        for _ in range(6):
            if self.here[0] != area:
                break
            self.press(button)
        assert self.here[0] != area

    def talk(self, y: int, x: int, reach: int = 1) -> None:
        """Stand beside a person or sign, face it and press A."""
        spots = {(y - dy * reach, x - dx * reach): button for button, (dy, dx) in STEPS.items()}
        free = {spot for spot in spots if spot not in self.people() and self.path({spot}) is not None}
        self.walk_to(*free)
        button = spots[self.here[1:]]
        self.face(button)
        self.settle()
        self.press("a")

    def grass(self) -> Iterator[tuple[int, int]]:
        tile = self.byte(0xD535)
        for y in range(self.byte(0xD368) * 2):
            for x in range(self.byte(0xD369) * 2):
                if self.square_tile(y, x) == tile:
                    yield y, x

    # fists

    def best_move(self) -> int:
        """The move (from 0) that hits hardest by power, own type and the chart."""
        foe = {TYPES[self.byte(0xCFEA)], TYPES[self.byte(0xCFEB)]}
        mine = {TYPES[self.byte(0xD019)], TYPES[self.byte(0xD01A)]}
        scores = []
        for i in range(4):
            move, pp = self.byte(0xD01C + i), self.byte(0xD02D + i) & 63
            if not move or not pp:
                scores.append(-1.0)
                continue
            row = MOVES[move]
            score = float(row["power"]) * (1.5 if row["type"] in mine else 1)
            for kind in foe:
                score *= CHART.get((row["type"], kind), 1)
            scores.append(score)
        return scores.index(max(scores))

    def menu_is_up(self) -> bool:
        return self.byte(0xD125) == BATTLE_MENU and self.byte(0xCC24) == 14 and self.cursor_ready()

    def pick(self, column: int, row: int) -> None:
        """Choose in the battle menu: FIGHT and BAG left, KIN and RUN right."""
        self.read_to(self.menu_is_up, None)
        if (self.byte(0xCC25) == 15) != bool(column):
            self.press("right" if column else "left")
        if self.byte(0xCC26) != row:
            self.press("down" if row else "up")
        self.press("a")

    def use_in_battle(self, item: int) -> None:
        self.pick(0, 1)
        self.choose_in_list(list(self.bag()).index(item))

    def fight(self) -> None:
        """Play one battle to its end: weaken and catch what is new, else hit hard."""
        while self.in_battle:
            if self.menu_is_up():
                self.take_turn()
            elif self.byte(0xD125) == YES_NO and self.cursor_ready():
                self.choose(1)
            elif self.choosing_next():
                self.choose(next(i for i, kin in enumerate(self.party()) if kin["hp"]))
            else:
                self.press("a" if self.byte(0xC4F2) == ARROW else None)

    def choosing_next(self) -> bool:
        return (
            self.byte(0xCC24) == 1
            and self.byte(0xCC25) == 0
            and self.word(0xD015) == 0
            and "Bring out which" in self.rows()[14]
            and self.cursor_ready()
            and self.byte(0xD125) == 0
        )

    def take_turn(self) -> None:
        species, hp, top = self.byte(0xCFE5), self.word(0xCFE6), self.word(0xCFF4)
        wanted = self.in_battle == 1 and species not in self.owned and ITEMS["CATCH ORB"] in self.bag()
        if self.word(0xD015) * 3 < self.word(0xD023) and ITEMS["TONIC"] in self.bag() and not wanted:
            self.use_in_battle(ITEMS["TONIC"])
            self.choose(self.byte(0xCC2F))
        elif wanted and hp * 2 <= top:
            self.use_in_battle(ITEMS["CATCH ORB"])
        else:
            self.attack(self.weak_move() if wanted else self.best_move())
        self.press(None)

    def weak_move(self) -> int:
        return next(i for i in range(4) if self.byte(0xD02D + i) and MOVES[self.byte(0xD01C + i)]["power"] != "0")

    def attack(self, index: int) -> None:
        self.pick(0, 0)
        self.read_to(lambda: self.byte(0xCC24) == 12 and self.cursor_ready(), None)
        while self.byte(0xCC26) != index + 1:
            self.press("down")
        self.press("a")

    # plans

    def start(self) -> None:
        """From power-on to the first step, with the first preset name."""
        self.press(None, frames=120)
        self.press("start")
        self.read_to(lambda: self.byte(0xD368) > 0 and not self.text_up)

    def take_orb(self, column: int, nickname: str | None = None) -> None:
        """In the study: look into an orb, take who is in it, and perhaps give a name."""
        self.talk(4, column)
        for _ in range(2):  # to look, and to take it along
            self.read_to(lambda: self.byte(0xD125) == YES_NO and self.cursor_ready(), None)
            self.choose(0)
        self.answer_nickname(nickname)
        self.settle()

    def answer_nickname(self, nickname: str | None = None) -> None:
        """Say no, or yes and write a name."""
        self.read_to(lambda: "nickname?" in self.rows()[16] and self.byte(0xD125) == YES_NO and self.cursor_ready())
        self.choose(1 if nickname is None else 0)
        if nickname is not None:
            self.read_to(lambda: "NICKNAME?" in self.rows()[1] and self.cursor_ready(), None)
            self.write_name(nickname)

    def write_name(self, name: str) -> None:
        """Write letters on the name screen."""
        for letter in name:
            row, column = divmod(ord(letter) - ord("A"), 9)
            while self.byte(0xCC26) != row:
                self.press("down" if self.byte(0xCC26) < row else "up")
            while self.byte(0xCC25) // 2 != column:
                self.press("right" if self.byte(0xCC25) // 2 < column else "left")
            self.press("a")
        self.press("start")

    def rest(self) -> None:
        """Go to the nurse of the first town, from wherever there is a way on foot."""
        self.go_to_town()
        self.take_warp(4, 14)
        self.talk(2, 4, reach=2)
        self.settle()
        self.take_warp(7, 4)

    def go_to_town(self) -> None:
        """Walk out of the hall, down the ledge or over the road."""
        if self.here[0] == MAPS["REST HOUSE"]:
            self.take_warp(7, 4)
        if self.here[0] == MAPS["SLATE LOFT"]:
            self.take_warp(8, 3)
        if self.here[0] == MAPS["SLATE HALL"]:
            if self.here[1] < 3:
                self.walk_to((2, 3))
                self.press("down")
                self.settle()
            self.take_warp(9, 4)
        if self.here[0] == MAPS["BRAMBLE WOOD"]:
            self.take_warp(14, 0)
        if self.here[0] == MAPS["MEADOW ROAD"]:
            if self.here[1] < 13:
                self.walk_to((12, 9))
                self.press("down")
                self.settle()
            self.cross("down", (9, 10))

    def buy(self, item: int, count: int, index: int) -> None:
        """In front of the clerk: buy some of one thing and leave."""
        self.talk(2, 0, reach=2)
        self.read_to(
            lambda: (
                self.byte(0xCC24) == 1
                and self.byte(0xCC25) == 1
                and self.cursor_ready()
                and self.byte(0xD125) == MESSAGE
            )
        )
        self.choose(0)
        self.choose_in_list(index)
        self.read_to(lambda: self.byte(0xC3A0 + 10 * 20 + 16) == 0xF1, None)
        for _ in range(count - 1):
            self.press("up")
        self.press("a")
        self.read_to(lambda: self.byte(0xD125) == YES_NO, None)
        self.choose(0)
        self.read_to(lambda: self.byte(0xD125) == LIST)
        self.settle("b")
