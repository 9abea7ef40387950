"""Modules that are loaded when something of them is first used.

A reader of runs should not pay for emulators, and must not import inside functions. It writes::

    if TYPE_CHECKING:
        from ptp.replay import video
    else:
        video = lazy("ptp.replay.video")
"""

from __future__ import annotations

from importlib import import_module
from typing import Any


class lazy:  # noqa: N801 - it is written like a function
    """Stands for a module until something of it is used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        return getattr(import_module(self._name), attribute)
