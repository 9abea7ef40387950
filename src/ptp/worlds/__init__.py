"""Gymnasium worlds and their facts; `knowledge` is for readers, and needs no Gymnasium."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ptp.worlds.contract import Outcome, Signals, World, WorldEvent, WorldView
    from ptp.worlds.registry import Listed, choose_world, find_world, list_worlds, make_world
else:

    def __getattr__(name: str) -> Any:
        """Import a public name when it is used: a reader of runs does not wait for Gymnasium."""
        for module in ("contract", "registry") if name in __all__ else ():
            home = import_module(f"{__name__}.{module}")
            if name in vars(home):
                return getattr(home, name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "Listed",
    "Outcome",
    "Signals",
    "World",
    "WorldEvent",
    "WorldView",
    "choose_world",
    "find_world",
    "list_worlds",
    "make_world",
]
