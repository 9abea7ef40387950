"""The versions that a config file can have; each step up is a file of rules, which a step down reads backwards.

RENAME a TO b     the value of a belongs to b
MOVE a TO s.b     the same, into a section
SET b = 2         b gets a value, a name's or one in JSON, where it has none yet
REMOVE a          a is gone
-- a remark
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

from ptp.errors import ConfigError, UnknownName
from ptp.versioning.schema import Step, find_path

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

NAME = r"[a-z][a-z0-9_]*(?:\.[a-z][a-z0-9_]*)?"
_RULE = re.compile(
    rf"SET (?P<set>{NAME}) = (?P<value>.+)|(?:MOVE|RENAME) (?P<old>{NAME}) TO (?P<new>{NAME})|REMOVE (?P<gone>{NAME})"
)
_FORMS = "SET name = value, MOVE name TO name, RENAME name TO name or REMOVE name"


def check_version(version: str) -> str:
    """Return *version* if it is a known one."""
    if version not in VERSIONS:
        raise UnknownName("config version", version, list(VERSIONS), f"known: {', '.join(VERSIONS)}")
    return version


@cache
def step_rules(step: Step) -> tuple[Rule, ...]:
    """Return the rules of a step; those of a step down are the ones up, backwards."""
    name = f"{step.name}.rules"
    rules = parse_rules(Path(__file__).with_name("rules").joinpath(name).read_text(encoding="utf-8"), name)
    return rules if step.direction == "up" else inverse(rules)


@cache
def known_names(version: str) -> frozenset[str]:
    """Return the settings that a version before 3.0 has; those of 3.0 are declared in the settings themselves."""
    if version == CONFIG_VERSION:
        return frozenset()
    step = find_path(VERSIONS, version, CONFIG_VERSION)[0]
    rules = step_rules(step)
    sources = {rule.other if rule.verb == "SET" else rule.name for rule in rules}
    targets = {rule.other if rule.verb == "MOVE" else rule.name for rule in rules if rule.verb != "REMOVE"}
    return frozenset(name for name in sources | (known_names(step.goal) - targets) if name is not None)


def accepted_names(version: str) -> frozenset[str]:
    """Return the settings that a file of a version before 3.0 may give: its own, and those that came after it."""
    return frozenset().union(*(known_names(step.start) for step in find_path(VERSIONS, version, CONFIG_VERSION)))


def newest_name(name: str, version: str) -> str:
    """Return what a setting of an old version is called in the newest one."""
    for step in find_path(VERSIONS, version, CONFIG_VERSION):
        (name,) = (new for new, old in apply_rules(step_rules(step), {name: True}, lambda _: False).items() if old)
    return name


def migrate_entries(
    entries: dict[str, T], start: str, goal: str, make: Callable[[Any], T]
) -> tuple[dict[str, T], list[str]]:
    """Take settings from one version to another; return them, and what the goal has no place for."""
    dropped: list[str] = []
    for step in find_path(VERSIONS, start, goal):
        entries = apply_rules(step_rules(step), entries, make)
        if step.direction == "down":
            known = known_names(step.goal)
            dropped += [f"{name}: version {step.goal} has no such setting" for name in entries if name not in known]
            entries = {name: entry for name, entry in entries.items() if name in known}
    return entries, dropped


class Rule(NamedTuple):
    """One line of a step between config versions."""

    verb: Literal["SET", "MOVE", "REMOVE"]
    name: str
    """What is set, moved or removed."""
    other: str | None = None
    """Where it goes to, or whose value it gets."""
    value: Any = None
    """What it is set to, when that is no name."""


def parse_rules(text: str, where: object = "rules") -> tuple[Rule, ...]:
    """Read the rules of one step; what is wrong is named with its line."""
    rules = []
    for number, line in enumerate(text.splitlines(), 1):
        bare = line.split("--")[0].strip()
        found = _RULE.fullmatch(bare)
        if found is None:
            if bare:
                raise ConfigError(f"{where}:{number}: {bare!r} is not a rule; write {_FORMS}")
        elif found["gone"]:
            rules.append(Rule("REMOVE", found["gone"]))
        elif found["old"]:
            rules.append(Rule("MOVE", found["old"], found["new"]))
        else:
            rules.append(_parse_set(found["set"], found["value"], f"{where}:{number}"))
    return tuple(rules)


def _parse_set(name: str, text: str, place: str) -> Rule:
    try:
        return Rule("SET", name, None, json.loads(text))
    except json.JSONDecodeError:
        if re.fullmatch(NAME, text):
            return Rule("SET", name, text)
    raise ConfigError(f"{place}: {text!r} is neither a name nor a value in JSON; write text in double quotes")


def inverse(rules: Iterable[Rule]) -> tuple[Rule, ...]:
    """Return the rules that lead back; what a rule set or removed can't be told from them."""
    moved = [rule for rule in rules if rule.other is not None]
    return tuple(
        Rule("MOVE", rule.name, rule.other) if rule.verb == "SET" else Rule("MOVE", str(rule.other), rule.name)
        for rule in reversed(moved)
    )


def apply_rules(rules: Iterable[Rule], entries: dict[str, T], make: Callable[[Any], T]) -> dict[str, T]:
    """Return the entries as the rules change them; *make* turns the value of a SET into an entry."""
    for rule in rules:
        if rule.verb == "SET" and rule.name not in entries:
            if rule.other is None:
                entries = {**entries, rule.name: make(rule.value)}
            elif rule.other in entries:
                entries = {**entries, rule.name: entries[rule.other]}
        elif rule.verb == "MOVE" and rule.name in entries:
            old, new = rule.name, str(rule.other)
            if new in entries:
                raise ConfigError(f"{old} and {new} are the same setting; keep one of them")
            entries = {new if name == old else name: entry for name, entry in entries.items()}
        elif rule.verb == "REMOVE":
            entries = {name: entry for name, entry in entries.items() if name != rule.name}
    return entries
