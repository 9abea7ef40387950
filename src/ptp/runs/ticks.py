"""One tick of a run, the world's state after it, the decisions, and what happened along the way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct

from ptp.errors import UnknownName
from ptp.recording import RunDirectory
from ptp.recording.database import Database
from ptp.records import DecisionMade, EpisodeEnded, ErrorSeen, Event, Rewound, Step
from ptp.runs.tables import ERROR_TICK, State, as_json, as_state, decode_text, read, read_named

MOST_ERRORS = 1_000  # errors that are shown among events
MOST_STEPS = 100_000  # of an episode whose rewards are added up
ANY = 1 << 62  # a tick after every other
VALID = "execution_status IS NOT 'rolled_back'"
_STATES = (
    "SELECT tick, 0, state FROM steps WHERE state IS NOT NULL AND tick <= ? ORDER BY tick DESC LIMIT 1",
    # an episode begins after its tick, with a state that counts from the next one on
    """SELECT tick, 1, state FROM episode_starts
       WHERE state IS NOT NULL AND tick < max(?1, 1)
         AND episode <= 1 + coalesce((SELECT episode FROM steps WHERE tick <= ?1 ORDER BY tick DESC LIMIT 1), 0)
       ORDER BY episode DESC LIMIT 1""",
    "SELECT tick, 2, game_state FROM action_history WHERE tick <= ? ORDER BY tick DESC LIMIT 1",
)
"""Where a state may be found: what a run without a tape kept comes last."""


class NoTick(UnknownName):
    """A tick that the run does not have."""

    def __init__(self, tick: int, last: int) -> None:
        super().__init__("tick", str(tick), [], f"the run has ticks 0 to {last}")


class Tick(Struct):
    """One tick of a run."""

    tick: int
    last_tick: int
    """The newest tick of the run."""
    step: Step | None
    """The command and what came of it; null at tick 0, before the first one."""
    state: Any
    """The world's state after it."""
    episode_return: float | None
    """The sum of the episode's rewards up to it; null at tick 0, and late in an episode of very many steps."""
    decision: DecisionMade | None
    """The decision that its command came from."""
    events: list[Event]
    """What happened in it."""
    screenshot_id: str | None
    """The picture that was kept of it."""


class DecisionList(Struct):
    """A page of decisions, newest first."""

    decisions: list[DecisionMade]
    next_before: str | None
    """What to give as `before` for the next page; null on the last one."""


class EventList(Struct):
    """Events in the order of their ticks.

    Errors, rewinds and the ends of episodes are among them, of the kinds `Error`, `Rewind` and `Episode`.
    """

    events: list[Event]
    total_count: int
    """Events that the filter lets through; more than are listed when there is a limit."""
    kinds: dict[str, int]
    """How many events of each kind the run has."""


def newest_tick(database: Database) -> int:
    """Return the newest tick, 0 when there is none; a run without a tape has it in its decisions."""
    decided = f"SELECT max(tick) FROM action_history WHERE {VALID}"
    return int(database.row(f"SELECT coalesce((SELECT max(tick) FROM steps), ({decided}), 0)")[0])


def check_tick(database: Database, tick: int) -> int:
    """Return the newest tick, once it is known that the run has *tick*."""
    last = newest_tick(database)
    if not 0 <= tick <= last:
        raise NoTick(tick, last)
    return last


def state_at(database: Database, tick: int = ANY) -> State:
    """Return the state after a tick, or after the newest one; it is kept only where it changed."""
    found = [next(database.rows(query, tick), None) for query in _STATES]
    newest = max((row for row in found[:2] if row is not None), key=lambda row: row[:2], default=found[2])
    return {} if newest is None else as_state(decode_text(newest[2]))


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
            episode_return=episode_return(database, tick),
            decision=decision_before(database, tick),
            events=[
                *read(database, Event, "WHERE tick = ? ORDER BY event_id", tick),
                *_errors(database, tick, tick),
                *_episodes(database, tick, tick, 1),
            ],
            screenshot_id=next((shot[0] for shot in shots), None),
        )


def episode_return(database: Database, tick: int) -> float | None:
    """Return the sum of an episode's rewards up to a tick; None where that means to read very many steps."""
    for (step,) in database.rows("SELECT step FROM steps WHERE tick = ?", tick):
        if step <= MOST_STEPS:
            query = "SELECT sum(reward) FROM steps WHERE tick BETWEEN ? AND ?"
            total: float | None = database.row(query, tick - step + 1, tick)[0]
            return total
    return None


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


def list_events(directory: RunDirectory, kinds: Sequence[str], first: int, last: int | None, limit: int) -> EventList:
    """Return events in the order of their ticks, with errors, rewinds and the ends of episodes among them."""
    last = ANY if last is None else last
    with Database(directory.database) as database:
        counts = dict(database.rows("SELECT kind, count(*) FROM events GROUP BY kind"))
        others = {"Error": [*_errors(database, 0, ANY)], "Rewind": [*_rewinds(database)]}
        counts |= {kind: len(events) for kind, events in others.items() if events}
        if episodes := database.row("SELECT count(*) FROM episodes")[0]:
            counts["Episode"] = episodes
        chosen = [kind for kind in (kinds or counts) if kind in counts]
        where = "WHERE tick BETWEEN ? AND ? AND kind IN (SELECT value FROM json_each(?))"
        values = (first, last, as_json(chosen))
        found = list(read(database, Event, f"{where} ORDER BY tick, event_id LIMIT ?", *values, limit))
        total = int(database.row(f"SELECT count(*) FROM events {where}", *values)[0])
        if "Episode" in chosen:
            found += _episodes(database, first, last, limit)
            total += database.row("SELECT count(*) FROM episodes WHERE last_tick BETWEEN ? AND ?", first, last)[0]
    among = [event for kind in chosen for event in others.get(kind, ()) if first <= event.tick <= last]
    return EventList(sorted(found + among, key=lambda event: event.tick)[:limit], total + len(among), counts)


def _errors(database: Database, first: int, last: int) -> Iterator[Event]:
    """Return errors as events; one whose tick an older run did not keep stands before all."""
    rest = f"WHERE coalesce({ERROR_TICK}, 0) BETWEEN ? AND ? ORDER BY timestamp LIMIT {MOST_ERRORS}"
    for error in read(database, ErrorSeen, rest, first, last):
        detail = {"recovered": error.recovered, "recovery": error.recovery}
        yield Event(error.at, error.tick or 0, 0, "Error", f"{error.type}: {error.message}", detail)


def _episodes(database: Database, first: int, last: int, limit: int) -> Iterator[Event]:
    rest = "WHERE last_tick BETWEEN ? AND ? ORDER BY episode LIMIT ?"
    for ended in read(database, EpisodeEnded, rest, first, last, limit):
        steps = f"{ended.steps:,} step{'s' * (ended.steps != 1)}"
        title = f"episode {ended.episode:,} ended after {steps}, return {ended.reward or 0:,.6g}"
        detail = {
            "episode": ended.episode,
            "steps": ended.steps,
            "return": ended.reward,
            "terminated": ended.terminated,
        }
        made = decision_before(database, ended.tick)
        yield Event(made.at if made else 0.0, ended.tick, 0, "Episode", title, detail)


def _rewinds(database: Database) -> Iterator[Event]:
    for rewound in read(database, Rewound):
        title = f"went back from tick {rewound.from_tick} to {rewound.to_tick}: {rewound.reason}"
        yield Event(rewound.at, rewound.to_tick, 0, "Rewind", title, {"from_tick": rewound.from_tick})
