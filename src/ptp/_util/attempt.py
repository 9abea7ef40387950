"""Errors as values, for the edges: threads, renderers and plug-ins, where anything can go wrong and the run goes on."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def attempt(work: Callable[[], T]) -> T | Exception:
    """Return what *work* returns, or the error that it raised; the caller tells somebody of the error."""
    try:
        return work()
    except Exception as problem:  # noqa: BLE001 - the one place where an error of any kind becomes a value
        return problem
