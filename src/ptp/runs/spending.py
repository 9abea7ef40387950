"""What the dollars that a run may still spend are good for."""

from __future__ import annotations

import time
from datetime import datetime
from typing import TYPE_CHECKING

from ptp._util.clock import iso
from ptp._util.lazy import lazy
from ptp.config import RunConfig
from ptp.recording.database import Database
from ptp.records import Metadata

RECENT = 1_000  # decisions that the price of a call is taken from

if TYPE_CHECKING:
    from ptp.engine import budget
else:
    budget = lazy("ptp.engine.budget")


def calls_remaining(config: RunConfig | None, database: Database, metadata: Metadata) -> int | None:
    """Return how many calls the tightest limit still pays for; null without a limit or before the first payment."""
    query = f"""SELECT avg(api_cost) FROM (SELECT api_cost FROM action_history ORDER BY decision_id DESC LIMIT {RECENT})
                WHERE api_cost > 0"""
    price: float | None = database.row(query)[0]
    left = [] if config is None else _dollars_left(config, database, metadata)
    return max(0, int(min(left) / price)) if left and price is not None else None


def _dollars_left(config: RunConfig, database: Database, metadata: Metadata) -> list[float]:
    """Return what is left of each limit in dollars that the run was given."""
    left = []
    if config.limits.max_cost is not None:
        left.append(config.limits.max_cost - _spent(database, ""))
    if config.tick_rate.budget_limit is not None:
        left.append(config.tick_rate.budget_limit - _spent(database, _period_start(config.tick_rate.budget, metadata)))
    return left


def _period_start(mode: str | None, metadata: Metadata) -> str:
    """Return when the present period of a budget began; for a run that has ended, the one it ended in."""
    if mode in (None, "run"):
        return ""
    seconds = budget.PERIODS[mode]
    end = metadata.completed_at
    now = time.time() if end is None else datetime.fromisoformat(end).timestamp()
    return iso(now // seconds * seconds)


def _spent(database: Database, since: str) -> float:
    query = "SELECT coalesce(sum(api_cost), 0) FROM action_history WHERE timestamp >= ?"
    return float(database.row(query, since)[0])
