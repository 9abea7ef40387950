"""The bytes a state is read from: an image of the address space, and the cheapest way to fill it from PyBoy.

With the RAM as a buffer (see `ram.py`) all of it is copied, and the native part does that and picks the bytes in a few
calls. Through PyBoy's public interface, which copies lists at 27 ns a byte, only what the state needs is read, and what
depends on a count or a flag (party, bag, warps, tile map, battle) as far as that says. The bytes that are hashed are
the same.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from itertools import chain
from operator import itemgetter
from typing import Any, TypeAlias

from ptp.worlds.gameboy import addresses as at
from ptp.worlds.gameboy.states import Memory

Bytes: TypeAlias = bytes | bytearray
"""An image of the 64 KiB address space, or a part of it; readers use nothing else."""


def _spans(first: int, start: int, size: int, most: int) -> tuple[slice, ...]:
    """Return for each count the range from *first* to the end of so many entries at *start*."""
    return tuple(slice(first, start + size * count) for count in range(most + 1))


# One byte costs 0.1 microseconds, a slice 0.6 and 0.03 a byte: bytes that stand alone are read alone.
_SINGLES = (
    at.PLAYER_FACING, at.FONT_LOADED, at.BATTLE_RESULT, at.TEXT_BOX, at.INPUT_IGNORED, at.WALK_FLAGS,
    at.MENU_Y, at.MENU_X, at.MENU_ITEM, at.MENU_LAST, at.LIST_SCROLL, at.ACTIVE_SLOT,
    at.IN_BATTLE, at.BATTLE_TYPE, at.TRAINER_NUMBER, at.PARTY_COUNT, at.BAG_COUNT, at.WARP_COUNT,
    at.COINS, at.COINS + 1,
)  # fmt: skip
# What says whether the rest is written to the end, and what the enemy chose; the hash does not cover it.
_SIGNS = (
    at.ENEMY_MOVE, at.OPPONENT, at.MOVEMENT, at.WARPED_FROM,
    *range(at.PARTY_SPECIES, at.PARTY_SPECIES + at.PARTY_MOST),
)  # fmt: skip
_PARTY_SIGNS = slice(len(_SIGNS) - at.PARTY_MOST, len(_SIGNS))
_SCREEN = (at.LCD_CONTROL, at.PALETTE)
_CLOCK = (at.PLAY_HOURS, at.PLAY_MINUTES, at.PLAY_SECONDS)
_ALWAYS = (
    slice(at.PLAYER_NAME, at.PLAYER_NAME + at.NAME_SIZE),
    slice(at.MONEY, at.CONNECTIONS + 1),
)
_PARTY = _spans(at.PARTY, at.PARTY, at.MEMBER_SIZE, at.PARTY_MOST)
_NICKNAMES = _spans(at.NICKNAMES, at.NICKNAMES, at.NAME_SIZE, at.PARTY_MOST)
_DEX_AND_BAG = _spans(at.DEX_OWNED, at.BAG, 2, at.BAG_MOST)
_WARPS = _spans(at.WARPS, at.WARPS, at.WARP_SIZE, at.WARPS_MOST)
_TILES = slice(at.TILE_MAP, at.TILE_MAP_END)
_BATTLE = slice(at.ENEMY, at.TRAINER_CLASS + 1)
_HEADERS = {bit: at.CONNECTION_HEADERS[side] for side, bit in at.CONNECTION_BITS.items()}
_CONNECTIONS = tuple(
    [slice(header, header + 1) for bit, header in _HEADERS.items() if sides & bit] for sides in range(16)
)
# What changes with every step on a map: where one looks, whether the game leads, and where one is, with what follows.
_LEADS = slice(_SINGLES.index(at.INPUT_IGNORED), _SINGLES.index(at.WALK_FLAGS) + 1)
_PLACE = slice(at.MAP_ID + 1, at.LAST_MAP)
_MOST_CHOICES = 1000
_RAM = slice(at.RAM, at.RAM_END)
_FEW = 6  # so many bytes are cheaper one by one
SPRITE_TABLES = slice(at.SPRITES, at.SPRITES_MAP + at.SPRITE_SIZE * at.SPRITE_SLOTS)

_signs = itemgetter(*_SIGNS, *_SCREEN)
# what says which other ranges are needed
_DECIDING = (at.PARTY_COUNT, at.BAG_COUNT, at.WARP_COUNT, at.CONNECTIONS, at.IN_BATTLE, at.FONT_LOADED)
_deciding = itemgetter(*_DECIDING)


def _as_spans(*places: int | slice) -> Any:
    """Return addresses and ranges as an array of starts and stops."""
    ends = ((place.start, place.stop) if isinstance(place, slice) else (place, place + 1) for place in places)
    return array("i", chain.from_iterable(ends))


_SIGN_SPANS = _as_spans(*_SIGNS, *_SCREEN)
_DECIDING_SPANS = _as_spans(*_DECIDING)


class MemoryReader:
    """Fills an image with what a state needs, once per tick."""

    def __init__(
        self,
        view: Any,
        event_bytes: int,
        ram: memoryview | None = None,
        native: Callable[[bytearray], Memory | None] = lambda image: None,
    ) -> None:
        self._view = view
        self._ram = ram
        self.image = bytearray(at.SPACE)
        self._native = native(self.image)
        self.signs = b""
        """What says whether a value is written to the end: a state is another when these are."""
        events = range(at.EVENTS, at.EVENTS + event_bytes)
        self._singles = (*_SINGLES, *(events if event_bytes <= _FEW else ()))
        self._always = (*_ALWAYS, *((slice(events.start, events.stop),) if event_bytes > _FEW else ()))
        self._values = itemgetter(*self._singles)
        start = len(self._singles) + at.NAME_SIZE - at.MONEY
        self._place = slice(start + _PLACE.start, start + _PLACE.stop)
        self._pickers: dict[tuple[int, ...], itemgetter[tuple[Bytes, ...]]] = {}
        self._spans: dict[bytes, Any] = {}

    def read(self) -> bytes:
        """Read what the state needs; return the bytes read without the clock, for a hash of what changed."""
        image, view, native = self.image, self._view, self._native
        if native is not None:
            native.copy()
            self.signs = native.pick(_SIGN_SPANS)
            return native.pick(self._spans_of(native.pick(_DECIDING_SPANS)))
        if self._ram is not None:
            image[_RAM] = self._ram
        else:
            self._read_ranges()
        for address in _SCREEN:
            image[address] = view[address]
        self.signs = bytes(_signs(image))
        ranges: tuple[Bytes, ...] = self._ranges(_deciding(image))(image)
        return bytes(self._values(image)) + b"".join(ranges)

    def without_steps(self, data: bytes) -> bytes:
        """Return of the bytes read last those that a step on a map does not change, with the party's kinds."""
        steady = data[1 : _LEADS.start] + data[_LEADS.stop : self._place.start] + data[self._place.stop :]
        return steady + self.signs[_PARTY_SIGNS]

    def _spans_of(self, deciding: bytes) -> Any:
        """Return where the bytes are that are needed; there are few such choices in a game."""
        if deciding not in self._spans:
            if len(self._spans) >= _MOST_CHOICES:
                self._spans.clear()
            self._spans[deciding] = _as_spans(*self._singles, *self._always, *_dependent(*deciding))
        return self._spans[deciding]

    def _ranges(self, deciding: tuple[int, ...]) -> itemgetter[tuple[Bytes, ...]]:
        """Return what picks every range that is needed; there are few such choices in a game."""
        if deciding not in self._pickers:
            if len(self._pickers) >= _MOST_CHOICES:  # the memory is not that of the game it is read as
                self._pickers.clear()
            self._pickers[deciding] = itemgetter(*self._always, *_dependent(*deciding))
        return self._pickers[deciding]

    def _read_ranges(self) -> None:
        view, image = self._view, self.image
        for address in self._singles + _SIGNS + _CLOCK:
            image[address] = view[address]
        self.read_more(*self._always)
        self.read_more(*_dependent(*_deciding(image)))

    def read_more(self, *spans: slice) -> Bytes:
        """Read further ranges, for an observer that needs them, and return the image."""
        if self._ram is None:
            for span in spans:
                self.image[span] = bytes(self._view[span])
        return self.image


def _dependent(members: int, items: int, warps: int, connections: int, battle: int, font: int) -> tuple[slice, ...]:
    """Return the ranges whose length, or need, is told by what was read before."""
    spans = [_DEX_AND_BAG[items if items <= at.BAG_MOST else 0]]
    if 0 < members <= at.PARTY_MOST:
        spans += (_PARTY[members], _NICKNAMES[members])
    if 0 < warps <= at.WARPS_MOST:
        spans.append(_WARPS[warps])
    if connections:
        spans += _CONNECTIONS[connections & 0xF]
    if battle:
        spans += (_BATTLE, _TILES)
    elif font & 1:
        spans.append(_TILES)
    return tuple(spans)
