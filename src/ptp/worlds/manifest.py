"""Worlds described by a file, so that a world with its own options needs no code.

A manifest looks like this::

    name: big-lake
    entry: ptp.worlds.toy_text:ToyTextWorld   # optional; without it any Gymnasium environment
    options:
      id: FrozenLake-v1
      map_name: 8x8
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from ptp._util.yaml import read_yaml
from ptp.errors import ConfigError
from ptp.records import WorldSpec


class Manifest(msgspec.Struct, forbid_unknown_fields=True):
    """The fields of a manifest file."""

    name: str
    options: dict[str, Any]
    entry: str = "ptp.worlds.contract:World"


def read_manifest(path: Path) -> WorldSpec:
    """Return the world that a manifest file describes."""
    try:
        manifest = msgspec.convert(read_yaml(path), Manifest)
    except msgspec.ValidationError as problem:
        raise ConfigError(f"{path}: not a world manifest: {' '.join(str(problem).split())}") from None
    return WorldSpec(manifest.name, manifest.entry, manifest.options)
