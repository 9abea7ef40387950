"""How payloads are compressed: levels that people choose, and the methods that a file names."""

from __future__ import annotations

import lzma
import zlib
from typing import Literal, get_args

import lz4.frame

from ptp.errors import SnapshotError

Level = Literal["none", "fast", "balanced", "small", "auto"]
BALANCED = 6  # of LZ4's high compression: half the size of the fast one on a saved Game Boy, in a millisecond
RATES = {"small": 4e6, "balanced": 5e7}  # bytes a second that even a slow machine compresses, smallest result first
BUDGET = 10.0  # milliseconds that `auto` may take
DICTIONARY = 128 << 20  # bytes that unpacking LZMA may take beside its result


def choose(level: Level, size: int, budget_ms: float = BUDGET) -> Level:
    """Return the level that `auto` stands for: the one with the smallest result that fits the time."""
    if level != "auto":
        return check_level(level)
    fits: list[Level] = [name for name in ("small", "balanced") if size / RATES[name] * 1000 <= budget_ms]
    return fits[0] if fits else "fast"


def check_level(level: str) -> Level:
    """Return a level that is one."""
    for known in get_args(Level):
        if level == known:
            return known  # type: ignore[no-any-return]
    raise SnapshotError(f"no compression level {level!r}; choose one of {', '.join(get_args(Level))}")


def compress(data: bytes, level: Level) -> tuple[bytes, str]:
    """Return the data compressed, and the method that unpacks it."""
    match level:
        case "none":
            return data, "none"
        case "small":
            return lzma.compress(data, preset=6), "lzma"
        case "balanced":
            return lz4.frame.compress(data, compression_level=BALANCED, store_size=True), "lz4"
    return lz4.frame.compress(data, store_size=True), "lz4"


METHODS = ("none", "lz4", "lzma", "zlib")


def expand(data: memoryview, size: int, method: str) -> bytes | memoryview:
    """Return what was compressed, and at most one byte more than *size*; ValueError when it can't be."""
    try:
        match method:
            case "none":
                return data
            case "lz4":
                unpacked: bytes = lz4.frame.LZ4FrameDecompressor().decompress(data, max_length=size + 1)
                return unpacked
            case "lzma":
                return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=DICTIONARY).decompress(data, size + 1)
            case "zlib":
                return zlib.decompressobj().decompress(data, size + 1)
    except (RuntimeError, EOFError, lzma.LZMAError, zlib.error) as problem:
        raise ValueError(str(problem)) from None
    raise SnapshotError(f"it is compressed by {method!r}; this ptp knows {', '.join(METHODS)}")
