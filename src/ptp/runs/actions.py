"""The action log: every command that was applied, and every event, in the order of their ticks.

A run has one command per tick, without gaps, so the place of everything in the log follows from the ticks of the
events alone: the i-th event (from 0) of tick t stands at place t + i, after the t commands up to it. Any page of
any run is found with two binary searches. Only a filter by command needs to know every command, once.
"""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from functools import cache, partial
from typing import Any, Literal

import msgspec
import numpy as np

from ptp._util.clock import iso
from ptp.recording import RunDirectory
from ptp.recording.database import Database
from ptp.records import DecisionMade, Event, Metadata, Record, Step, WorldFacts
from ptp.runs.tables import State, as_json, as_state, read
from ptp.runs.ticks import VALID, decision_before, state_at
from ptp.worlds.knowledge import knowledge_of

_AMONG = "WHERE tick IN (SELECT value FROM json_each(?))"
EVENT = "event"  # what an old event of no kind is called
AT_ONCE = 1_000_000  # ticks whose names are read in one piece
KEPT = 16  # runs whose places are remembered
Kind = Literal["all", "commands", "events"]
Numbers = np.ndarray[Any, np.dtype[np.int64]]
NONE: Numbers = np.zeros(0, np.int64)


class Action(msgspec.Struct):
    """One line of the action log: a command that was applied, or something that happened."""

    timestamp: str
    """When, in UTC; that of a command is its decision's time plus the play since."""
    action: str
    """The command or the event, in the words of its world: MOVE_UP, ENCOUNTER, BATTLE_START."""
    context: dict[str, Any]
    """The tick, and what else is known: where from and to, who was met."""
    confidence: float | None
    """How sure the agent was; null for events."""
    latency_ms: float | None
    """How long the agent thought; only at the first command of a decision."""
    cost: float | None
    """Dollars that the decision cost; only at its first command."""


class ActionList(msgspec.Struct):
    """A page of the action log."""

    actions: list[Action]
    total_count: int
    """Lines that the filter lets through."""
    page: int
    page_size: int


class ActionQuery(msgspec.Struct, frozen=True):
    """Which lines are wanted, and in which order."""

    kind: Kind = "all"
    action: str | None = None
    text: str | None = None
    from_tick: int | None = None
    to_tick: int | None = None
    descending: bool = False
    page: int = 1
    page_size: int = 100

    def cut(self, found: Any) -> Any:
        """Return the page of a sequence of everything that was found, oldest first."""
        end = (self.page - 1) * self.page_size
        if not self.descending:
            return found[end : end + self.page_size]
        end = max(0, len(found) - end)
        return found[max(0, end - self.page_size) : end][::-1]


class _Index(msgspec.Struct):
    facts: WorldFacts
    rewinds: int
    """How often the run had gone back; then everything is read anew."""
    last_tick: int = 0
    event_ticks: Numbers = NONE
    event_codes: Numbers = NONE
    command_codes: Numbers = NONE
    """Like the codes of events, only known once a filter asked for an action."""
    names: dict[str, int] = {}
    """The codes of what the log calls commands and events."""
    search: tuple[str, int, Numbers, Numbers] = ("", 0, NONE, NONE)
    """The text that was searched for last, up to which tick, and the ticks and events that have it."""

    def learn_ticks(self, database: Database) -> None:
        known, self.last_tick = self.last_tick, database.row("SELECT coalesce(max(tick), 0) FROM steps")[0]
        for ticks in _column(database, "events", "tick", "tick", known, self.last_tick):
            self.event_ticks = np.append(self.event_ticks, np.array(ticks, np.int64))

    def find_action(self, database: Database, action: str, kind: Kind) -> tuple[Numbers, Numbers]:
        """Return the ticks of the commands, or else the numbers of the events, that are called so."""
        known = len(self.command_codes)
        for words in _column(database, "events", "kind", "tick, event_id", known, self.last_tick):
            self.event_codes = np.append(self.event_codes, self._codes(words, partial(_event_name, self.facts)))
        for words in _column(database, "steps", "command", "tick", known, self.last_tick):
            self.command_codes = np.append(self.command_codes, self._codes(words, partial(_command_name, self.facts)))
        called = _command_name(self.facts, action), _command_name(self.facts, action.lower())
        wanted = {*map(_plain, (action, *called, _event_name(self.facts, action)))}  # MOVE_UP or up
        codes = [code for name, code in self.names.items() if _plain(name) in wanted]
        events = np.flatnonzero(np.isin(self.event_codes, codes))
        if kind == "events" or len(events):
            return NONE, events  # a kind of event is taken for that, and no command of its name is looked for
        return np.flatnonzero(np.isin(self.command_codes, codes)) + 1, NONE

    def find_text(self, database: Database, text: str) -> tuple[Numbers, Numbers]:
        """Return the ticks of the commands and the numbers of the events that have a text."""
        if self.search[:2] != (text, self.last_tick):
            self.search = (text, self.last_tick, *_search(database, text, self.last_tick))
        return self.search[2:]

    def _codes(self, words: list[str], name: Callable[[str], str]) -> Numbers:
        codes = {word: self.names.setdefault(name(word), len(self.names)) for word in dict.fromkeys(words)}
        return np.fromiter(map(codes.__getitem__, words), np.int64, len(words))


