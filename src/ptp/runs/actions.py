"""The action log: every command that was applied, and every event, in the order of their ticks.

A run has one command per tick, without gaps, so the place of everything in the log follows from the ticks of the
events alone: the i-th event (from 0) of tick t stands at place t + i, after the t commands up to it. Any page of
any run is found with two binary searches. Only a filter by command needs to know every command, once.
"""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, Literal

import msgspec
import numpy as np

from ptp._util.clock import iso
from ptp.recording import RunDirectory
from ptp.recording.database import Database
from ptp.records import Event, Metadata, Record, Step
from ptp.runs.tables import State, as_json, as_state, read
from ptp.runs.ticks import decision_before, state_at
from ptp.worlds.knowledge import Knowledge, knowledge_of

_AMONG = "WHERE tick IN (SELECT value FROM json_each(?))"
EVENT = "event"  # what an old event of no kind is called
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

    @property
    def filters(self) -> bool:
        """Whether anything but a whole log is wanted."""
        return self.kind != "all" or any((self.action, self.text, self.from_tick, self.to_tick))


class _Index(msgspec.Struct):
    knowledge: Knowledge
    rewinds: int
    """How often the run had gone back; then everything is read anew."""
    last_tick: int = 0
    event_ticks: Numbers = NONE
    event_codes: Numbers = NONE
    command_codes: Numbers = NONE
    """Only known once a filter asked for a command."""
    names: dict[str, int] = {}
    """The codes of what the log calls commands and events."""

    def learn_events(self, database: Database) -> None:
        known, self.last_tick = self.last_tick, database.row("SELECT coalesce(max(tick), 0) FROM steps")[0]
        query = "SELECT tick, kind FROM events WHERE tick > ? AND tick <= ? ORDER BY tick, event_id"
        rows = list(database.rows(query, known, self.last_tick))
        self.event_ticks = _append(self.event_ticks, (tick for tick, _ in rows))
        name = self.knowledge.event_name
        self.event_codes = _append(self.event_codes, (self._code(name(kind or EVENT)) for _, kind in rows))

    def learn_commands(self, database: Database) -> None:
        query = "SELECT command FROM steps WHERE tick > ? AND tick <= ? ORDER BY tick"
        rows = database.rows(query, len(self.command_codes), self.last_tick)
        self.command_codes = _append(self.command_codes, (self._code(self.knowledge.action(row[0])) for row in rows))

    def codes_of(self, action: str) -> list[int]:
        """Return the codes of an action by any of its names: MOVE_UP or up, BATTLE_START or BattleStarted."""
        names = (action, self.knowledge.action(action.lower()), self.knowledge.event_name(action))
        return [code for name, code in self.names.items() if _plain(name) in {*map(_plain, names)}]

    def _code(self, name: str) -> int:
        return self.names.setdefault(name, len(self.names))


class ActionLog:
    """Pages of the action log of any run; what it learns of a run it remembers."""

    def __init__(self) -> None:
        self._indexes: OrderedDict[str, _Index] = OrderedDict()
        self._lock = threading.Lock()

    def page(self, directory: RunDirectory, metadata: Metadata, query: ActionQuery) -> ActionList:
        """Return one page."""
        knowledge = knowledge_of(metadata.facts.family)
        with Database(directory.database) as database:
            with self._lock:
                rewinds = database.row("SELECT count(*) FROM rewinds")[0]
                index = self._indexes.pop(directory.run_id, None)
                if index is None or index.rewinds != rewinds:
                    index = _Index(knowledge, rewinds)
                self._indexes[directory.run_id] = index
                while len(self._indexes) > KEPT:
                    self._indexes.popitem(last=False)
                index.learn_events(database)
                event_ticks, last = index.event_ticks, index.last_tick
                found = _matching(database, index, query) if query.filters else range(last + len(event_ticks))
            ordered = found[::-1] if query.descending else found
            first = (query.page - 1) * query.page_size
            actions = _Reader(database, metadata, knowledge).read(ordered[first : first + query.page_size], event_ticks)
        return ActionList(actions, len(found), query.page, query.page_size)


