"""The small language in which config versions say how they changed.

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
from typing import Any, Literal, NamedTuple, TypeVar

from ptp.errors import ConfigError

T = TypeVar("T")

NAME = r"[a-z][a-z0-9_]*(?:\.[a-z][a-z0-9_]*)?"
_RULE = re.compile(
    rf"SET (?P<set>{NAME}) = (?P<value>.+)|(?:MOVE|RENAME) (?P<old>{NAME}) TO (?P<new>{NAME})|REMOVE (?P<gone>{NAME})"
)
_FORMS = "SET name = value, MOVE name TO name, RENAME name TO name or REMOVE name"


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
        if bare:
            rules.append(_parse(bare, f"{where}:{number}"))
    return tuple(rules)


def _parse(line: str, place: str) -> Rule:
    found = _RULE.fullmatch(line)
    if found is None:
        raise ConfigError(f"{place}: {line!r} is not a rule; write {_FORMS}")
    if found["set"]:
        return _set(found["set"], found["value"], place)
    return Rule("REMOVE", found["gone"]) if found["gone"] else Rule("MOVE", found["old"], found["new"])


def _set(name: str, text: str, place: str) -> Rule:
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
            entries = _moved(entries, rule.name, str(rule.other))
        elif rule.verb == "REMOVE":
            entries = {name: entry for name, entry in entries.items() if name != rule.name}
    return entries


def _moved(entries: dict[str, T], old: str, new: str) -> dict[str, T]:
    if new in entries:
        raise ConfigError(f"{old} and {new} are the same setting; keep one of them")
    return {new if name == old else name: entry for name, entry in entries.items()}
