"""Config files of any version: what differs from the settings there are, each with a fix, and migrating a file."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from ptp._util.files import write_atomic
from ptp.config.files import read_tree, read_values, version_of
from ptp.config.tree import BY_PATH
from ptp.errors import ConfigError
from ptp.versioning.configs import (
    CONFIG_VERSION,
    UNMARKED,
    VERSIONS,
    check_version,
    known_names,
    migrate_entries,
    newest_name,
)
from ptp.versioning.document import migrate_text
from ptp.versioning.drift import Finding

CONFIG_KINDS = ("unknown_flags", "missing_required", "deprecated_flags", "type_mismatches", "value_warnings")


class TypeMismatch(Finding, frozen=True):
    """A setting whose value has another type than it should."""

    flag: str
    expected: str
    actual: str


def config_drift(tree: Mapping[str, Any], file: str, reference: str = CONFIG_VERSION) -> list[Finding]:
    """Compare a config file, as plain data, with the settings of a version."""
    check_version(reference)
    version = str(tree.get("version", UNMARKED))
    findings = [*_version(tree, file, reference)]
    paths: dict[str, Any] = {}
    for name, value in _flat(tree):
        path, finding = _newest(name, version, file, reference)
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


def _version(tree: Mapping[str, Any], file: str, reference: str) -> Iterator[Finding]:
    fix, known = _migrate(file, reference), list(VERSIONS)
    if "version" not in tree:
        yield Finding("missing_required", "version", f"no version means {UNMARKED}", fix)
        return
    version = str(tree["version"])
    if version not in known:
        fix = f"get a newer ptp, or write version: {reference!r}"
        yield Finding("value_warnings", "version", f"{tree['version']!r} is not one of {', '.join(known)}", fix)
    elif version != reference:
        kind = "deprecated_flags" if known.index(version) < known.index(reference) else "value_warnings"
        newest = "the newest version" if reference == CONFIG_VERSION else "the version to compare with"
        yield Finding(kind, "version", f"{newest} is {reference}", fix)


def _migrate(file: str, goal: str) -> str:
    return f"ptp config migrate {file}" + (f" --to {goal}" if goal != CONFIG_VERSION else "")


def _names(version: str) -> Collection[str]:
    return BY_PATH if version == CONFIG_VERSION else known_names(version) if version in VERSIONS else ()


def _newest(name: str, version: str, file: str, reference: str) -> tuple[str | None, Finding | None]:
    """Return the newest path of a setting, and what is wrong with its name."""
    if name in _names(reference):
        path = newest_name(name, reference)
        if version == reference or name in _names(version):
            return path, None
        fix = f"write version: {reference!r}"
        return path, Finding("unknown_flags", name, f"version {version} has no such setting", fix)
    for known in reversed(VERSIONS):
        if name in _names(known):
            return newest_name(name, known), _renamed(name, known, version, file, reference)
    names = _names(version) or BY_PATH
    nearest = difflib.get_close_matches(name, names, n=1)
    fix = f"did you mean {nearest[0]!r}?" if nearest else "leave it out; `ptp config schema` lists every setting"
    return None, Finding("unknown_flags", name, "no such setting", fix)


def _renamed(name: str, known: str, version: str, file: str, reference: str) -> Finding:
    """Return what to do about a setting that another version has."""
    renamed, _ = migrate_entries({name: True}, known, reference, lambda _: False)
    new = next((other for other, is_it in renamed.items() if is_it), None)
    if new is None:
        return Finding("unknown_flags", name, f"version {reference} has no such setting", "leave it out")
    fix = _migrate(file, reference) if version != reference else f"write it as {new}"
    return Finding("deprecated_flags", name, f"is {new} in version {reference}", fix)


def _values(paths: Mapping[str, Any]) -> Iterator[Finding]:
    for path, value in paths.items():
        item = BY_PATH[path]
        problem, fix = f"{value!r} is not allowed", f"write {item.allowed}"
        try:
            item.check(value, path)
        except ConfigError:
            if type(value) is item.type or (item.type is tuple and isinstance(value, list)):
                yield Finding("value_warnings", path, problem, fix)
            else:
                expected, actual = ("list" if it is tuple else it.__name__ for it in (item.type, type(value)))
                yield TypeMismatch("type_mismatches", path, problem, fix, item.flag, expected, actual)


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
