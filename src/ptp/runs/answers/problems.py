"""What the API answers about why a request was refused."""

from __future__ import annotations

from msgspec import Struct


class Problem(Struct):
    """Why a request was refused."""

    error: str
    """A word for what is wrong."""
    message: str
    """What is wrong, and what to do about it."""