def _matching(database: Database, index: _Index, query: ActionQuery) -> Numbers:
    """Return the places of everything that the filter lets through, in order."""
    first, last = max(1, query.from_tick or 1), min(index.last_tick, query.to_tick or index.last_tick)
    ticks = np.arange(first, last + 1) if query.kind != "events" else NONE
    events = (index.event_ticks >= first) & (index.event_ticks <= last) & (query.kind != "commands")
    if query.action:
        codes = index.codes_of(query.action)
        if query.kind != "events" and not np.isin(codes, index.event_codes).any():
            index.learn_commands(database)
            codes = index.codes_of(query.action)
            ticks = ticks[np.isin(index.command_codes[first - 1 : last], codes)]
        else:
            ticks = NONE  # a kind of event is taken for that, and no command of its name is looked for
        events &= np.isin(index.event_codes, codes)
    if query.text:
        in_commands, in_events = _search(database, query.text, index.last_tick)
        ticks = ticks[np.isin(ticks, in_commands)]
        events &= np.array(in_events[: len(events)], bool)
    of_commands = ticks - 1 + np.searchsorted(index.event_ticks, ticks, "left")
    return np.sort(np.concatenate([of_commands, index.event_ticks[events] + np.flatnonzero(events)]))


def _append(known: Numbers, new: Iterable[int]) -> Numbers:
    return np.append(known, np.fromiter(new, np.int64))


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


def _plain(name: str) -> str:
    return name.upper().replace("_", "").replace(" ", "")


class _Reader:
    def __init__(self, database: Database, metadata: Metadata, knowledge: Knowledge) -> None:
        self._database = database
        self._knowledge = knowledge
        self._started = datetime.fromisoformat(metadata.started_at).timestamp()

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
            events[event.tick].append(_event_line(event, self._knowledge))
        found = (commands.get(tick) if index is None else events[tick][index] for tick, index in lines)
        return [line for line in found if line is not None]  # else the run went back between two queries

    def _commands(self, ticks: list[int]) -> dict[int, Action]:
        found: dict[int, Action] = {}
        before: tuple[int, State] | None = None
        for step in read(self._database, Step, f"{_AMONG} ORDER BY tick", as_json(ticks)):
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
            found[step.tick] = self._command(step, move)
            before = (step.tick, state)
        return found

    def _command(self, step: Step, move: dict[str, Any]) -> Action:
        """Return a line with the decision that the command came from, and when it was applied."""
        context = {"tick": step.tick, "episode": step.episode, "reward": step.reward, **move}
        action = self._knowledge.action(step.command)
        made = decision_before(self._database, step.tick)
        if made is None:
            return Action(iso(self._started + step.elapsed), action, context, None, None, None)
        query = "SELECT elapsed FROM steps WHERE tick = ?"
        since = next((row[0] for row in self._database.rows(query, made.tick)), step.elapsed)
        at = (made.at or self._started) + max(0.0, step.elapsed - since)
        told = {"decision": made.type, "reasoning": made.reasoning}
        context |= {name: value for name, value in told.items() if value is not None}
        is_first = made.tick == step.tick - 1
        latency, cost = (made.latency_ms, made.cost) if is_first else (None, None)
        return Action(iso(at), action, context, made.confidence, latency, cost)


def _event_line(event: Event, knowledge: Knowledge) -> Action:
    facts = {knowledge.event_fields.get(name, name): value for name, value in as_state(event.detail).items()}
    facts.pop("event", None)
    action = knowledge.event_name(event.kind or EVENT)
    return Action(iso(event.at or 0), action, {"tick": event.tick, **facts}, None, None, None)


def as_actions(records: Sequence[Record], at: float, knowledge: Knowledge) -> list[Action]:
    """Return records of a live run as lines of the log; steps have no time of their own and get *at*."""
    found = []
    for record in records:
        if isinstance(record, Step):
            context = {"tick": record.tick, "episode": record.episode, "reward": record.reward}
            found.append(Action(iso(at), knowledge.action(record.command), context, None, None, None))
        elif isinstance(record, Event):
            found.append(_event_line(record, knowledge))
    return found
