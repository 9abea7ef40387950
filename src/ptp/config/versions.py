"""Config files of any version: what differs from the settings there are, each with a fix, and migrating a file."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from ptp._util.files import write_atomic
from ptp.config.files import read_tree, read_values, version_of
from ptp.config.tree import BY_PATH
from ptp.errors import ConfigError
from ptp.versioning.configs import CONFIG_VERSION, UNMARKED, VERSIONS, check_version, known_names, newest_name
from ptp.versioning.document import migrate_text
from ptp.versioning.drift import Finding

CONFIG_KINDS = ("unknown_flags", "missing_required", "deprecated_flags", "type_mismatches", "value_warnings")


def config_drift(tree: Mapping[str, Any], file: str) -> list[Finding]:
    """Compare a config file, as plain data, with the settings of the newest version."""
    version = str(tree.get("version", UNMARKED))
    findings = [*_version(tree, file)]
    paths: dict[str, Any] = {}
    for name, value in _flat(tree):
        path, finding = _newest(name, version, file)
        if finding is not None:
            findings.append(finding)
        if path is not None:
            paths[path] = value
    pair = ("tick_rate.budget", "tick_rate.budget_limit")
    for one, other in (pair, pair[::-1]):
        if paths.get(one) is not None and paths.get(other) is None:
            fix = f"give {other}, or leave out {one}"
            findings.append(Finding("missing_required", other, f"belongs to {one}", fix))
    return [*findings, *_values(paths)]


def _flat(tree: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in tree.items():
        if isinstance(value, dict):
            yield from ((f"{name}.{key}", child) for key, child in value.items())
        elif name != "version":
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


def _newest(name: str, version: str, file: str) -> tuple[str | None, Finding | None]:
    """Return the newest path of a setting, and what is wrong with its name."""
    if name in BY_PATH:
        if version == CONFIG_VERSION:
            return name, None
        fix = f"write version: {CONFIG_VERSION!r}"
        return name, Finding("unknown_flags", name, f"version {version} has no sections", fix)
    for known in reversed(VERSIONS):
        if name in known_names(known):
            path = newest_name(name, known)
            fix = f"ptp config migrate {file}" if version != CONFIG_VERSION else f"write it as {path}"
            return path, Finding("deprecated_flags", name, f"is {path} since version {CONFIG_VERSION}", fix)
    names = known_names(version) if version in VERSIONS else ()
    nearest = difflib.get_close_matches(name, names or BY_PATH, n=1)
    fix = f"did you mean {nearest[0]!r}?" if nearest else "leave it out; `ptp config schema` lists every setting"
    return None, Finding("unknown_flags", name, "no such setting", fix)


def _values(paths: Mapping[str, Any]) -> Iterator[Finding]:
    for path, value in paths.items():
        item = BY_PATH[path]
        try:
            item.check(value, path)
        except ConfigError:
            has_type = type(value) is item.type or (item.type is tuple and isinstance(value, list))
            kind = "value_warnings" if has_type else "type_mismatches"
            yield Finding(kind, path, f"{value!r} is not allowed", f"write {item.allowed}")


class MigratedFile(msgspec.Struct):
    """What became of a file."""

    file: str
    from_version: str
    to_version: str
    dropped: list[str]
    diff: str
    written: bool


def migrate_file(path: Path, goal: str, *, write: bool) -> MigratedFile:
    """Take a file to the version *goal*; one with a wrong setting is refused, and nothing is written."""
    check_version(goal)
    read_values(path, tell=lambda _: None)
    version = version_of(read_tree(path), path)
    before = path.read_text(encoding="utf-8")
    after, dropped = migrate_text(before, version, goal) if version != goal else (before, [])
    changed = write and after != before
    if changed:
        try:
            target = path.resolve()
            mode = target.stat().st_mode
            write_atomic(target, after.encode())
            target.chmod(mode)
        except OSError as problem:
            remedy = "make it writable, or use --dry-run"
            raise ConfigError(f"{path} can't be written: {problem.strerror}; {remedy}") from None
    names = (f"{path} ({version})", f"{path} ({goal})")
    diff = "".join(difflib.unified_diff(before.splitlines(True), after.splitlines(True), *names))
    return MigratedFile(str(path), version, goal, dropped, diff, changed)
