"""One tick of a run, the decisions, and what happened along the way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from ptp.errors import UnknownName
from ptp.recording import RunDirectory
from ptp.recording.database import Database
from ptp.runs.answers import Decision, DecisionList, Event, EventList, Tick
from ptp.runs.status import decode_state, decode_text, last_state
from ptp.worlds.knowledge import knowledge_of

_DECISION = """decision_id, timestamp, tick, decision_type, reasoning, confidence_score, decision_latency_ms,
               tokens_used, api_cost, model_used, execution_status, execution_error, execution_duration_ms,
               decision_context"""
ERROR_TICK = "CASE WHEN json_valid(context) THEN coalesce(context->>'tick', 0) ELSE 0 END"
"""The tick of an error, which older runs don't tell: they kept plain words as its context."""


class NoTick(UnknownName):
    """A tick that the run does not have."""

    def __init__(self, tick: int, last: int) -> None:
        super().__init__("tick", str(tick), [], f"the run has ticks 0 to {last}")


def newest_tick(database: Database) -> int:
    """Return the newest tick, 0 when there is none; a run that kept no tape tells it by its decisions."""
    decided = "SELECT max(tick) FROM action_history WHERE execution_status IS NOT 'rolled_back'"
    query = f"SELECT coalesce((SELECT max(tick) FROM steps), ({decided}), 0)"
    return int(database.row(query)[0])


def read_tick(directory: RunDirectory, tick: int) -> Tick:
    """Return everything known of a tick; tick 0 is the world before the first command."""
    with Database(directory.database) as database:
        last = newest_tick(database)
        if not 0 <= tick <= last:
            raise NoTick(tick, last)
        query = """SELECT episode, step, command, reward, terminated, truncated, elapsed, state_hash
                   FROM steps WHERE tick = ?"""
        episode, step, command, reward, terminated, truncated, elapsed, digest = next(
            database.rows(query, tick), (None, None, None, None, 0, 0, None, None)
        )
        shots = database.rows("SELECT screenshot_id FROM screenshots WHERE tick = ? LIMIT 1", tick)
        return Tick(
            tick=tick,
            last_tick=last,
            episode=episode,
            step=step,
            command=command,
            reward=reward,
            terminated=bool(terminated),
            truncated=bool(truncated),
            elapsed=elapsed,
            state_hash=digest,
            state=last_state(database, tick) or None,
            decision=_decision_of(database, tick),
            events=_events_of(database, tick),
            screenshot_id=next((shot[0] for shot in shots), None),
        )


def _decision_of(database: Database, tick: int) -> Decision | None:
    query = f"""SELECT {_DECISION} FROM action_history
                WHERE tick < ? AND execution_status IS NOT 'rolled_back' ORDER BY tick DESC, decision_id DESC LIMIT 1"""
    return next((_decision(row) for row in database.rows(query, tick)), None)


def _decision(row: Sequence[Any]) -> Decision:
    context = None if row[-1] is None else decode_text(row[-1])
    return Decision(**dict(zip(Decision.__struct_fields__, (*row[:-1], context), strict=True)))


def list_decisions(directory: RunDirectory, before: str | None, text: str | None, page_size: int) -> DecisionList:
    """Return decisions, newest first; *before* is the id that the page before ended with."""
    query = f"SELECT {_DECISION} FROM action_history WHERE decision_id < ?"
    values: list[Any] = [before or "~"]
    if text:
        query += " AND (instr(lower(coalesce(reasoning, '')), ?) OR instr(lower(coalesce(decision_type, '')), ?))"
        values += [text.lower(), text.lower()]
    with Database(directory.database) as database:
        rows = database.rows(f"{query} ORDER BY decision_id DESC LIMIT {page_size + 1}", *values)
        found = [_decision(row) for row in rows]
    more = len(found) > page_size
    return DecisionList(found[:page_size], found[page_size - 1].decision_id if more else None)


# -- events ----------------------------------------------------------------------------------------------------


def list_events(
    directory: RunDirectory, kinds: Sequence[str], from_tick: int, to_tick: int | None, limit: int
) -> EventList:
    """Return events in the order of their ticks, with errors and rewinds among them."""
    with Database(directory.database) as database:
        counts = dict(database.rows("SELECT kind, count(*) FROM events GROUP BY kind"))
        errors = _errors(database)
        rewinds = _rewinds(database)
        counts |= {kind: len(found) for kind, found in (("Error", errors), ("Rewind", rewinds)) if found}
        chosen = [kind for kind in (kinds or counts) if kind in counts]
        last = to_tick if to_tick is not None else 1 << 62
        found = _stored(database, chosen, from_tick, last, limit)
        for kind, others in (("Error", errors), ("Rewind", rewinds)):
            if kind in chosen:
                found += [event for event in others if from_tick <= event.tick <= last]
        found.sort(key=lambda event: event.tick)
        total = _count(database, chosen, from_tick, last) + sum(event.kind in ("Error", "Rewind") for event in found)
    return EventList(found[:limit], total, counts)


def _stored(database: Database, kinds: Sequence[str], first: int, last: int, limit: int) -> list[Event]:
    query = """SELECT tick, kind, timestamp, detail FROM events
               WHERE tick BETWEEN ? AND ? AND kind IN (SELECT value FROM json_each(?))
               ORDER BY tick, event_id LIMIT ?"""
    rows = database.rows(query, first, last, msgspec.json.encode(list(kinds)).decode(), limit)
    return [_event(*row) for row in rows]


def _count(database: Database, kinds: Sequence[str], first: int, last: int) -> int:
    query = """SELECT count(*) FROM events
               WHERE tick BETWEEN ? AND ? AND kind IN (SELECT value FROM json_each(?))"""
    return int(database.row(query, first, last, msgspec.json.encode(list(kinds)).decode())[0])


def _events_of(database: Database, tick: int) -> list[Event]:
    query = "SELECT tick, kind, timestamp, detail FROM events WHERE tick = ? ORDER BY event_id"
    found = [_event(*row) for row in database.rows(query, tick)]
    return found + [error for error in _errors(database) if error.tick == tick]


def _event(tick: int, kind: str, at: str | None, text: str | None) -> Event:
    detail = decode_state(text)
    return Event(tick, kind, title_of(kind, detail), at, detail)


def _errors(database: Database) -> list[Event]:
    query = f"""SELECT {ERROR_TICK}, timestamp, error_type, error_message, recovered, recovery_action
                FROM errors ORDER BY timestamp LIMIT 1000"""
    return [
        Event(int(tick), "Error", f"{kind}: {message}", at, {"recovered": bool(recovered), "recovery": recovery})
        for tick, at, kind, message, recovered, recovery in database.rows(query)
    ]


def _rewinds(database: Database) -> list[Event]:
    query = "SELECT to_tick, from_tick, timestamp, reason FROM rewinds ORDER BY rewind"
    return [
        Event(to, "Rewind", f"went back from tick {since} to {to}: {reason}", at, {"from_tick": since})
        for to, since, at, reason in database.rows(query)
    ]


def title_of(kind: str, detail: dict[str, Any]) -> str:
    """Return an event in a few words."""
    return knowledge_of("gameboy").title(kind, detail)
