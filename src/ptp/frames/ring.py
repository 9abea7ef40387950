"""The newest pictures in memory, for going back at once."""

from __future__ import annotations

import threading
from collections import deque

import lz4.block
import msgspec
import numpy as np

from ptp.frames.pictures import Picture, as_kept


class _Held(msgspec.Struct, frozen=True, gc=False):
    tick: int
    shape: tuple[int, ...] | None
    """None when the picture is text."""
    data: bytes


class FrameRing:
    """At most so many pictures, the oldest forgotten first; each is packed, which takes a fraction of a millisecond.

    One thread adds, any other may read.
    """

    def __init__(self, size: int) -> None:
        self._held: deque[_Held] = deque(maxlen=size)
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._held)

    @property
    def bytes(self) -> int:
        """What the pictures take in memory."""
        with self._lock:
            return sum(len(held.data) for held in self._held)

    def add(self, tick: int, picture: Picture) -> None:
        """Hold a picture that nobody will change."""
        if not self._held.maxlen:
            return
        held = _pack(tick, picture)
        with self._lock:
            self._held.append(held)

    def at(self, tick: int) -> tuple[int, Picture] | None:
        """Return the newest picture that is not younger than *tick*, with its own tick, if it is still held."""
        with self._lock:
            found = next((held for held in reversed(self._held) if held.tick <= tick), None)
        return None if found is None else (found.tick, _unpack(found))

    def forget_after(self, tick: int) -> None:
        """Forget the pictures of ticks that were taken back."""
        with self._lock:
            while self._held and self._held[-1].tick > tick:
                self._held.pop()

    def ticks(self) -> list[int]:
        """Return the ticks whose pictures are held, oldest first."""
        with self._lock:
            return [held.tick for held in self._held]


def _pack(tick: int, picture: Picture) -> _Held:
    if isinstance(picture, str):
        return _Held(tick, None, picture.encode())
    return _Held(tick, picture.shape, lz4.block.compress(np.ascontiguousarray(picture).data))


def _unpack(held: _Held) -> Picture:
    if held.shape is None:
        return held.data.decode()
    return as_kept(np.frombuffer(lz4.block.decompress(held.data), np.uint8).reshape(held.shape))
