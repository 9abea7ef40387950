"""Gymnasium worlds and their facts."""

from ptp.worlds.contract import Outcome, Signals, World, WorldEvent
from ptp.worlds.registry import choose_world, find_world, make_world, world_names

__all__ = [
    "Outcome",
    "Signals",
    "World",
    "WorldEvent",
    "choose_world",
    "find_world",
    "make_world",
    "world_names",
]
