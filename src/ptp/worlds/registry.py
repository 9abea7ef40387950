"""Which worlds there are: a table of names, installed plug-ins, manifests, and all of Gymnasium."""

from __future__ import annotations

import importlib
import importlib.metadata
from pathlib import Path

from ptp.errors import WorldError
from ptp.worlds.contract import World, WorldSpec

TOY_TEXT = "ptp.worlds.toy_text:ToyTextWorld"
GYMNASIUM = "ptp.worlds.contract:World"

WORLDS: dict[str, str] = {
    "FrozenLake-v1": TOY_TEXT,
    "FrozenLake8x8-v1": TOY_TEXT,
    "CliffWalking-v1": TOY_TEXT,
    "CliffWalkingSlippery-v1": TOY_TEXT,
    "Taxi-v4": TOY_TEXT,
    "Blackjack-v1": TOY_TEXT,
}


def find_world(name: str) -> WorldSpec:
    """Return how to make the world of that name: ours, a plug-in's, a manifest file, or any Gymnasium id."""
    if name.endswith((".yaml", ".yml")):
        from ptp.worlds.manifest import read_manifest

        return read_manifest(Path(name))
    if name in WORLDS:
        return WorldSpec(name, WORLDS[name], {"id": name})
    for plugin in importlib.metadata.entry_points(group="ptp.worlds"):
        if plugin.name == name:
            return WorldSpec(name, plugin.value)
    return WorldSpec(name, GYMNASIUM, {"id": name})


def make_world(spec: WorldSpec, render_mode: str | None = None) -> World:
    """Make a world; its class is imported only now."""
    module, _, attribute = spec.entry.partition(":")
    try:
        cls = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as problem:
        raise WorldError(f"world {spec.name!r} can't be made: {problem}") from None
    world: World = cls(spec, render_mode)
    return world


def world_names() -> list[str]:
    """Return the names of every world that can be made, ours first."""
    import gymnasium

    plugins = [plugin.name for plugin in importlib.metadata.entry_points(group="ptp.worlds")]
    others = [name for name in gymnasium.registry if not name.startswith("GymV")]
    return [*dict.fromkeys([*WORLDS, *plugins, *others])]
