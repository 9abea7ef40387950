"""One tick of a run, the decisions, and what happened along the way, as pages of records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ptp.recording import RunDirectory
from ptp.recording.database import Database
from ptp.records import DecisionMade, ErrorSeen, Event, Rewound, Step
from ptp.runs.answers.ticks import DecisionList, EventList, Tick
from ptp.runs.data import as_json
from ptp.runs.states import check_tick, state_at
from ptp.runs.tables import ERROR_TICK, read, read_named

MOST_ERRORS = 1_000  # errors that are told among events
VALID = "execution_status IS NOT 'rolled_back'"


def read_tick(directory: RunDirectory, tick: int) -> Tick:
    """Return everything known of a tick; tick 0 is the world before the first command."""
    with Database(directory.database) as database:
        last = check_tick(database, tick)
        shots = database.rows("SELECT screenshot_id FROM screenshots WHERE tick = ? LIMIT 1", tick)
        return Tick(
            tick=tick,
            last_tick=last,
            step=next(read(database, Step, "WHERE tick = ?", tick), None),
            state=state_at(database, tick) or None,
            decision=decision_before(database, tick),
            events=[*read(database, Event, "WHERE tick = ? ORDER BY event_id", tick), *_errors(database, tick, tick)],
            screenshot_id=next((shot[0] for shot in shots), None),
        )


def decision_before(database: Database, tick: int) -> DecisionMade | None:
    """Return the decision that the command of a tick came from: the last one made before it."""
    rest = f"WHERE tick < ? AND {VALID} ORDER BY tick DESC, decision_id DESC LIMIT 1"
    return next(read(database, DecisionMade, rest, tick), None)


def list_decisions(directory: RunDirectory, before: str | None, text: str | None, page_size: int) -> DecisionList:
    """Return decisions, newest first; *before* is the id that the page before ended with."""
    where, values = "WHERE decision_id < ?", [before or "~"]
    if text:
        where += " AND (instr(lower(coalesce(reasoning, '')), ?) OR instr(lower(coalesce(decision_type, '')), ?))"
        values += [text.lower(), text.lower()]
    with Database(directory.database) as database:
        rest = f"{where} ORDER BY decision_id DESC LIMIT {page_size + 1}"
        found = list(read_named(database, DecisionMade, rest, *values))
    following = found[page_size - 1][0] if len(found) > page_size else None
    return DecisionList([decision for _, decision in found[:page_size]], following)


def list_events(
    directory: RunDirectory, kinds: Sequence[str], from_tick: int, to_tick: int | None, limit: int
) -> EventList:
    """Return events in the order of their ticks, with errors and rewinds among them."""
    last = to_tick if to_tick is not None else 1 << 62
    with Database(directory.database) as database:
        counts = dict(database.rows("SELECT kind, count(*) FROM events GROUP BY kind"))
        others = {"Error": [*_errors(database, 0, 1 << 62)], "Rewind": [*_rewinds(database)]}
        counts |= {kind: len(events) for kind, events in others.items() if events}
        chosen = [kind for kind in (kinds or counts) if kind in counts]
        where = "WHERE tick BETWEEN ? AND ? AND kind IN (SELECT value FROM json_each(?))"
        values: tuple[Any, ...] = (from_tick, last, as_json(chosen))
        found = list(read(database, Event, f"{where} ORDER BY tick, event_id LIMIT ?", *values, limit))
        total = int(database.row(f"SELECT count(*) FROM events {where}", *values)[0])
    among = [event for kind in chosen for event in others.get(kind, ()) if from_tick <= event.tick <= last]
    return EventList(sorted(found + among, key=lambda event: event.tick)[:limit], total + len(among), counts)


def _errors(database: Database, first: int, last: int) -> Iterator[Event]:
    """Return errors as events; one whose tick an older run did not keep stands before all."""
    rest = f"WHERE coalesce({ERROR_TICK}, 0) BETWEEN ? AND ? ORDER BY timestamp LIMIT {MOST_ERRORS}"
    for error in read(database, ErrorSeen, rest, first, last):
        detail = {"recovered": error.recovered, "recovery": error.recovery}
        yield Event(error.at, error.tick or 0, 0, "Error", f"{error.type}: {error.message}", detail)


def _rewinds(database: Database) -> Iterator[Event]:
    for rewound in read(database, Rewound):
        title = f"went back from tick {rewound.from_tick} to {rewound.to_tick}: {rewound.reason}"
        yield Event(rewound.at, rewound.to_tick, 0, "Rewind", title, {"from_tick": rewound.from_tick})
