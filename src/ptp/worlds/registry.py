"""Which worlds there are: a table of names, installed plug-ins, manifests, files, and all of Gymnasium.

A manifest is a YAML file, so that a world with its own options needs no code::

    name: big-lake
    entry: ptp.worlds.toy_text:ToyTextWorld   # optional; without it any Gymnasium environment
    options:
      id: FrozenLake-v1
      map_name: 8x8
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
from collections.abc import Collection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import gymnasium
import msgspec

from ptp._util.loading import blame, decode_options, load_class, load_module
from ptp._util.yaml import read_yaml
from ptp.config.tree import World as WorldConfig
from ptp.errors import ConfigError, PtpError, UnknownName, WorldError
from ptp.records import WorldSpec
from ptp.worlds.contract import World
from ptp.worlds.gym import Env, find_env, make_env

TOY_TEXT = "ptp.worlds.toy_text:ToyTextWorld"
GYMNASIUM = "ptp.worlds.contract:World"
GAMEBOY = "ptp.worlds.gameboy.world:GameBoyWorld"
SERVER = "ptp.emulators.adapter:PokemonGymAdapter"
GROUP = "ptp.worlds"

WORLDS: dict[str, str] = {
    "FrozenLake-v1": TOY_TEXT,
    "FrozenLake8x8-v1": TOY_TEXT,
    "CliffWalking-v1": TOY_TEXT,
    "CliffWalkingSlippery-v1": TOY_TEXT,
    "Taxi-v4": TOY_TEXT,
    "Blackjack-v1": TOY_TEXT,
    "tallgrass": GAMEBOY,
}

DEFAULT = "tallgrass"
"""The world of a run that names none."""

NEEDED = {"box2d": "Box2D", "mujoco": "mujoco", "phys2d": "jax", "tabular": "jax"}
"""The modules that Gymnasium's own families need, which are not installed with it."""
PLACEHOLDERS = {"GymV21Environment-v0", "GymV26Environment-v0"}

ALWAYS = ("name", "rom", "render_mode", "options")
DEFAULTS: dict[str, Any] = {item.name: item.default for item in WorldConfig.settings if item.name not in ALWAYS}
"""The settings that are options of some worlds, with their defaults."""


class Manifest(msgspec.Struct, forbid_unknown_fields=True):
    """The fields of a manifest file."""

    name: str
    options: dict[str, Any]
    entry: str = GYMNASIUM


def plugins() -> dict[str, str]:
    """Return the worlds of installed packages: names and entries."""
    return {plugin.name: plugin.value for plugin in importlib.metadata.entry_points(group=GROUP)}


def find_world(name: str) -> WorldSpec:
    """Return how to make the world of that name: ours, a server's, a plug-in's, a manifest, a class, a Gymnasium id."""
    if name.endswith((".yaml", ".yml")):
        try:
            manifest = msgspec.convert(read_yaml(Path(name)), Manifest)
        except msgspec.ValidationError as problem:
            raise ConfigError(f"{name}: not a world manifest: {' '.join(str(problem).split())}") from None
        return WorldSpec(manifest.name, manifest.entry, manifest.options)
    if name.startswith(("http://", "https://")):
        return _server(name)
    if name in WORLDS:
        return WorldSpec(name, WORLDS[name], {"rom": name} if WORLDS[name] == GAMEBOY else {"id": name})
    installed = plugins()
    if name in installed:
        return WorldSpec(name, installed[name])
    place, _, attribute = name.rpartition(":")
    if place.endswith(".py"):
        path = Path(place).absolute()
        return WorldSpec(f"{path.name}:{attribute}", f"{path}:{attribute}")
    if name.endswith(".py"):
        raise ConfigError(f"--world {name} names no class; write {name}:Class")
    if attribute.isidentifier() and place and not _registers(place, attribute):
        return WorldSpec(name, name)
    return WorldSpec(name, GYMNASIUM, {"id": name})


def _server(url: str) -> WorldSpec:
    """Return the world of a game server; a login in the address would be recorded, so it is refused."""
    address = url.rstrip("/")
    if "@" in urlsplit(address).netloc:
        shown = address.rpartition("@")[2]
        raise ConfigError(f"--world: the login before {shown} would be recorded; leave it out, and set PTP_TOKEN")
    return WorldSpec(address, SERVER, {"id": address})


def _registers(place: str, name: str) -> bool:
    """Whether a module has no class of that name, but Gymnasium knows an environment of it."""
    if hasattr(load_module(place), name):
        return False
    try:
        find_env(name)
    except gymnasium.error.Error:
        return False
    return True


