"""Pictures as PNG files, quickly: a screen of four shades takes two bits a pixel."""

from __future__ import annotations

import struct
import zlib
from itertools import chain

import numpy as np

from ptp.frames.pictures import Pixels, encode

SIGNATURE = b"\x89PNG\r\n\x1a\n"
SHADES = 4
UP = 2  # the filter that says what differs from the row above


def png(pixels: Pixels, scale: int = 1) -> bytes:
    """Return a picture as a PNG file, each pixel *scale* pixels wide and high."""
    if scale == 2 and pixels.ndim == 3 and pixels.shape[2] == 4 and pixels.shape[1] % 2 == 0:
        found = _in_shades(pixels)
        if found is not None:
            return _doubled(*found)
    return encode(pixels.repeat(scale, 0).repeat(scale, 1) if scale > 1 else pixels, "png", 0)


def _in_shades(pixels: Pixels) -> tuple[Pixels, bytes] | None:
    """Return the number of each pixel's colour, and the colours; None when there are more than four."""
    red = pixels[:, :, 0]
    values = np.flatnonzero(np.bincount(red.ravel(), minlength=256))
    if len(values) > SHADES:
        return None
    numbers = np.zeros(256, np.uint8)
    numbers[values] = np.arange(len(values), dtype=np.uint8)
    index = numbers[red]
    whole = np.ascontiguousarray(pixels).view(np.uint32)[:, :, 0]
    places = [int(np.argmax(index == number)) for number in range(len(values))]
    if not np.array_equal(whole.ravel()[places][index], whole):  # two colours share their red
        return None
    width = pixels.shape[1]
    return index, bytes(chain.from_iterable(pixels[place // width, place % width, :3].tolist() for place in places))


def _doubled(index: Pixels, palette: bytes) -> bytes:
    """Return the file of a picture, twice as large; every second row is the one above it."""
    height, width = index.shape
    wide = index * 5  # the same two bits twice
    rows = np.zeros((2 * height, 1 + width // 2), np.uint8)
    rows[::2, 1:] = wide[:, ::2] << 4 | wide[:, 1::2]
    rows[1::2, 0] = UP
    header = struct.pack(">IIBBBBB", 2 * width, 2 * height, 2, 3, 0, 0, 0)
    parts = (b"IHDR", header), (b"PLTE", palette), (b"IDAT", zlib.compress(rows.data, 1)), (b"IEND", b"")
    return SIGNATURE + b"".join(_chunk(*part) for part in parts)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
