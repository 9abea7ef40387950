"""What a run takes snapshots at: events that its world declares, and signals that reach a figure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from math import isfinite
from typing import Any, NamedTuple

import msgspec

from ptp.engine.play import Progress
from ptp.errors import ConfigError, UnknownName
from ptp.records import Event, Record
from ptp.worlds import World
from ptp.worlds.knowledge import Trigger, knowledge_of

FLAG = "--snapshot-on-event"
ANYWHERE = ("catch", "battle", "badge", "death")  # a world that does not know them has no such events
FIGURES = ("reward", "last_reward", "episodes")  # that every run counts, beside the signals of its world
UNTYPED = re.compile(r"[^A-Za-z0-9 _+.-]")  # what the name of a snapshot can't have


class Found(NamedTuple):
    """A trigger that went off."""

    word: str
    name: str
    """What its snapshot is called, but for the tick."""


class _Watch(NamedTuple):
    word: str
    trigger: Trigger
    text: str


class _Mark(NamedTuple):
    word: str
    figure: float


class Triggers:
    """Triggers by the words of `--snapshot-on-event`; what the world does not offer is refused."""

    def __init__(self, wanted: Sequence[str], world: World) -> None:
        self._world = world
        self._knowledge = knowledge_of(world.facts.family)
        self._watches: dict[str, list[_Watch]] = {}
        self._marks: list[_Mark] = []
        self._reached: frozenset[_Mark] = frozenset()
        for item in wanted:
            self._add(item)

    def __bool__(self) -> bool:
        return bool(self._watches or self._marks)

    def _add(self, item: str) -> None:
        word, _, text = (part.strip() for part in item.partition(":"))
        known, facts = self._knowledge.triggers, self._world.facts
        if word in (*facts.signals, *FIGURES):
            self._marks.append(_Mark(word, _figure(item, text)))
        elif word == "event" and text in facts.milestones:
            self._watch(_Watch(text, Trigger(text), ""))
        elif word in known and facts.milestones:
            values = self._world.trigger_values(word)
            if text and values and not any(_names(text, value) for value in values):
                raise UnknownName(f"{word} of {facts.name!r}", text, list(values))
            self._watch(_Watch(word, known[word], text))
        elif item not in ANYWHERE:
            raise ConfigError(f"{FLAG}: {item!r} is no trigger of {facts.name!r}; it offers {self._offer()}")

    def _watch(self, watch: _Watch) -> None:
        self._watches.setdefault(watch.trigger.kind, []).append(watch)

    def _offer(self) -> str:
        facts = self._world.facts
        words = [*self._knowledge.triggers] if facts.milestones else []
        named = [*(word for word in words if word in ANYWHERE), *(f"{word}:NAME" for word in words)]
        kinds = [f"event:{kind}" for kind in facts.milestones]
        return ", ".join([*named, *kinds, *(f"{name}:N" for name in (*facts.signals, *FIGURES))])

    def found(self, records: Sequence[Record], progress: Progress) -> Iterator[Found]:
        """Return what went off in a tick, each name once."""
        names: dict[Found, None] = {}
        for record in records if self._watches else ():
            if type(record) is Event and record.kind in self._watches:
                facts = msgspec.to_builtins(record.detail)
                matching = (watch for watch in self._watches[record.kind] if _fits(watch, facts))
                names |= {self._called(watch, facts): None for watch in [*matching][:1]}
        if self._marks:
            before = self._reached
            self.settle(progress)
            names |= {Found(mark.word, f"{mark.word}-{mark.figure:g}"): None for mark in self._reached - before}
        yield from names

    def settle(self, progress: Progress) -> None:
        """See which figures are reached now: they go off when they are reached again."""
        values = progress.signals.values
        now = {name: values.get(name, getattr(progress, name, None)) for name, _ in self._marks}
        self._reached = frozenset(mark for mark in self._marks if _reaches(now[mark.word], mark.figure))

    def _called(self, watch: _Watch, facts: Any) -> Found:
        called = watch.trigger.called
        about = facts.get(called, called) if called else None
        letters = (self._knowledge.spellings.get(letter, letter) for letter in str(about or ""))
        typed = UNTYPED.sub("", "".join(letters)).strip()
        return Found(watch.word, f"{watch.word}-{typed}" if typed else watch.word)


def _fits(watch: _Watch, facts: Any) -> bool:
    trigger = watch.trigger
    if any(facts.get(name) != value for name, value in trigger.where):
        return False
    return not watch.text or any(_names(watch.text, str(facts.get(name))) for name in trigger.about)


def _names(text: str, value: str) -> bool:
    """Whether a text is a name, or its first words: PEWTER is PEWTER CITY, and POTION is no SUPER POTION."""
    return f"{value} ".casefold().startswith(f"{text} ".casefold())


def _figure(item: str, text: str) -> float:
    try:
        figure = float(text)
    except ValueError:
        figure = float("nan")
    if not isfinite(figure):
        raise ConfigError(f"{FLAG}: {item!r} has no figure to reach; write it as {item.partition(':')[0]}:10")
    return figure


def _reaches(value: float | None, figure: float) -> bool:
    return value is not None and value >= figure
