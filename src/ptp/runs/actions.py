"""The action log: every command that was applied, and every event, in the order of their ticks.

A run has one command per tick, without gaps, so the place of everything in the log follows from the ticks of the
events alone: the i-th event (from 0) of tick t stands at place t + i, after the t commands up to it. Any page of
any run is found with two binary searches. Only a filter by command needs to know every command, once.
"""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Sequence
from datetime import datetime
from functools import cache
from typing import Any, Literal

import msgspec
import numpy as np

from ptp._util.clock import iso
from ptp.recording import RunDirectory
from ptp.recording.database import Database
from ptp.records import Event, Metadata, Record, Step
from ptp.runs.tables import State, as_json, as_state, read
from ptp.runs.ticks import decision_before, state_at


class Action(msgspec.Struct):
    """One line of the action log: a command that was applied, or something that happened."""

    timestamp: str
    """When, in UTC; that of a command is its decision's time plus the play since."""
    action: str
    """The command, or the kind of event, in capitals."""
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


_AMONG = "WHERE tick IN (SELECT value FROM json_each(?))"
KEPT = 16  # runs whose places are remembered
Kind = Literal["all", "commands", "events"]
Places = np.ndarray[Any, np.dtype[np.int64]]


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

    @property
    def filters(self) -> bool:
        """Whether anything but a whole log is wanted."""
        return self.kind != "all" or any((self.action, self.text, self.from_tick, self.to_tick))


class _Index(msgspec.Struct):
    """What is remembered of a run's log."""

    rewinds: int
    """How often the run had gone back; then everything is read anew."""
    last_tick: int = 0
    event_ticks: Places = np.zeros(0, np.int64)
    event_codes: Places = np.zeros(0, np.int64)
    commands_to: int = 0
    command_codes: Places = np.zeros(0, np.int64)
    names: dict[str, int] = {}


class ActionLog:
    """Pages of the action log of any run; what it learns of a run it remembers."""

    def __init__(self) -> None:
        self._indexes: OrderedDict[str, _Index] = OrderedDict()
        self._lock = threading.Lock()

    def page(self, directory: RunDirectory, metadata: Metadata, query: ActionQuery) -> ActionList:
        """Return one page."""
        with Database(directory.database) as database:
            with self._lock:
                index = self._index(directory, database)
                total, places = self._places(database, index, query)
            events = index.event_ticks + np.arange(len(index.event_ticks))
            actions = Reader(database, metadata).read(places, events)
        return ActionList(actions, total, query.page, query.page_size)

    def _index(self, directory: RunDirectory, database: Database) -> _Index:
        rewinds = database.row("SELECT count(*) FROM rewinds")[0]
        index = self._indexes.pop(directory.run_id, None)
        if index is None or index.rewinds != rewinds:
            index = _Index(rewinds)
        self._indexes[directory.run_id] = index
        while len(self._indexes) > KEPT:
            self._indexes.popitem(last=False)
        last = database.row("SELECT coalesce(max(tick), 0) FROM steps")[0]
        query = "SELECT tick, kind FROM events WHERE tick > ? AND tick <= ? ORDER BY tick, event_id"
        rows = list(database.rows(query, index.last_tick, last))
        index.event_ticks = np.append(index.event_ticks, np.array([row[0] for row in rows], np.int64))
        codes = [_code(index, event_name(row[1])) for row in rows]
        index.event_codes = np.append(index.event_codes, np.array(codes, np.int64))
        index.last_tick = last
        return index

    def _places(self, database: Database, index: _Index, query: ActionQuery) -> tuple[int, list[int]]:
        first = (query.page - 1) * query.page_size
        if not query.filters:
            total = index.last_tick + len(index.event_ticks)
            chosen: Sequence[int] | Places = range(total)
        else:
            chosen = self._matching(database, index, query)
            total = len(chosen)
        if query.descending:
            end = max(0, total - first)
            return total, [int(place) for place in chosen[max(0, end - query.page_size) : end]][::-1]
        return total, [int(place) for place in chosen[first : first + query.page_size]]

    def _matching(self, database: Database, index: _Index, query: ActionQuery) -> Places:
        """Return the places of everything that the filter lets through, in order."""
        first, last = max(1, query.from_tick or 1), min(index.last_tick, query.to_tick or index.last_tick)
        events = (index.event_ticks >= first) & (index.event_ticks <= last)
        ticks = np.arange(first, last + 1 if query.kind != "events" else first)
        # a kind of event is taken for that, and no command of its name is looked for
        codes = self._wanted(index, query)
        if query.action and query.kind != "events" and not np.isin(codes, index.event_codes).any():
            self._learn_commands(database, index)
            codes = self._wanted(index, query)
            ticks = ticks[np.isin(index.command_codes[first - 1 : last], codes)]
        elif query.action:
            ticks = ticks[:0]
        if query.action:
            events &= np.isin(index.event_codes, codes)
        if query.text:
            in_commands, in_events = _search(database, query.text, index.last_tick)
            ticks = ticks[np.isin(ticks, in_commands)]
            events &= np.array(in_events[: len(events)], bool)
        before = np.searchsorted(index.event_ticks, ticks, "left")
        of_commands = ticks - 1 + before
        numbers = np.nonzero(events)[0] if query.kind != "commands" else np.zeros(0, np.int64)
        return np.sort(np.concatenate([of_commands, index.event_ticks[numbers] + numbers]).astype(np.int64))

    def _wanted(self, index: _Index, query: ActionQuery) -> list[int]:
        wanted = _plain(query.action or "")
        return [code for name, code in index.names.items() if _plain(name) == wanted]

    def _learn_commands(self, database: Database, index: _Index) -> None:
        query = "SELECT command FROM steps WHERE tick > ? AND tick <= ? ORDER BY tick"
        rows = database.rows(query, index.commands_to, index.last_tick)
        codes = np.fromiter((_code(index, row[0].upper()) for row in rows), np.int64)
        index.command_codes = np.append(index.command_codes, codes)
        index.commands_to = index.last_tick


