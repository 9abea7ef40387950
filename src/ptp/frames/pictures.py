"""Pictures: their hash, and their form as a file."""

from __future__ import annotations

import io
from typing import Any, Literal

import msgspec
import numpy as np
from xxhash import xxh3_64

from ptp.errors import RecordingError

Pixels = np.ndarray[Any, Any]
Picture = Pixels | str
"""What a world shows: pixels by row, column and colour, or text."""

Format = Literal["jpeg", "png", "webp"]
SUFFIXES = {"jpeg": ".jpg", "png": ".png", "webp": ".webp", "text": ".txt"}
PNG = {"compress_level": 1}  # the quickest
FORMATS = {suffix: name for name, suffix in SUFFIXES.items()}


class Resolution(msgspec.Struct, frozen=True, gc=False):
    """How large a picture is: in pixels, or in characters when it is text."""

    width: int
    height: int


def check(picture: Picture) -> None:
    """Refuse what can't be kept."""
    if isinstance(picture, str):
        return
    if picture.dtype != np.uint8 or picture.ndim not in (2, 3) or not picture.size:
        raise RecordingError(f"a picture of shape {picture.shape} and type {picture.dtype} can't be kept")
    if picture.ndim == 3 and picture.shape[2] not in (1, 3, 4):
        raise RecordingError(f"a picture with {picture.shape[2]} colours per pixel can't be kept")


def as_rgb(pixels: Pixels) -> Pixels:
    """Return pixels as rows of red, green and blue bytes; grey is spread over all three, alpha is left out."""
    check(pixels)
    if pixels.ndim == 3 and pixels.shape[2] == 3:
        return np.ascontiguousarray(pixels)
    rgb = np.empty((*pixels.shape[:2], 3), np.uint8)
    if pixels.ndim == 3 and pixels.shape[2] == 4:
        for channel in range(3):  # one at a time is six times as fast as all three in one slice
            rgb[:, :, channel] = pixels[:, :, channel]
    else:
        rgb[:] = pixels.reshape(*pixels.shape[:2], 1)
    return rgb


def as_kept(picture: Picture) -> Picture:
    """Return a picture in the form in which it is kept: text, or red, green and blue."""
    return picture if isinstance(picture, str) else as_rgb(picture)


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
    """Return the picture in a file."""
    if format == "text":
        return data.decode()
    from PIL import Image

    return np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))


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
