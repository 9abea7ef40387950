"""Pictures: their hash, their form as a file, and the newest ones in memory, for going back at once."""

from __future__ import annotations

import io
import threading
from collections import deque
from hashlib import blake2b
from typing import Any, Literal, TypeVar

import lz4.block
import msgspec
import numpy as np
from xxhash import xxh3_64

from ptp.errors import RecordingError, RunUnreadable

Pixels = np.ndarray[Any, Any]
Picture = Pixels | str
"""What a world shows: pixels by row, column and colour, or text."""

Shown = TypeVar("Shown", bound=Picture | None)
Format = Literal["jpeg", "png", "webp"]
SUFFIXES = {"jpeg": ".jpg", "png": ".png", "webp": ".webp", "text": ".txt"}
PNG = {"compress_level": 1}  # the quickest
FORMATS = {suffix: name for name, suffix in SUFFIXES.items()}


class Resolution(msgspec.Struct, frozen=True, gc=False):
    """How large a picture is: in pixels, or in characters when it is text."""

    width: int
    height: int


def checked(picture: Shown) -> Shown:
    """Return a picture, if there is one; what can't be kept is refused."""
    if picture is None or isinstance(picture, str):
        return picture
    if picture.dtype != np.uint8 or picture.ndim not in (2, 3) or not picture.size:
        raise RecordingError(f"a picture of shape {picture.shape} and type {picture.dtype} can't be kept")
    if picture.ndim == 3 and picture.shape[2] not in (1, 3, 4):
        raise RecordingError(f"a picture with {picture.shape[2]} colours per pixel can't be kept")
    return picture


def as_rgb(pixels: Pixels) -> Pixels:
    """Return pixels as rows of red, green and blue bytes; grey is spread over all three, alpha is left out."""
    checked(pixels)
    if pixels.ndim == 3 and pixels.shape[2] == 3:
        return np.ascontiguousarray(pixels)
    rgb = np.empty((*pixels.shape[:2], 3), np.uint8)
    if pixels.ndim == 3 and pixels.shape[2] == 4:
        for channel in range(3):  # one at a time is six times as fast as all three in one slice
            rgb[:, :, channel] = pixels[:, :, channel]
    else:
        rgb[:] = pixels.reshape(*pixels.shape[:2], 1)
    return rgb


def content_digest(data: bytes) -> str:
    """Return the digest of a picture's file."""
    return blake2b(data, digest_size=16).hexdigest()


def fingerprint(picture: Picture) -> str:
    """Return the hash that equal pictures share."""
    if isinstance(picture, str):
        return xxh3_64(picture.encode()).hexdigest()
    digest = xxh3_64(repr(picture.shape).encode())
    digest.update(np.ascontiguousarray(picture).data)
    return digest.hexdigest()


def resolution(picture: Picture) -> Resolution:
    """Return the size of a picture."""
    if isinstance(picture, str):
        lines = picture.splitlines()
        return Resolution(max(map(len, lines), default=0), len(lines))
    return Resolution(picture.shape[1], picture.shape[0])


def encode(picture: Picture, format: Format, quality: int) -> bytes:
    """Return a picture as the bytes of a file; text stays text."""
    if isinstance(picture, str):
        return picture.encode()
    from PIL import Image

    file = io.BytesIO()
    image = Image.fromarray(as_rgb(picture))
    options = {"jpeg": {"quality": max(1, quality)}, "webp": {"quality": quality, "method": 0}, "png": PNG}
    image.save(file, format, **options[format])
    return file.getvalue()


def decode(data: bytes, format: str) -> Picture:
    """Return the picture in a file; one that is damaged is refused."""
    from PIL import Image

    try:
        return data.decode() if format == "text" else np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))
    except (ValueError, OSError, SyntaxError, EOFError, Image.DecompressionBombError) as problem:
        raise RunUnreadable(f"the picture is damaged ({problem}); `ptp video` draws it again from the tape") from None


def shrink(data: bytes, format: str) -> bytes:
    """Return the same picture in fewer bytes where that can be done; it loses detail, and text loses nothing."""
    if format == "text":
        return data
    from PIL import Image

    image = Image.open(io.BytesIO(data)).convert("RGB")
    file = io.BytesIO()
    if format == "png":
        image.quantize(64).save(file, "PNG", optimize=True)
    else:
        image.save(file, format.upper(), quality=40)
    smaller = file.getvalue()
    return smaller if len(smaller) < len(data) else data


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

    @property
    def bytes(self) -> int:
        """What the pictures take in memory."""
        with self._lock:
            return sum(len(held.data) for held in self._held)

    def add(self, tick: int, picture: Picture) -> None:
        """Hold a picture that nobody will change."""
        if not self._held.maxlen:
            return
        if isinstance(picture, str):
            held = _Held(tick, None, picture.encode())
        else:
            held = _Held(tick, picture.shape, lz4.block.compress(np.ascontiguousarray(picture).data))
        with self._lock:
            self._held.append(held)

    def at(self, tick: int) -> tuple[int, Picture] | None:
        """Return the newest picture that is not younger than *tick*, with its own tick, if it is still held."""
        with self._lock:
            found = next((held for held in reversed(self._held) if held.tick <= tick), None)
        if found is None:
            return None
        if found.shape is None:
            return found.tick, found.data.decode()
        pixels = np.frombuffer(lz4.block.decompress(found.data), np.uint8).reshape(found.shape)
        return found.tick, as_rgb(pixels)

    def forget_after(self, tick: int) -> None:
        """Forget the pictures of ticks that were taken back."""
        with self._lock:
            while self._held and self._held[-1].tick > tick:
                self._held.pop()

    def ticks(self) -> list[int]:
        """Return the ticks whose pictures are held, oldest first."""
        with self._lock:
            return [held.tick for held in self._held]