def _column(database: Database, table: str, column: str, order: str, known: int, last: int) -> Iterator[list[Any]]:
    """Return a column of the ticks after a known one, very many at once: as JSON, it takes a tenth of the time."""
    for first in range(known + 1, last + 1, AT_ONCE):
        rows = f"SELECT {column} FROM {table} WHERE tick BETWEEN ? AND ? ORDER BY {order}"
        query = f"SELECT json_group_array({column}) FROM ({rows})"
        yield msgspec.json.decode(database.row(query, first, min(last, first + AT_ONCE - 1))[0])


class ActionLog:
    """Pages of the action log of any run; what it learns of a run it remembers."""

    def __init__(self) -> None:
        self._indexes: OrderedDict[str, _Index] = OrderedDict()
        self._lock = threading.Lock()

    def page(self, directory: RunDirectory, metadata: Metadata, query: ActionQuery) -> ActionList:
        """Return one page."""
        with Database(directory.database) as database:
            with self._lock:
                rewinds = database.row("SELECT count(*) FROM rewinds")[0]
                index = self._indexes.pop(directory.run_id, None)
                if index is None or index.rewinds != rewinds:
                    index = _Index(metadata.facts, rewinds)
                self._indexes[directory.run_id] = index
                while len(self._indexes) > KEPT:
                    self._indexes.popitem(last=False)
                index.learn_ticks(database)
                total, places = _places(database, index, query)
                event_ticks = index.event_ticks
            actions = _Reader(database, metadata).read(places, event_ticks)
        return ActionList(actions, total, query.page, query.page_size)


def _places(database: Database, index: _Index, query: ActionQuery) -> tuple[int, Numbers]:
    """Return how many lines the filter lets through, and the places of those on the page."""
    first, last = max(1, query.from_tick or 1), min(index.last_tick, query.to_tick or index.last_tick)
    low, high = (int(number) for number in np.searchsorted(index.event_ticks, [first, last + 1]))
    if query.kind == "all" and not query.action and not query.text:
        whole = range(first - 1 + low, last + high)
        return len(whole), np.array(query.cut(whole), np.int64)
    ticks: Numbers | range = range(first, last + 1) if query.kind != "events" else NONE
    events: Numbers | range = range(low, high) if query.kind != "commands" else NONE
    for find in (
        query.action and partial(index.find_action, database, query.action, query.kind),
        query.text and partial(index.find_text, database, query.text),
    ):
        if find:
            ticks, events = (_among(*pair) for pair in zip(find(), (ticks, events), strict=True))
    if len(ticks) and len(events):
        places = np.concatenate([_command_places(index, ticks), _event_places(index, events)])
        return len(places), query.cut(np.sort(places, kind="stable"))  # both halves are in order: that is soon done
    if len(events):
        return len(events), _event_places(index, query.cut(events))
    return len(ticks), _command_places(index, query.cut(ticks))


def _among(found: Numbers, wanted: Numbers | range) -> Numbers:
    """Return those of sorted numbers that are wanted."""
    if isinstance(wanted, range):
        return found[(found >= wanted.start) & (found < wanted.stop)]
    return np.intersect1d(found, wanted, assume_unique=True)


def _command_places(index: _Index, ticks: Numbers | range) -> Numbers:
    return np.asarray(ticks, np.int64) - 1 + np.searchsorted(index.event_ticks, ticks, "left")


def _event_places(index: _Index, events: Numbers | range) -> Numbers:
    numbers = np.asarray(events, np.int64)
    return index.event_ticks[numbers] + numbers


def _search(database: Database, text: str, last_tick: int) -> tuple[Numbers, Numbers]:
    """Return the ticks whose command, or the reason for it, has a text; and the numbers of the events that have it."""
    like = "LIKE ? ESCAPE '!'"
    pattern = "%" + re.sub(r"([!%_])", r"!\1", text) + "%"
    decisions = f"SELECT tick + 1 FROM action_history WHERE reasoning {like} OR decision_type {like}"
    commands = f"SELECT tick FROM steps WHERE command {like}"
    events = f"SELECT detail {like} FROM events WHERE tick BETWEEN 1 AND ? ORDER BY tick, event_id"
    ticks = [row[0] for row in database.rows(decisions, pattern, pattern)]
    ticks += [row[0] for row in database.rows(commands, pattern)]
    found = [row[0] or 0 for row in database.rows(events, pattern, last_tick)]
    return np.unique(np.array(ticks, np.int64)), np.flatnonzero(found)


_knowledge = cache(knowledge_of)


def _event_name(facts: WorldFacts, kind: str | None) -> str:
    return _knowledge(facts.family).event_name(kind or EVENT)