def choose_world(config: WorldConfig, given: Collection[str] = ()) -> WorldSpec:
    """Return the world that a config asks for: one by name, a cartridge file, or the default.

    *given* has the paths of the settings that were given, such as `world.frames_per_tick`: one that the world does not
    take is refused even when it has its default.
    """
    if config.rom is not None and config.name is not None:
        raise ConfigError(f"--world {config.name} and --rom exclude each other; leave one out")
    if config.rom is not None:
        path = Path(config.rom).absolute()
        spec = WorldSpec(path.stem, GAMEBOY, {"rom": str(path)})
    else:
        spec = find_world(config.name or DEFAULT)
    kind = world_class(spec)
    takes = kind.Options if issubclass(kind, World) else None
    options = {**spec.options, **config.options}
    for name, default in DEFAULTS.items():
        value = getattr(config, name)
        if value == default and f"world.{name}" not in given:
            continue
        if takes is None or name not in takes.__struct_fields__:
            flag = "--" + name.replace("_", "-")
            raise ConfigError(f"{flag} is for Game Boy cartridges, and {spec.name!r} is none; leave it out")
        options[name] = value
    if takes is not None:
        decode_options(f"world {spec.name!r}", options, takes)
    return WorldSpec(spec.name, spec.entry, options)


def world_class(spec: WorldSpec) -> type[World] | type[Env]:
    """Return the class of a world, which is imported only now."""
    return load_class("a world", spec.entry, World, gymnasium.Env)


def make_world(spec: WorldSpec, render_mode: str | None = None, *, trusted: bool = False) -> World:
    """Make a world; unless *trusted*, only code that is installed as a world, never what a run's files name."""
    code = None if trusted else foreign_code(spec)
    if code is not None:
        raise WorldError(
            f"world {spec.name!r} needs what is not installed as a world: {code}; if you trust it, add --trust"
        )
    kind = world_class(spec)
    try:
        if issubclass(kind, World):
            return kind(spec, render_mode)
        return World(spec, render_mode, make_env(spec, render_mode, kind))
    except UnknownName as problem:
        if not isinstance(problem.__cause__, gymnasium.error.Error):  # such as a profile, not an environment
            raise
        raise UnknownName("world", spec.name, [*WORLDS, *plugins(), *gymnasium.registry], "see `ptp worlds`") from None
    except PtpError:
        raise
    except Exception as problem:
        raise WorldError(f"world {spec.name!r} can't be made: {blame(problem)}") from problem


def foreign_code(spec: WorldSpec) -> str | None:
    """Return the code of a world that is not installed as one; None for a world that anybody may name."""
    env_id = str(spec.options.get("id", spec.name))
    if spec.entry not in {GYMNASIUM, SERVER, *WORLDS.values(), *plugins().values()}:
        return spec.entry
    if "spec" in spec.options:
        return _foreign_env(str(spec.options["spec"]))
    if spec.entry != GAMEBOY and (":" in env_id or env_id.startswith("GymV")):  # the latter make any environment
        return env_id
    return None


def _foreign_env(recorded: str) -> str | None:
    """Return what Gymnasium's JSON of an environment would import beside registered environments and its wrappers."""
    try:
        env = json.loads(recorded)
        known = gymnasium.registry.get(env["id"])
        if known is None or known.entry_point != env["entry_point"]:
            return str(env["entry_point"])
        wrappers = [str(wrapper["entry_point"]) for wrapper in env["additional_wrappers"]]
    except (ValueError, LookupError, TypeError) as problem:
        raise WorldError(f"not the JSON of a Gymnasium environment: {problem!r}") from None
    return next((wrapper for wrapper in wrappers if not wrapper.startswith("gymnasium.wrappers.")), None)


class Listed(msgspec.Struct, frozen=True):
    """A world to choose."""

    name: str
    family: str
    missing: str | None = None
    """Why it can't be played here; None when it can."""


def list_worlds() -> list[Listed]:
    """Return every world that has a name, ours first."""
    ours = [Listed(name, "gameboy" if entry == GAMEBOY else "toy_text") for name, entry in WORLDS.items()]
    installed = [Listed(name, "plug-in", _absent(entry)) for name, entry in plugins().items()]
    found = {world.name: world for world in [*ours, *installed]}
    others = (_registered(name) for name in gymnasium.registry if name not in PLACEHOLDERS | found.keys())
    return [*found.values(), *others]


def _registered(name: str) -> Listed:
    entry = gymnasium.registry[name].entry_point
    if not isinstance(entry, str):
        return Listed(name, "gymnasium", "Gymnasium no longer has it; choose a newer version")
    package, _, rest = entry.partition(":")[0].partition(".envs.")
    if package != "gymnasium":
        return Listed(name, package.split(".")[0], _absent(entry))
    family = rest.split(".")[0]
    module = NEEDED.get(family)
    if module is None or importlib.util.find_spec(module):
        return Listed(name, family)
    extra = "jax" if module == "jax" else family
    return Listed(name, family, f"needs {module}: pip install 'gymnasium[{extra}]'")


def _absent(entry: str) -> str | None:
    package = entry.partition(":")[0].split(".")[0]
    return None if importlib.util.find_spec(package) else f"needs the package {package}"
