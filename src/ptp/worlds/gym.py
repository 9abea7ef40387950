"""Making Gymnasium environments: the one place where Gymnasium's errors become ours."""

from __future__ import annotations

import importlib.metadata
import inspect
import os
import platform
import sys
import warnings
from hashlib import sha1
from pathlib import Path
from typing import Any, TypeAlias

import gymnasium
from gymnasium import error
from gymnasium.envs.registration import EnvSpec, find_highest_version, get_env_id, load_env_creator, parse_env_id

from ptp._util.loading import load_module
from ptp.errors import UnknownName, WorldError
from ptp.records import WorldSpec

# Pictures are drawn in memory; no window system is asked for, and pygame does not greet.
os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")

Env: TypeAlias = gymnasium.Env[Any, Any]
WINDOW = "human"


def make_env(spec: WorldSpec, render_mode: str | None, environment: str | type[Env] | None = None) -> Env:
    """Make the environment in the render mode asked for, or in the best one it has.

    It is what the options say (`spec`, Gymnasium's own JSON of an environment with its wrappers, or `id`), else
    *environment*; the other options are its arguments.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of old versions and the like; what goes wrong is an error
            options = dict(spec.options)
            recorded, env_id = options.pop("spec", None), options.pop("id", None)
            if recorded is not None:
                env_spec = EnvSpec.from_json(recorded)
            elif env_id is None and isinstance(environment, type):
                env_spec = EnvSpec(environment.__name__, environment)  # type: ignore[arg-type]
            else:
                try:
                    env_spec = find_env(str(env_id or environment or spec.name))
                except error.Error as problem:
                    raise UnknownName("world", spec.name, list(gymnasium.registry), "see `ptp worlds`") from problem
            mode = negotiate(spec.name, env_spec, render_mode)
            if mode is not None or "render_mode" in env_spec.kwargs:  # not every environment takes one
                options["render_mode"] = mode
            return gymnasium.make(env_spec, disable_env_checker=True, **options)
    except error.DependencyNotInstalled as problem:
        raise WorldError(f"world {spec.name!r} needs more packages: {problem}") from None
    except (error.Error, ImportError, TypeError, ValueError, LookupError, AttributeError) as problem:
        raise WorldError(f"world {spec.name!r} can't be made: {' '.join(str(problem).split())}") from problem


def find_env(env_id: str) -> EnvSpec:
    """Return the environment of an id; without a version it is the newest, and a module before it is imported."""
    module, _, plain = env_id.rpartition(":")
    if module:
        load_module(module)
    namespace, name, version = parse_env_id(plain)
    newest = find_highest_version(namespace, name) if version is None else version
    return gymnasium.spec(get_env_id(namespace, name, newest))


def negotiate(name: str, env_spec: EnvSpec, wanted: str | None) -> str | None:
    """Return the render mode to make a world with; what it can't give is refused here, not in mid-run."""
    entry = env_spec.entry_point
    creator: Any = load_env_creator(entry) if isinstance(entry, str) else entry
    metadata = getattr(creator, "metadata", {})
    modes = list(metadata.get("render_modes", ())) if isinstance(metadata, dict) else []
    recorded = env_spec.kwargs.get("render_mode")
    if wanted is None and recorded not in (None, WINDOW):
        return str(recorded)
    if wanted is None:
        return next((mode for mode in ("rgb_array", "ansi") if mode in modes and _takes_mode(creator)), None)
    if wanted not in modes:
        offered = ", ".join(mode for mode in modes if mode != WINDOW) or "none"
        raise WorldError(f"world {name!r} can't render {wanted!r}; it offers: {offered}")
    return wanted


def _takes_mode(creator: Any) -> bool:
    """Whether an environment lets its maker choose the render mode; one that does not has its own."""
    arguments = inspect.signature(creator).parameters.values()
    return any(it.name == "render_mode" or it.kind is it.VAR_KEYWORD for it in arguments)


def package_versions(module: str) -> dict[str, str]:
    """Return the versions that a replay depends on: Python, Gymnasium, and the package the world lives in."""
    package = module.split(".")[0]
    names = {"gymnasium", "numpy", package} | ({"box2d"} if "box2d" in module else set())
    found = {"python": platform.python_version()}
    for name in sorted(names):
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            file = getattr(sys.modules.get(module), "__file__", None)
            if file is not None:  # in no installed package: its hash stands for the version
                found[Path(file).name] = sha1(Path(file).read_bytes()).hexdigest()
    return found