def _command_name(facts: WorldFacts, command: str) -> str:
    return _knowledge(facts.family).action(facts.name_command(command))


def _plain(name: str) -> str:
    return name.upper().replace("_", "").replace(" ", "")


class _Reader:
    def __init__(self, database: Database, metadata: Metadata) -> None:
        self._database = database
        self._started = datetime.fromisoformat(metadata.started_at).timestamp()
        self._facts = metadata.facts

    def read(self, places: Sequence[int] | Numbers, event_ticks: Numbers) -> list[Action]:
        event_places = event_ticks + np.arange(len(event_ticks))
        # the tick of each line, and its place among the events of that tick; None for the command
        lines: list[tuple[int, int | None]] = []
        for place, number in zip(places, np.searchsorted(event_places, places).tolist(), strict=True):
            if number < len(event_ticks) and event_places[number] == place:
                tick = int(event_ticks[number])
                lines.append((tick, number - int(np.searchsorted(event_ticks, tick))))
            else:
                lines.append((int(place) - number + 1, None))
        commands = self._commands(sorted({tick for tick, index in lines if index is None}))
        events: dict[int, list[Action]] = {tick: [] for tick, index in lines if index is not None}
        for event in read(self._database, Event, f"{_AMONG} ORDER BY tick, event_id", as_json(list(events))):
            events[event.tick].append(_event_line(event, self._facts))
        found = (commands.get(tick) if index is None else events[tick][index] for tick, index in lines)
        return [line for line in found if line is not None]  # else the run went back between two queries

    def _commands(self, ticks: list[int]) -> dict[int, Action]:
        found: dict[int, Action] = {}
        before: tuple[int, State] | None = None
        steps = list(read(self._database, Step, f"{_AMONG} ORDER BY tick", as_json(ticks)))
        decisions = self._decisions([step.tick for step in steps])
        query = f"SELECT tick, elapsed FROM steps {_AMONG}"
        elapsed = dict(self._database.rows(query, as_json([made.tick for made in decisions.values()])))
        for step in steps:
            if before is None or before[0] != step.tick - 1:
                before = (step.tick - 1, state_at(self._database, step.tick - 1))
            state = before[1] if step.state is None else as_state(step.state)
            if step.state is None and step.step == 1:  # it is the one that the episode began with
                state = state_at(self._database, step.tick)
            move: dict[str, Any] = {}
            if before[1].get("coordinates") and state.get("coordinates"):
                move = {"from": before[1]["coordinates"], "to": state["coordinates"]}
            if state.get("location"):
                move["location"] = state["location"]
            made = decisions.get(step.tick)
            found[step.tick] = self._command(step, made, elapsed.get(made.tick, step.elapsed) if made else 0.0, move)
            before = (step.tick, state)
        return found

    def _decisions(self, ticks: list[int]) -> dict[int, DecisionMade]:
        """Return the decision that the command of each tick came from."""
        rest = f"{_AMONG} AND {VALID} ORDER BY decision_id"
        made = {it.tick: it for it in read(self._database, DecisionMade, rest, as_json([tick - 1 for tick in ticks]))}
        found: dict[int, DecisionMade] = {}
        for tick in ticks:
            decision = made.get(tick - 1) or found.get(tick - 1) or decision_before(self._database, tick)
            if decision is not None:
                found[tick] = decision
        return found

    def _command(self, step: Step, made: DecisionMade | None, since: float, move: dict[str, Any]) -> Action:
        """Return a line with the decision that the command came from, and when it was applied."""
        context = {"tick": step.tick, "episode": step.episode, "reward": step.reward, **move}
        name = _command_name(self._facts, step.command)
        if made is None:
            return Action(iso(self._started + step.elapsed), name, context, None, None, None)
        at = (made.at or self._started) + max(0.0, step.elapsed - since)
        told = {"decision": made.type, "reasoning": made.reasoning}
        context |= {name: value for name, value in told.items() if value is not None}
        is_first = made.tick == step.tick - 1
        latency, cost = (made.latency_ms, made.cost) if is_first else (None, None)
        return Action(iso(at), name, context, made.confidence, latency, cost)


def _event_line(event: Event, facts: WorldFacts) -> Action:
    called = _knowledge(facts.family).event_fields
    detail = {called.get(name, name): value for name, value in as_state(event.detail).items()}
    detail.pop("event", None)
    return Action(iso(event.at or 0), _event_name(facts, event.kind), {"tick": event.tick, **detail}, None, None, None)


def as_actions(records: Sequence[Record], at: float, facts: WorldFacts) -> list[Action]:
    """Return records of a live run as lines of the log; steps have no time of their own and get *at*."""
    found = []
    for record in records:
        if isinstance(record, Step):
            context = {"tick": record.tick, "episode": record.episode, "reward": record.reward}
            found.append(Action(iso(at), _command_name(facts, record.command), context, None, None, None))
        elif isinstance(record, Event):
            found.append(_event_line(record, facts))
    return found
