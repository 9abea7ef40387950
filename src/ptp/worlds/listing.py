"""The worlds to choose from, and whether what each needs is installed."""

from __future__ import annotations

import importlib.util

import gymnasium
import msgspec

from ptp.worlds.registry import GAMEBOY, WORLDS, plugins

NEEDED = {"box2d": "Box2D", "mujoco": "mujoco", "phys2d": "jax", "tabular": "jax"}
"""The modules that Gymnasium's own families need, which are not installed with it."""
PLACEHOLDERS = {"GymV21Environment-v0", "GymV26Environment-v0"}


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


def world_names() -> list[str]:
    """Return the names of every world, ours first."""
    return [world.name for world in list_worlds()]


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
