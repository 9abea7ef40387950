"""Where a run stands: its newest tick, and the world's state after any tick."""

from __future__ import annotations

from ptp.errors import UnknownName
from ptp.recording.database import Database
from ptp.runs.data import State, as_state, decode_text

_STATES = (
    "SELECT tick, 0, state FROM steps WHERE state IS NOT NULL AND tick <= ? ORDER BY tick DESC LIMIT 1",
    # an episode begins after its tick, with a state that counts from the next one on
    """SELECT tick, 1, state FROM episode_starts
       WHERE state IS NOT NULL AND tick < max(?, 1) ORDER BY tick DESC LIMIT 1""",
    "SELECT tick, 2, game_state FROM action_history WHERE tick <= ? ORDER BY tick DESC LIMIT 1",
)
"""Where a state may be found: what a run without a tape kept comes last."""


class NoTick(UnknownName):
    """A tick that the run does not have."""

    def __init__(self, tick: int, last: int) -> None:
        super().__init__("tick", str(tick), [], f"the run has ticks 0 to {last}")


def newest_tick(database: Database) -> int:
    """Return the newest tick, 0 when there is none; a run that kept no tape tells it by its decisions."""
    decided = "SELECT max(tick) FROM action_history WHERE execution_status IS NOT 'rolled_back'"
    return int(database.row(f"SELECT coalesce((SELECT max(tick) FROM steps), ({decided}), 0)")[0])


def check_tick(database: Database, tick: int) -> int:
    """Return the newest tick, once it is known that the run has *tick*."""
    last = newest_tick(database)
    if not 0 <= tick <= last:
        raise NoTick(tick, last)
    return last


def state_at(database: Database, tick: int | None = None) -> State:
    """Return the state after a tick, or after the newest one; it is kept only where it changed."""
    found = [next(database.rows(query, 1 << 62 if tick is None else tick), None) for query in _STATES]
    newest = max((row for row in found[:2] if row is not None), key=lambda row: row[:2], default=found[2])
    return {} if newest is None else as_state(decode_text(newest[2]))
