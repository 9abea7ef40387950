"""Bringing a config file to another version."""

from __future__ import annotations

import difflib
from pathlib import Path

import msgspec

from ptp._util.files import write_atomic
from ptp.config.files import read_tree, read_values, version_of
from ptp.errors import ConfigError
from ptp.versioning.configs import check_version
from ptp.versioning.document import migrate_text


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
        _write(path, after)
    names = (f"{path} ({version})", f"{path} ({goal})")
    diff = "".join(difflib.unified_diff(before.splitlines(True), after.splitlines(True), *names))
    return MigratedFile(str(path), version, goal, [str(drop) for drop in dropped], diff, changed)


def _write(path: Path, text: str) -> None:
    target = path.resolve()
    try:
        mode = target.stat().st_mode
        write_atomic(target, text.encode())
        target.chmod(mode)
    except OSError as problem:
        raise ConfigError(f"{path} can't be written: {problem.strerror}; make it writable, or use --dry-run") from None
