"""Bytes as a person says them."""

from __future__ import annotations


def in_words(size: float) -> str:
    """Return bytes with the unit that fits."""
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:,.0f} {unit}" if unit == "B" else f"{size:,.1f} {unit}"
        size /= 1000
    return f"{size:,.1f} TB"
