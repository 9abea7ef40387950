"""What is on the screen, square by square: where one can walk, who stands there, and what changed.

The screen shows 20 x 18 tiles: 10 x 9 squares of four tiles each, the player always in column 4, row 4.
A square can be walked on when its lower left tile is on the tileset's list of passable tiles.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable
from typing import Literal

import msgspec

from ptp.worlds.gameboy import addresses as at
from ptp.worlds.gameboy.memory import SPRITE_TABLES, Bytes
from ptp.worlds.gameboy.reader import FACINGS
from ptp.worlds.gameboy.state import Facing

COLUMNS, ROWS = 10, 9
PLAYER = (4, 4)
LIST_END = 0xFF
NOT_SHOWN = 0xFF

Square = tuple[int, int]
"""Column and row on the screen, or x and y on the map."""

NEEDED = (
    slice(at.TILE_MAP, at.TILE_MAP_END),
    SPRITE_TABLES,
    slice(at.SIGN_COUNT, at.SIGNS + 2 * at.SIGNS_MOST),
    slice(at.PASSABLE, at.GRASS_TILE + 1),
)
"""What the observer reads beside what a state needs."""


class Sprite(msgspec.Struct, frozen=True, gc=False):
    """Somebody, or something, that stands on a square of the map."""

    slot: int
    picture: int
    x: int
    y: int
    facing: Facing | None


class Surroundings(msgspec.Struct, frozen=True, gc=False):
    """The screen as squares; places are columns and rows of the screen, (0, 0) the upper left."""

    tiles: bytes
    player: Square
    """Where the player is on the map: x and y."""
    walkable: tuple[tuple[bool, ...], ...] | None
    """By row, then column; None when the list of passable tiles can't be read."""
    grass: frozenset[Square]
    warps: frozenset[Square]
    signs: frozenset[Square]
    sprites: frozenset[Square]

    def is_open(self, square: Square) -> bool:
        """Whether one can step on a square of the screen."""
        column, row = square
        inside = 0 <= column < COLUMNS and 0 <= row < ROWS
        return inside and self.walkable is not None and self.walkable[row][column] and square not in self.sprites

    def to_map(self, square: Square) -> Square:
        """Return where on the map a square of the screen is."""
        return square[0] - PLAYER[0] + self.player[0], square[1] - PLAYER[1] + self.player[1]

    def to_screen(self, place: Square) -> Square:
        """Return where on the screen a place of the map is; it may be outside."""
        return place[0] - self.player[0] + PLAYER[0], place[1] - self.player[1] + PLAYER[1]


def observe(image: Bytes, rom: bytes) -> Surroundings:
    """Return the squares around the player."""
    tiles = bytes(image[at.TILE_MAP : at.TILE_MAP_END])
    player = (image[at.PLAYER_X], image[at.PLAYER_Y])
    passable = read_passable(image, rom)
    grass = image[at.GRASS_TILE]
    feet = _feet(tiles)
    empty = Surroundings(tiles, player, None, frozenset(), frozenset(), frozenset(), frozenset())
    return msgspec.structs.replace(
        empty,
        walkable=None if passable is None else tuple(tuple(tile in passable for tile in row) for row in feet),
        grass=frozenset(
            (column, row) for row, line in enumerate(feet) for column, tile in enumerate(line) if tile == grass
        ),
        warps=_on_screen(empty, _places(image, at.WARP_COUNT, at.WARPS, at.WARP_SIZE, at.WARPS_MOST)),
        signs=_on_screen(empty, _places(image, at.SIGN_COUNT, at.SIGNS, 2, at.SIGNS_MOST)),
        sprites=_on_screen(empty, [(sprite.x, sprite.y) for sprite in read_sprites(image)]),
    )


def read_passable(image: Bytes, rom: bytes) -> frozenset[int] | None:
    """Return the tiles one can walk on; None when the list is not in the ROM's fixed part."""
    start = image[at.PASSABLE] | image[at.PASSABLE + 1] << 8
    end = rom.find(LIST_END, start, 0x8000)
    if not 0 < start < 0x8000 or end < 0:
        return None
    return frozenset(rom[start:end])


def read_sprites(image: Bytes) -> list[Sprite]:
    """Return the sprites of the map but the player; those that are switched off are left out."""
    found = []
    for slot in range(1, at.SPRITE_SLOTS):
        shape, place = at.SPRITES + slot * at.SPRITE_SIZE, at.SPRITES_MAP + slot * at.SPRITE_SIZE
        picture = image[shape + at.SPRITE_PICTURE]
        if not picture or image[shape + at.SPRITE_IMAGE] == NOT_SHOWN:
            continue
        x = image[place + at.SPRITE_MAP_X] - at.SPRITE_OFFSET
        y = image[place + at.SPRITE_MAP_Y] - at.SPRITE_OFFSET
        found.append(Sprite(slot, picture, x, y, FACINGS.get(image[shape + at.SPRITE_FACING])))
    return found


def changed_tiles(before: Surroundings, after: Surroundings) -> list[Square]:
    """Return the tiles, as column and row of 20 x 18, that differ."""
    pairs = zip(before.tiles, after.tiles, strict=True)
    return [(place % at.TILE_COLUMNS, place // at.TILE_COLUMNS) for place, (a, b) in enumerate(pairs) if a != b]


def _feet(tiles: bytes) -> list[bytes]:
    """Return the lower left tile of each square, by row."""
    wide = at.TILE_COLUMNS
    return [tiles[(2 * row + 1) * wide : (2 * row + 2) * wide : 2] for row in range(ROWS)]


def _places(image: Bytes, count: int, first: int, size: int, most: int) -> list[Square]:
    """Return the places in a list of entries that begin with y and x."""
    entries = range(first, first + size * min(image[count], most), size)
    return [(image[entry + 1], image[entry]) for entry in entries]


def _on_screen(around: Surroundings, places: list[Square]) -> frozenset[Square]:
    squares = map(around.to_screen, places)
    return frozenset(square for square in squares if 0 <= square[0] < COLUMNS and 0 <= square[1] < ROWS)


Movement = Literal["moving", "stuck", "looping"]


class Repetition:
    """Tells from the last ticks whether a player is stuck or walks in circles; it works only when it is asked."""

    def __init__(self, stuck_after: int = 30, longest: int = 8, times: int = 4) -> None:
        self._stuck_after = stuck_after
        self._longest = longest
        self._times = times
        self._seen: deque[tuple[Hashable, Hashable]] = deque(maxlen=max(stuck_after + 1, longest * times))

    def feed(self, present: Hashable, action: Hashable) -> None:
        """Take in one tick: what was there after it, and what was done."""
        self._seen.append((present, action))

    @property
    def movement(self) -> Movement:
        """What the player is doing."""
        seen = list(self._seen)
        places = [present for present, _ in seen[-self._stuck_after - 1 :]]
        if len(places) > self._stuck_after and len(set(places)) == 1:
            return "stuck"
        return "looping" if any(self._repeats(seen, period) for period in range(2, self._longest + 1)) else "moving"

    def _repeats(self, seen: list[tuple[Hashable, Hashable]], period: int) -> bool:
        last = seen[-period * self._times :]
        # Standing still has its own, longer patience, so a circle has at least two places.
        moved = len({present for present, _ in last}) > 1
        return len(last) == period * self._times and moved and last[period:] == last[:-period]
