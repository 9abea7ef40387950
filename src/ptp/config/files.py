"""Settings in YAML files, with the line and column of whatever is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from ptp.config.tree import BY_PATH, SECTIONS, VERSION, RunConfig, Values, as_tree
from ptp.errors import ConfigError, UnknownName

Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
Dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


def dump(config: RunConfig) -> str:
    """Return the config as YAML."""
    return yaml.dump(as_tree(config), Dumper=Dumper, sort_keys=False, allow_unicode=True)


def read_values(path: Path) -> Values:
    """Return the settings that a YAML file gives."""
    root = _compose(path)
    values: Values = {}
    version = None
    for key, node in _entries(root, path):
        if key == "version":
            version = _plain(node, path)
        elif key in SECTIONS:
            for name, child in _entries(node, path):
                item = BY_PATH.get(f"{key}.{name}")
                if item is None:
                    known = [p.split(".")[1] for p in BY_PATH if p.startswith(key + ".")]
                    raise _unknown(f"setting in {key}", name, known, child, path)
                values[item] = item.check(_plain(child, path), f"{_place(child, path)}: {item.path}")
        else:
            raise _unknown("section", key, list(SECTIONS), node, path)
    if version != VERSION:
        told = "no version" if version is None else f"version {version!r}"
        raise ConfigError(f'{path}: the file has {told}; this ptp reads files that say version: "{VERSION}"')
    return values


def _compose(path: Path) -> yaml.Node:
    try:
        root: yaml.Node | None = yaml.compose(path.read_text(encoding="utf-8"), Loader=Loader)
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}; name a YAML file that can be read") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: not UTF-8 text; name a YAML file") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f":{mark.line + 1}:{mark.column + 1}" if mark else ""
        problem = getattr(error, "problem", None) or str(error).splitlines()[0]
        raise ConfigError(f"{path}{place}: not valid YAML: {problem}") from None
    if root is None:
        raise ConfigError(f'{path}: the file is empty; it needs at least version: "{VERSION}"')
    return root


def _entries(node: yaml.Node, path: Path) -> list[tuple[str, yaml.Node]]:
    if not isinstance(node, yaml.MappingNode):
        raise ConfigError(f"{_place(node, path)}: expected names with values, like `normal: 10`")
    seen: set[str] = set()
    for key, _ in node.value:
        if key.value in seen:
            raise ConfigError(f"{_place(key, path)}: {key.value!r} is given twice; keep one")
        seen.add(key.value)
    return [(key.value, child) for key, child in node.value]


def _plain(node: yaml.Node, path: Path) -> Any:
    constructor = yaml.SafeLoader("")
    try:
        return constructor.construct_object(node, deep=True)
    except yaml.YAMLError as error:
        raise ConfigError(f"{_place(node, path)}: {getattr(error, 'problem', error)}") from None
    finally:
        constructor.dispose()


def _place(node: yaml.Node, path: Path) -> str:
    return f"{path}:{node.start_mark.line + 1}:{node.start_mark.column + 1}"


def _unknown(kind: str, name: str, known: list[str], node: yaml.Node, path: Path) -> ConfigError:
    place = f"{path}:{node.start_mark.line + 1}"
    return ConfigError(f"{place}: {UnknownName(kind, name, known)}")
