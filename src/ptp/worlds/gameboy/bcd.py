"""Decimal numbers, two digits a byte."""

from __future__ import annotations


def decode_bcd(data: bytes | bytearray) -> int | None:
    """Return the number; None when a digit is above 9, for such bytes hold no decimal number."""
    digits = data.hex()
    return int(digits) if digits.isdecimal() else None


def encode_bcd(number: int, size: int) -> bytes:
    """Return the number in *size* bytes."""
    return bytes.fromhex(f"{number:0{2 * size}d}")
