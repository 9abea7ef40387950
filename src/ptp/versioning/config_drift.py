"""What differs between a config file and the settings there are, each with a fix."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any, Protocol

from ptp.errors import ConfigError
from ptp.versioning.configs import CONFIG_VERSION, UNMARKED, VERSIONS, known_names, newest_name
from ptp.versioning.drift import Finding

CONFIG_KINDS = ("unknown_flags", "missing_required", "deprecated_flags", "type_mismatches", "value_warnings")


class Declared(Protocol):
    """What must be known of a setting."""

    @property
    def type(self) -> type:
        """The plain type of its values."""

    @property
    def optional(self) -> bool:
        """Whether it may be null."""

    @property
    def default(self) -> Any:
        """What it is when nothing is said."""

    @property
    def allowed(self) -> str:
        """What it may be, in words."""

    @property
    def needs(self) -> str | None:
        """The feature it waits for."""

    def check(self, value: Any, where: str) -> Any:
        """Return a value that is allowed, or raise ConfigError."""


def config_drift(tree: Mapping[str, Any], settings: Mapping[str, Declared], file: str) -> list[Finding]:
    """Compare a config file, as plain data, with the newest settings, by their paths."""
    version = str(tree.get("version", UNMARKED))
    given = {name: value for name, value in _flat(tree) if name != "version"}
    findings = [*_version(tree, file)]
    paths: dict[str, Any] = {}
    for name, value in given.items():
        path, finding = _newest(name, version, settings, file)
        if finding is not None:
            findings.append(finding)
        if path is not None:
            paths[path] = value
    return [*findings, *_together(paths), *_values(paths, settings)]


def _flat(tree: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in tree.items():
        if isinstance(value, dict):
            yield from ((f"{name}.{key}", child) for key, child in value.items())
        else:
            yield str(name), value


def _version(tree: Mapping[str, Any], file: str) -> Iterator[Finding]:
    fix = f"ptp config migrate {file}"
    if "version" not in tree:
        yield Finding("missing_required", "version", f"no version means {UNMARKED}", fix)
    elif str(tree["version"]) not in VERSIONS:
        fix = f"get a newer ptp, or write version: {CONFIG_VERSION!r}"
        yield Finding("value_warnings", "version", f"{tree['version']!r} is not one of {', '.join(VERSIONS)}", fix)
    elif str(tree["version"]) != CONFIG_VERSION:
        yield Finding("deprecated_flags", "version", f"the newest version is {CONFIG_VERSION}", fix)


def _newest(name: str, version: str, settings: Mapping[str, Declared], file: str) -> tuple[str | None, Finding | None]:
    """Return the newest path of a setting, and what is to be said of its name."""
    if name in settings:
        if version == CONFIG_VERSION:
            return name, None
        fix = f"write version: {CONFIG_VERSION!r}"
        return name, Finding("unknown_flags", name, f"version {version} has no sections", fix)
    for known in reversed(VERSIONS):
        if name in known_names(known):
            path = newest_name(name, known)
            fix = f"ptp config migrate {file}" if version != CONFIG_VERSION else f"write it as {path}"
            return path, Finding("deprecated_flags", name, f"is {path} since version {CONFIG_VERSION}", fix)
    names = known_names(version) if version in VERSIONS and version != CONFIG_VERSION else settings.keys()
    nearest = get_close_matches(name, names, n=1)
    fix = f"did you mean {nearest[0]!r}?" if nearest else "leave it out; `ptp config schema` lists every setting"
    return None, Finding("unknown_flags", name, "no such setting", fix)


def _together(paths: Mapping[str, Any]) -> Iterator[Finding]:
    pair = ("tick_rate.budget", "tick_rate.budget_limit")
    for one, other in (pair, pair[::-1]):
        if paths.get(one) is not None and paths.get(other) is None:
            yield Finding("missing_required", other, f"belongs to {one}", f"give {other}, or leave out {one}")


def _values(paths: Mapping[str, Any], settings: Mapping[str, Declared]) -> Iterator[Finding]:
    for path, value in paths.items():
        item = settings[path]
        try:
            checked = item.check(value, path)
        except ConfigError:
            kind = "value_warnings" if _has_type(value, item) else "type_mismatches"
            yield Finding(kind, path, f"{value!r} is not allowed", f"write {item.allowed}")
            continue
        if item.needs and checked != item.default:
            fix = f"leave it out, or write {item.default!r}"
            yield Finding("value_warnings", path, f"not available yet: {item.needs} come in a later version", fix)


def _has_type(value: Any, item: Declared) -> bool:
    if value is None:
        return item.optional
    return type(value) is item.type or (item.type is tuple and isinstance(value, list))
