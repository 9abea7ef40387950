"""Identifiers and seeds."""

from __future__ import annotations

import hashlib
import os
import time
from uuid import UUID


def uuid7(now: float | None = None) -> str:
    """Return a new UUIDv7: sorted by time, unique without a registry."""
    milliseconds = int((time.time() if now is None else now) * 1000)
    value = (milliseconds << 80) | int.from_bytes(os.urandom(10), "big")
    value = value & ~(0xF << 76) | 0x7 << 76
    value = value & ~(0x3 << 62) | 0x2 << 62
    return str(UUID(int=value))


def numbered_id(run_id: str, number: int) -> str:
    """Return the UUID of the *number*-th thing in a run: the run's id with the number as its last 48 bits."""
    return f"{run_id[:24]}{number:012x}"


def derive_seed(seed: int, *path: str | int) -> int:
    """Return a 31-bit seed that depends on *seed* and on what it is for."""
    text = "/".join(map(str, (seed, *path)))
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=4).digest(), "big") >> 1