def _search(database: Database, text: str, last_tick: int) -> tuple[list[int], list[int]]:
    """Return the ticks whose command, or the reason for it, has such words; and for every event whether it has."""
    like = "LIKE ? ESCAPE '!'"
    pattern = "%" + re.sub(r"([!%_])", r"!\1", text) + "%"
    decisions = f"SELECT tick + 1 FROM action_history WHERE reasoning {like} OR decision_type {like}"
    commands = f"SELECT tick FROM steps WHERE command {like}"
    events = f"SELECT detail {like} FROM events WHERE tick <= ? ORDER BY tick, event_id"
    ticks = [row[0] for row in database.rows(decisions, pattern, pattern)]
    ticks += [row[0] for row in database.rows(commands, pattern)]
    return ticks, [row[0] or 0 for row in database.rows(events, pattern, last_tick)]


def _code(index: _Index, name: str) -> int:
    return index.names.setdefault(name, len(index.names))


@cache
def event_name(kind: str | None) -> str:
    """Return the name of an event as the log has it: BattleStarted is BATTLE_STARTED."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", kind or "event").upper()


def _plain(name: str) -> str:
    return name.upper().replace("_", "").replace(" ", "")


class Reader:
    """Reads lines of the log from the database."""

    def __init__(self, database: Database, metadata: Metadata) -> None:
        self._database = database
        self._started = datetime.fromisoformat(metadata.started_at).timestamp()

    def read(self, places: Sequence[int], event_places: Places) -> list[Action]:
        """Return the lines at some places of the log."""
        numbers = np.searchsorted(event_places, places)
        is_event = [n < len(event_places) and event_places[n] == p for n, p in zip(numbers, places, strict=True)]
        ticks = [int(p - n + (0 if e else 1)) for p, n, e in zip(places, numbers, is_event, strict=True)]
        commands = self._commands(sorted({tick for tick, event in zip(ticks, is_event, strict=True) if not event}))
        events = self._events(sorted({tick for tick, event in zip(ticks, is_event, strict=True) if event}))
        first_of = {tick: int(np.searchsorted(event_places - np.arange(len(event_places)), tick)) for tick in events}
        found = []
        for tick, number, event in zip(ticks, numbers, is_event, strict=True):
            line = events[tick][int(number) - first_of[tick]] if event else commands.get(tick)
            if line is not None:  # else the run went back between two queries
                found.append(line)
        return found

    def _events(self, ticks: list[int]) -> dict[int, list[Action]]:
        found: dict[int, list[Action]] = {tick: [] for tick in ticks}
        for event in read(self._database, Event, f"{_AMONG} ORDER BY tick, event_id", as_json(ticks)):
            found[event.tick].append(event_line(event))
        return found

    def _commands(self, ticks: list[int]) -> dict[int, Action]:
        found: dict[int, Action] = {}
        before: tuple[int, State] | None = None
        for step in read(self._database, Step, f"{_AMONG} ORDER BY tick", as_json(ticks)):
            if before is None or before[0] != step.tick - 1:
                before = (step.tick - 1, state_at(self._database, step.tick - 1))
            state = before[1] if step.state is None else as_state(step.state)
            if step.state is None and step.step == 1:  # it is the one that the episode began with
                state = state_at(self._database, step.tick)
            found[step.tick] = self._command(step, _move(before[1], state))
            before = (step.tick, state)
        return found

    def _command(self, step: Step, move: dict[str, Any]) -> Action:
        """Return a line with the decision that the command came from, and when it was applied."""
        context = {"tick": step.tick, "episode": step.episode, "reward": step.reward, **move}
        made = decision_before(self._database, step.tick)
        if made is None:
            return Action(iso(self._started + step.elapsed), step.command.upper(), context, None, None, None)
        query = "SELECT elapsed FROM steps WHERE tick = ?"
        since = next((row[0] for row in self._database.rows(query, made.tick)), step.elapsed)
        at = (made.at or self._started) + max(0.0, step.elapsed - since)
        told = {"decision": made.type, "reasoning": made.reasoning}
        context |= {name: value for name, value in told.items() if value is not None}
        is_first = made.tick == step.tick - 1
        latency, cost = (made.latency_ms, made.cost) if is_first else (None, None)
        return Action(iso(at), step.command.upper(), context, made.confidence, latency, cost)


def event_line(event: Event) -> Action:
    """Return an event as a line of the log."""
    facts = {name: value for name, value in as_state(event.detail).items() if name != "event"}
    context = {"tick": event.tick, **facts}
    return Action(iso(event.at or 0), event_name(event.kind), context, None, None, None)


def _move(before: State, after: State) -> dict[str, Any]:
    """Return where a command led from and to, and the place."""
    facts: dict[str, Any] = {}
    if before.get("coordinates") and after.get("coordinates"):
        facts = {"from": before["coordinates"], "to": after["coordinates"]}
    if after.get("location"):
        facts["location"] = after["location"]
    return facts


def as_actions(records: Sequence[Record], at: float) -> list[Action]:
    """Return records of a live run as lines of the log; steps have no time of their own and get *at*."""
    found = []
    for record in records:
        if isinstance(record, Step):
            context = {"tick": record.tick, "episode": record.episode, "reward": record.reward}
            found.append(Action(iso(at), record.command.upper(), context, None, None, None))
        elif isinstance(record, Event):
            found.append(event_line(record))
    return found
