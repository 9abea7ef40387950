"""Settings in YAML files, with the line and column of whatever is wrong."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from ptp.config.setting import Setting
from ptp.config.tree import BY_PATH, SECTIONS, VERSION, RunConfig, Values, as_tree
from ptp.errors import ConfigError, UnknownName

Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
Dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


Entries = list[tuple[str, yaml.Node]]
"""Names and values, in the order of the file."""


def dump(config: RunConfig) -> str:
    """Return the config as YAML."""
    return yaml.dump(as_tree(config), Dumper=Dumper, sort_keys=False, allow_unicode=True)


def say_on_stderr(note: str) -> None:
    """Tell a person something that is no error."""
    sys.stderr.write(f"ptp: {note}\n")


def read_values(path: Path, tell: Callable[[str], None] = say_on_stderr) -> Values:
    """Return the settings that a YAML file gives; one of an old version is migrated in memory, and *tell* hears so."""
    entries = entries_of(compose(path), path)
    version, told = read_version(entries, path)
    settings = [(key, node) for key, node in entries if key != "version"]
    if version == VERSION:
        found = _settings(settings, path)
    else:
        found = _old_settings(settings, version, told, path)
        tell(f"{path} has {told} and was read as version {VERSION}; bring it up to date: `ptp config migrate {path}`")
    return {item: item.check(_plain(node, path), f"{_place(node, path)}: {item.path}") for item, node in found.items()}


def read_tree(path: Path) -> dict[str, Any]:
    """Return a file as plain data, unchecked; its version is the text that stands there."""
    entries = entries_of(compose(path), path)
    text = {key: node.value for key, node in entries if key == "version" and isinstance(node, yaml.ScalarNode)}
    return {key: text.get(key) or _plain(node, path) for key, node in entries}


def read_version(entries: Entries, path: Path) -> tuple[str, str]:
    """Return the version of a file, and what it says of it in words."""
    node = dict(entries).get("version")
    if node is not None and node.value == VERSION:
        return VERSION, f"version {VERSION}"
    from ptp.versioning.configs import UNMARKED, VERSIONS  # here, so that a file of today does not pay for it

    if node is None:
        return UNMARKED, f"no version, which means {UNMARKED},"
    version = node.value if isinstance(node, yaml.ScalarNode) else "a list or section"
    if version not in VERSIONS:
        known = ", ".join(VERSIONS)
        raise ConfigError(f"{path}: the file has version {version!r}; this ptp reads {known}: get a newer ptp, or "
                          f'write version: "{VERSION}"')  # fmt: skip
    return version, f"version {version}"


def _settings(entries: Entries, path: Path) -> dict[Setting, yaml.Node]:
    found: dict[Setting, yaml.Node] = {}
    for key, node in entries:
        if key not in SECTIONS:
            raise _unknown("section", key, list(SECTIONS), node, path)
        for name, child in entries_of(node, path):
            item = BY_PATH.get(f"{key}.{name}")
            if item is None:
                known = [p.split(".")[1] for p in BY_PATH if p.startswith(key + ".")]
                raise _unknown(f"setting in {key}", name, known, child, path)
            found[item] = child
    return found


def _old_settings(entries: Entries, version: str, told: str, path: Path) -> dict[Setting, yaml.Node]:
    from ptp.versioning.configs import accepted_names, migrate_entries

    accepted = accepted_names(version)
    for key, node in entries:
        if key in SECTIONS and isinstance(node, yaml.MappingNode):
            raise ConfigError(f'{path}: the file has {told} but sections like {key!r}; write version: "{VERSION}"')
        if key not in accepted:
            raise _unknown(f"setting in version {version}", key, list(accepted), node, path)
    try:
        nodes, _ = migrate_entries(dict(entries), version, VERSION, _node)
    except ConfigError as problem:
        raise ConfigError(f"{path}: {problem}") from None
    return {BY_PATH[name]: node for name, node in nodes.items()}


def _node(value: Any) -> yaml.Node:
    node: yaml.Node = yaml.compose(yaml.safe_dump(value), Loader=Loader)
    return node


def compose(path: Path) -> yaml.Node:
    """Return a file as nodes that know their place in it."""
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


def entries_of(node: yaml.Node, path: Path) -> Entries:
    """Return the names and values of a mapping, each name once."""
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
