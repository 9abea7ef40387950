"""What a run comes to: from its header when it has ended, from its database while it lives or after a crash."""

from __future__ import annotations

import msgspec

from ptp.recording.database import Database
from ptp.recording.directory import RunDirectory
from ptp.records import Metadata


class Tally(msgspec.Struct, frozen=True):
    """What a run comes to; null where an old run kept no tape."""

    ticks: int | None = 0
    episodes: int | None = 0
    reward: float | None = 0.0
    cost: float | None = 0.0
    decision: str = ""
    """The newest decision whose cost is in it."""
    elapsed: float | None = None
    """Seconds of play."""


NOTHING = Tally()
_COUNT = """SELECT (SELECT max(tick) FROM steps), (SELECT count(*) FROM episodes),
                   (SELECT sum(reward) FROM steps WHERE tick > ?1),
                   (SELECT max(decision_id) FROM action_history),
                   (SELECT sum(api_cost) FROM action_history WHERE decision_id > ?2),
                   (SELECT elapsed FROM steps ORDER BY tick DESC LIMIT 1)"""


def tally(directory: RunDirectory, metadata: Metadata, before: Tally = NOTHING) -> Tally:
    """Return what a run comes to.

    Of a run that lives, only what came after the tally *before* is counted; it must not have gone back since.
    """
    if metadata.ticks is not None:
        header = metadata
        return Tally(header.ticks, header.episodes, header.total_reward, header.total_cost, "", header.elapsed_seconds)
    with Database(directory.database) as database:
        ticks, episodes, reward, decision, cost, elapsed = database.row(_COUNT, before.ticks, before.decision)
        if not database.has_tape:
            return Tally(None, None, None, cost)
    total, spent = (before.reward or 0.0) + (reward or 0.0), (before.cost or 0.0) + (cost or 0.0)
    return Tally(ticks or 0, episodes, total, spent, decision or "", None if elapsed is None else round(elapsed, 6))
