"""What is to be seen in a picture: text, figures, creatures and menus, each with its box in pixels.

The screen is read from the tile map in memory, so nothing is guessed and every confidence is 1.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from ptp.worlds.gameboy import addresses as at
from ptp.worlds.gameboy.state import Battle
from ptp.worlds.gameboy.text import ARROW, BLANK, BREAK, CURSOR, CURSOR_LEFT_BEHIND, Charmap
from ptp.worlds.gameboy.tiles import PLAYER, Surroundings

Box = tuple[int, int, int, int]
"""Left, top, right and bottom; the last two are the first pixels outside."""

TILE, SQUARE, LIFT = 8, 16, 4  # pixels; a figure stands four pixels above its square
TOP_LEFT, TOP, TOP_RIGHT, SIDE, BOTTOM_LEFT, BOTTOM_RIGHT = 0x79, 0x7A, 0x7B, 0x7C, 0x7D, 0x7E
MARKS = bytes.maketrans(bytes([ARROW, CURSOR, CURSOR_LEFT_BEHIND]), bytes([BLANK] * 3))
"""Makes arrows and cursors blank, for they are no text."""
PORTRAITS = (7, 5)  # tiles that pictures of creatures are wide and high
PIECE = re.compile(r"[^\0 ](?:[^\0]*[^\0 ])?")  # words in a row; \0 stands for a tile that is no character


class DetectedText(msgspec.Struct, frozen=True):
    """Words in one line."""

    text: str
    bbox: Box
    confidence: float = 1.0


class DetectedSprite(msgspec.Struct, frozen=True):
    """A figure."""

    type: str
    name: str
    bbox: Box
    confidence: float = 1.0


class MenuRegion(msgspec.Struct, frozen=True):
    """A framed box."""

    type: str
    bbox: Box
    confidence: float = 1.0


class Annotations(msgspec.Struct, frozen=True):
    """Everything that was found in a picture."""

    detected_text: list[DetectedText]
    detected_sprites: list[DetectedSprite]
    menu_regions: list[MenuRegion]


def annotate(
    tiles: bytes, screen: str, around: Surroundings | None, charmap: Charmap, battle: Battle | None = None
) -> Annotations:
    """Return what a screen shows, from its tile map, its kind, who stands around the player, and who fights."""
    sprites = [] if around is None else list(_figures(around))
    return Annotations(
        list(find_text(tiles, at.TILE_COLUMNS, charmap)),
        sprites if battle is None else list(_fighters(tiles, battle)),
        list(find_menus(tiles, at.TILE_COLUMNS, screen)),
    )


def find_text(tiles: bytes, columns: int, charmap: Charmap) -> Iterator[DetectedText]:
    """Return the pieces of text in a tile map, top to bottom and left to right."""
    text = charmap.characters(tiles.translate(MARKS))
    rows = BREAK.join(text[start : start + columns] for start in range(0, len(text), columns))
    for piece in PIECE.finditer(rows):
        words = piece.group()
        top, left = divmod(piece.start(), columns + 1)
        yield DetectedText(charmap.expand(words), _box(left, top, left + len(words), top + 1))


def find_menus(tiles: bytes, columns: int, screen: str) -> Iterator[MenuRegion]:
    """Return the framed boxes in a tile map; one with a cursor is a menu."""
    rows = len(tiles) // columns
    place = tiles.find(TOP_LEFT)
    while place >= 0:
        top, left = divmod(place, columns)
        right = _follow(tiles, place, 1, columns - left, TOP, TOP_RIGHT)
        down = _follow(tiles, place, columns, rows - top, SIDE, BOTTOM_LEFT)
        if right is not None and down is not None and tiles[place + right + down * columns] == BOTTOM_RIGHT:
            inside = b"".join(tiles[place + row * columns : place + row * columns + right] for row in range(1, down))
            kind = ("battle_menu" if screen == "battle" else "menu") if CURSOR in inside else "text_box"
            yield MenuRegion(kind, _box(left, top, left + right + 1, top + down + 1))
        place = tiles.find(TOP_LEFT, place + 1)


def _follow(tiles: bytes, place: int, stride: int, most: int, edge: int, corner: int) -> int | None:
    """Return how many tiles an edge goes on until its corner; None when it breaks off."""
    for length in range(1, most):
        tile = tiles[place + length * stride]
        if tile == corner:
            return length
        if tile != edge:
            return None
    return None


def _figures(around: Surroundings) -> Iterator[DetectedSprite]:
    figures = [("player", PLAYER), *(("person", square) for square in sorted(around.sprites))]
    for name, (column, row) in figures:
        left, top = column * SQUARE, row * SQUARE - LIFT
        yield DetectedSprite("character", name, (left, max(0, top), left + SQUARE, top + SQUARE))


def _fighters(tiles: bytes, battle: Battle) -> Iterator[DetectedSprite]:
    """Return the creatures that are drawn: the enemy from the front, in the top row, the own from behind."""
    for left, top, size in find_portraits(tiles, at.TILE_COLUMNS):
        fighter, side = (battle.own, "back") if top else (battle.enemy, "front")
        if fighter is not None and fighter.species is not None:
            name = f"{fighter.species.lower().replace(' ', '_')}_{side}"
            yield DetectedSprite("pokemon", name, _box(left, top, left + size, top + size))


def find_portraits(tiles: bytes, columns: int) -> Iterator[tuple[int, int, int]]:
    """Return column, row and size in tiles of each large square picture: its tiles are numbered column by column."""
    for size in PORTRAITS:
        for top in range(len(tiles) // columns - size + 1):
            for place in range(top * columns, (top + 1) * columns - size + 1):
                first = tiles[place]
                if tiles[place + 1] != first + size or tiles[place + columns] != first + 1:  # as nearly everywhere
                    continue
                drawn = (tiles[place + row * columns + column] for column in range(size) for row in range(size))
                if all(tile == first + number for number, tile in enumerate(drawn)):
                    yield place % columns, top, size


def _box(left: int, top: int, right: int, bottom: int) -> Box:
    return left * TILE, top * TILE, right * TILE, bottom * TILE
