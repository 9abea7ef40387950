"""The versions that a config file can have; each step up is a file of rules, which a step down reads backwards."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from ptp.errors import UnknownName
from ptp.versioning import paths
from ptp.versioning.paths import Step
from ptp.versioning.rules import Rule, apply_rules, inverse, parse_rules

T = TypeVar("T")

CONFIG_VERSION = "3.0"
UNMARKED = "1.0"
"""The version of a file that names none."""

VERSIONS = {
    "1.0": "one level of names, after the flags",
    "2.0": "renames tick_rate_base to tick_rate_overworld; adds tick_rate_battle",
    "3.0": "settings in sections: tick_rate.normal, screenshot.interval, ...",
}
"""Every version, oldest first, and what it changed."""


class Dropped(NamedTuple):
    """A setting that an older version has no place for."""

    name: str
    version: str

    def __str__(self) -> str:
        return f"{self.name}: version {self.version} has no such setting"


def check_version(version: str) -> str:
    """Return *version* if it is a known one."""
    if version not in VERSIONS:
        raise UnknownName("config version", version, list(VERSIONS), f"known: {', '.join(VERSIONS)}")
    return version


@cache
def step_rules(step: Step) -> tuple[Rule, ...]:
    """Return the rules of a step; those of a step down are the ones up, backwards."""
    older, newer = sorted((step.start, step.goal), key=list(VERSIONS).index)
    name = f"{older}-{newer}.rules"
    rules = parse_rules(Path(__file__).with_name("rules").joinpath(name).read_text(encoding="utf-8"), name)
    return rules if step.direction == "up" else inverse(rules)


def find_path(start: str, goal: str) -> tuple[Step, ...]:
    """Return the steps from one known version to another."""
    return paths.find_path(VERSIONS, start, goal)


@cache
def known_names(version: str) -> frozenset[str]:
    """Return the settings that a version before 3.0 has; those of 3.0 are declared in the settings themselves."""
    if version == CONFIG_VERSION:
        return frozenset()
    step = find_path(version, CONFIG_VERSION)[0]
    rules = step_rules(step)
    sources = {rule.other if rule.verb == "SET" else rule.name for rule in rules}
    targets = {rule.other if rule.verb == "MOVE" else rule.name for rule in rules if rule.verb != "REMOVE"}
    return frozenset(name for name in sources | (known_names(step.goal) - targets) if name is not None)


def accepted_names(version: str) -> frozenset[str]:
    """Return the settings that a file of a version before 3.0 may give: its own, and those that came after it."""
    return frozenset().union(*(known_names(step.start) for step in find_path(version, CONFIG_VERSION)))


def newest_name(name: str, version: str) -> str:
    """Return what a setting of an old version is called in the newest one."""
    for step in find_path(version, CONFIG_VERSION):
        (name,) = (new for new, old in apply_rules(step_rules(step), {name: True}, lambda _: False).items() if old)
    return name


def migrate_entries(
    entries: dict[str, T], start: str, goal: str, make: Callable[[Any], T]
) -> tuple[dict[str, T], list[Dropped]]:
    """Take settings from one version to another; return them, and what the goal has no place for."""
    dropped: list[Dropped] = []
    for step in find_path(start, goal):
        entries = apply_rules(step_rules(step), entries, make)
        if step.direction == "down":
            dropped += [Dropped(name, step.goal) for name in entries if name not in known_names(step.goal)]
            entries = {name: entry for name, entry in entries.items() if name in known_names(step.goal)}
    return entries, dropped
