"""Settings in YAML files, with the line and column of whatever is wrong, and the JSON Schema of such a file."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

from ptp._util import yaml
from ptp.config.setting import Setting
from ptp.config.tree import ALL_SETTINGS, BY_PATH, SECTIONS, VERSION, RunConfig, Values, as_tree
from ptp.errors import ConfigError, UnknownName

TYPES = {bool: "boolean", int: "integer", float: "number", str: "string", tuple: "array", dict: "object"}


class Found(NamedTuple):
    """A value in a file, and the names that lead to it."""

    value: Any
    names: tuple[str, ...]


def dump(config: RunConfig) -> str:
    """Return the config as YAML."""
    return yaml.dump(as_tree(config))


def say_on_stderr(note: str) -> None:
    """Print a note that is no error."""
    sys.stderr.write(f"ptp: {note}\n")


def read_values(path: Path, tell: Callable[[str], None] = say_on_stderr) -> Values:
    """Return the settings that a YAML file gives; one of an old version is migrated in memory, and *tell* hears so."""
    tree = read_tree(path)
    version = version_of(tree, path)
    if version == VERSION:
        found = _settings(tree, path)
    else:
        found = _old_settings(tree, version, path)
        tell(f"{path} has version {version} and was read as {VERSION}; update it with `ptp config migrate {path}`")
    values: Values = {}
    for item, entry in found.items():
        try:
            values[item] = item.check(entry.value, item.path)
        except ConfigError as problem:
            raise ConfigError(f"{yaml.place_of(path, *entry.names)}: {problem}") from None
    return values


def read_tree(path: Path) -> dict[str, Any]:
    """Return a file as plain data, unchecked; its version becomes text."""
    tree = yaml.read_yaml(path)
    if tree is None:
        raise ConfigError(f'{path}: the file is empty; it needs at least version: "{VERSION}"')
    if not isinstance(tree, dict):
        raise ConfigError(f"{path}:1:1: expected names with values, like `version: {VERSION}`")
    return {name: str(value) if name == "version" else value for name, value in tree.items()}


def version_of(tree: dict[str, Any], path: Path) -> str:
    """Return the version of a file; one that names none has the first."""
    version: str = tree.get("version", "")
    if version == VERSION:
        return VERSION
    from ptp.versioning.configs import UNMARKED, VERSIONS  # here, so that a file of today does not pay for it

    if version and version not in VERSIONS:
        raise ConfigError(
            f"{yaml.place_of(path, 'version')}: the file has version {version!r}; this ptp reads "
            f'{", ".join(VERSIONS)}: get a newer ptp, or write version: "{VERSION}"'
        )
    return version or UNMARKED


def _settings(tree: dict[str, Any], path: Path) -> dict[Setting, Found]:
    found = {}
    for section in tree:
        known = {item.key: item for item in BY_PATH.values() if item.section == section}
        if section == "version":
            continue
        if not known:
            raise _unknown("section", SECTIONS, path, section)
        if not isinstance(tree[section], dict):
            raise ConfigError(f"{yaml.place_of(path, section)}: expected names with values, like `normal: 10`")
        for name, value in tree[section].items():
            if name not in known:
                raise _unknown(f"setting in {section}", known, path, section, name)
            found[known[name]] = Found(value, (section, name))
    return found


def _old_settings(tree: dict[str, Any], version: str, path: Path) -> dict[Setting, Found]:
    from ptp.versioning.configs import accepted_names, migrate_entries

    entries = {name: Found(value, (name,)) for name, value in tree.items() if name != "version"}
    accepted = accepted_names(version)
    for name, found in entries.items():
        if name in SECTIONS and isinstance(found.value, dict):
            at = yaml.place_of(path, name)
            raise ConfigError(f'{at}: version {version} has no sections such as {name!r}; write version: "{VERSION}"')
        if name not in accepted:
            raise _unknown(f"setting in version {version}", accepted, path, name)
    try:
        migrated, _ = migrate_entries(entries, version, VERSION, lambda value: Found(value, ()))
    except ConfigError as problem:
        raise ConfigError(f"{path}: {problem}") from None
    return {BY_PATH[name]: found for name, found in migrated.items()}


def _unknown(kind: str, known: Iterable[str], path: Path, *names: str) -> ConfigError:
    return ConfigError(f"{yaml.place_of(path, *names)}: {UnknownName(kind, str(names[-1]), list(known))}")


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of a config file."""
    sections = {
        section: {
            "type": "object",
            "description": (cls.__doc__ or "").splitlines()[0],
            "additionalProperties": False,
            "properties": {item.key: _property(item) for item in ALL_SETTINGS if item.section == section},
        }
        for section, cls in SECTIONS.items()
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "ptp run configuration",
        "type": "object",
        "required": ["version"],
        "additionalProperties": False,
        "properties": {"version": {"const": VERSION}, **sections},
    }


def _property(item: Setting) -> dict[str, Any]:
    kind = TYPES[item.type]
    schema: dict[str, Any] = {
        "type": [kind, "null"] if item.optional else kind,
        "description": item.help,
        "default": list(item.default) if item.type is tuple else item.default,
    }
    if item.type is tuple:
        schema["items"] = {"enum": list(item.choices)}
        if item.further:
            schema["items"] = {"anyOf": [schema["items"], {"type": "string", "pattern": r"\S.*:.*\S"}]}
    elif item.choices:
        schema["enum"] = [*item.choices, *([None] if item.optional else [])]
    if item.least is not None:
        schema["minimum"] = item.least
    if item.most is not None:
        schema["maximum"] = item.most
    return schema
