"""Making Gymnasium environments: the one place where Gymnasium's errors become ours."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import warnings
from typing import Any

import gymnasium
from gymnasium import error

from ptp.errors import UnknownName, WorldError
from ptp.records import WorldSpec

# Pictures are drawn in memory; no window system is asked for, and pygame does not greet.
os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")


def make_env(spec: WorldSpec, render_mode: str | None) -> gymnasium.Env[Any, Any]:
    """Make the environment in the render mode asked for, or in the best one it has."""
    options = dict(spec.options)
    env_id = options.pop("id", spec.name)
    mode = negotiate(spec.name, env_id, render_mode)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*(out of date|is deprecated).*")
            return gymnasium.make(env_id, render_mode=mode, disable_env_checker=True, **options)
    except error.DependencyNotInstalled as problem:
        raise WorldError(f"world {spec.name!r} needs more packages: {problem}") from None
    except (error.Error, ImportError, TypeError, AttributeError) as problem:
        raise WorldError(f"world {spec.name!r} can't be made: {' '.join(str(problem).split())}") from problem


def negotiate(name: str, env_id: str, wanted: str | None) -> str | None:
    """Return the render mode to make a world with; what it can't give is refused here, not in mid-run."""
    modes = _render_modes(name, env_id)
    if wanted is None:
        return next((mode for mode in ("rgb_array", "ansi") if mode in modes), None)
    if wanted not in modes:
        offered = ", ".join(mode for mode in modes if mode != "human") or "none"
        raise WorldError(f"world {name!r} can't render {wanted!r}; it offers: {offered}")
    return wanted


def _render_modes(name: str, env_id: str) -> list[str]:
    try:
        entry = gymnasium.spec(env_id).entry_point
        maker = gymnasium.envs.registration.load_env_creator(entry) if isinstance(entry, str) else entry
    except error.DependencyNotInstalled as problem:
        raise WorldError(f"world {name!r} needs more packages: {problem}") from None
    except (error.UnregisteredEnv, error.Error) as problem:
        from ptp.worlds.registry import WORLDS

        raise UnknownName("world", name, [*WORLDS, *gymnasium.registry], "see `ptp worlds`") from problem
    except (ImportError, AttributeError) as problem:
        raise WorldError(f"world {name!r} can't be made: {problem}; install the package it lives in") from None
    metadata: dict[str, Any] = getattr(maker, "metadata", {})
    return list(metadata.get("render_modes", ()))


def package_versions(module: str) -> dict[str, str]:
    """Return the versions that a replay depends on: Python, Gymnasium, and the package the world lives in."""
    names = {"gymnasium", "numpy", module.split(".")[0]}
    if "box2d" in module:
        names.add("box2d")
    found = {"python": platform.python_version()}
    for name in sorted(names):
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue  # a world of the user's own, that is not an installed package
    return found
