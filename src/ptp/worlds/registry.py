"""Which worlds there are: a table of names, installed plug-ins, manifests, and all of Gymnasium."""

from __future__ import annotations

import importlib
import importlib.metadata
from pathlib import Path

from ptp.config.tree import World as WorldConfig
from ptp.errors import ConfigError, WorldError
from ptp.records import WorldSpec
from ptp.worlds.contract import World

TOY_TEXT = "ptp.worlds.toy_text:ToyTextWorld"
GYMNASIUM = "ptp.worlds.contract:World"
GAMEBOY = "ptp.worlds.gameboy.world:GameBoyWorld"

CARTRIDGE_OPTIONS = ("profile", "frames_per_tick", "start_state", "save_file")
DEFAULTS = {name: getattr(WorldConfig(), name) for name in CARTRIDGE_OPTIONS}

WORLDS: dict[str, str] = {
    "FrozenLake-v1": TOY_TEXT,
    "FrozenLake8x8-v1": TOY_TEXT,
    "CliffWalking-v1": TOY_TEXT,
    "CliffWalkingSlippery-v1": TOY_TEXT,
    "Taxi-v4": TOY_TEXT,
    "Blackjack-v1": TOY_TEXT,
    "tallgrass": GAMEBOY,
}


def find_world(name: str) -> WorldSpec:
    """Return how to make the world of that name: ours, a plug-in's, a manifest file, or any Gymnasium id."""
    if name.endswith((".yaml", ".yml")):
        from ptp.worlds.manifest import read_manifest

        return read_manifest(Path(name))
    if name in WORLDS:
        return WorldSpec(name, WORLDS[name], {"rom": name} if WORLDS[name] == GAMEBOY else {"id": name})
    for plugin in importlib.metadata.entry_points(group="ptp.worlds"):
        if plugin.name == name:
            return WorldSpec(name, plugin.value)
    return WorldSpec(name, GYMNASIUM, {"id": name})


def choose_world(config: WorldConfig) -> WorldSpec:
    """Return the world that a config asks for: one by name, or a cartridge file."""
    if config.rom is not None:
        if config.name is not None:
            raise ConfigError(f"--world {config.name} and --rom exclude each other; leave one out")
        path = Path(config.rom).absolute()
        spec = WorldSpec(path.stem, GAMEBOY, {"rom": str(path)})
    elif config.name is not None:
        spec = find_world(config.name)
    else:
        raise ConfigError("no world is named; give one with --world or a cartridge with --rom, see `ptp worlds`")
    given = {name: getattr(config, name) for name in CARTRIDGE_OPTIONS if getattr(config, name) != DEFAULTS[name]}
    if given and spec.entry != GAMEBOY:
        flag = "--" + next(iter(given)).replace("_", "-")
        raise ConfigError(f"{flag} is for Game Boy cartridges, and {spec.name!r} is none; leave it out")
    return WorldSpec(spec.name, spec.entry, {**spec.options, **given})


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
