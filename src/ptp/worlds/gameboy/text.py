"""The game's characters: bytes to text and back, and the text that the tile map shows."""

from __future__ import annotations

from codecs import charmap_decode
from itertools import chain

from ptp.errors import WorldError
from ptp.worlds.gameboy.addresses import TILE_COLUMNS, TILE_ROWS

END = 0x50
BLANK = 0x7F
CURSOR = 0xED
CURSOR_LEFT_BEHIND = 0xEC
ARROW = 0xEE
_ARROW, _BLANK = bytes([ARROW]), bytes([BLANK])
TOP_LEFT, BOTTOM_LEFT = 0x79, 0x7D

BREAK = "\0"  # a tile that is no character
MESSAGE_TOP = 12
START_MENU_LEFT = 10
MESSAGE_BOTTOM = TILE_ROWS - 1
REMEMBERED_ROWS = 4096  # most rows are the same as a tick before, or a text before
_ROW_BITS = 8 * TILE_COLUMNS
_LIGATURES = 0xE000  # stands for a byte that shows several characters while the text is one per byte


class Charmap:
    """Which text each byte shows."""

    def __init__(self, table: dict[int, str]) -> None:
        self._bytes = {text: byte for byte, text in table.items() if len(text) == 1}
        self._ligatures = {_LIGATURES + byte: text for byte, text in table.items() if len(text) > 1}
        texts = (table.get(byte, BREAK) for byte in range(256))
        self._table = "".join(text if len(text) == 1 else chr(_LIGATURES + byte) for byte, text in enumerate(texts))
        self._pieces: dict[bytes, tuple[str, ...]] = {}

    def characters(self, data: bytes) -> str:
        """Return one character per byte; what is no character becomes BREAK."""
        return charmap_decode(data, "strict", self._table)[0]

    def expand(self, characters: str) -> str:
        """Spell out the bytes that show several characters."""
        return characters if characters.isascii() else characters.translate(self._ligatures)

    def pieces(self, row: bytes) -> tuple[str, ...]:
        """Return the pieces of text in one row of tiles; the prompt arrow is no text."""
        found = self._pieces.get(row)
        if found is None:
            pieces = (piece.strip() for piece in self.characters(row.replace(_ARROW, _BLANK)).split(BREAK))
            found = tuple(self.expand(piece) for piece in pieces if piece)
            if len(self._pieces) >= REMEMBERED_ROWS:
                self._pieces.clear()
            self._pieces[row] = found
        return found

    def decode(self, data: bytes) -> str | None:
        """Return a name that 50 ends; None when a byte is no character or nothing ends it."""
        end = data.find(END)
        if end < 0:
            return None
        text = self.characters(data[:end])
        return None if BREAK in text else self.expand(text)

    def encode(self, text: str, size: int | None = None) -> bytes:
        """Return a name as the game keeps it, filled up to *size* bytes with its end mark."""
        try:
            data = bytes(self._bytes[character] for character in text) + bytes([END])
        except KeyError as problem:
            raise WorldError(f"{problem.args[0]!r} is not a character of this game") from None
        if size is not None and len(data) > size:
            raise WorldError(f"{text!r} is longer than the {size - 1} characters a name may have")
        return data if size is None else data.ljust(size, bytes([END]))


class ScreenRows:
    """The text in each row of the screen; only rows that changed are looked at again."""

    def __init__(self, charmap: Charmap) -> None:
        self._charmap = charmap
        self._number = 0
        self._rows = [charmap.pieces(bytes(TILE_COLUMNS))] * TILE_ROWS

    def read(self, tiles: bytes) -> list[tuple[str, ...]]:
        """Return the pieces of text in each row of the tile map."""
        number = int.from_bytes(tiles, "little")  # as one number: the lowest and highest bit that changed tell where
        changed = number ^ self._number
        self._number = number
        if changed:
            first = ((changed & -changed).bit_length() - 1) // _ROW_BITS
            last = (changed.bit_length() - 1) // _ROW_BITS
            for row in range(first, last + 1):
                self._rows[row] = self._charmap.pieces(tiles[row * TILE_COLUMNS : (row + 1) * TILE_COLUMNS])
        return self._rows


def screen_lines(rows: list[tuple[str, ...]]) -> tuple[str, ...]:
    """Return every piece of text, top to bottom and left to right."""
    return tuple(chain.from_iterable(rows))


def message(tiles: bytes, rows: list[tuple[str, ...]]) -> str | None:
    """Return the words in the message box, or None when there is no such box."""
    if tiles[MESSAGE_TOP * TILE_COLUMNS] != TOP_LEFT or tiles[MESSAGE_BOTTOM * TILE_COLUMNS] != BOTTOM_LEFT:
        return None
    return "\n".join(screen_lines(rows[MESSAGE_TOP + 1 : MESSAGE_BOTTOM]))


def has_start_menu(tiles: bytes) -> bool:
    """Whether the start menu is up: a box in the upper right corner with the cursor inside, and no message below."""
    column = tiles[START_MENU_LEFT + 1 :: TILE_COLUMNS]
    has_message = tiles[MESSAGE_TOP * TILE_COLUMNS] == TOP_LEFT
    return tiles[START_MENU_LEFT] == TOP_LEFT and CURSOR in column and not has_message
