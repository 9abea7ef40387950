"""What the dollars that a run may still spend are good for."""

from __future__ import annotations

import time
from datetime import datetime
from pathlib import Path
from typing import Any

from ptp._util.clock import iso
from ptp.config.files import read_tree
from ptp.engine.budget import PERIODS
from ptp.recording.database import Database
from ptp.records import Metadata

RECENT = 1_000  # decisions that the price of a call is taken from


def calls_remaining(path: Path, database: Database, metadata: Metadata) -> int | None:
    """Return how many calls the tightest limit still pays for; null without a limit or before the first payment."""
    price = _price(database)
    if price is None:
        return None
    left = [limit - spent for limit, spent in _limits(path, database, metadata)]
    return max(0, int(min(left) / price)) if left else None


def _price(database: Database) -> float | None:
    """Return the mean price of the newest calls that cost something."""
    query = f"""SELECT avg(api_cost) FROM (SELECT api_cost FROM action_history ORDER BY decision_id DESC LIMIT {RECENT})
                WHERE api_cost > 0"""
    price: float | None = database.row(query)[0]
    return price


def _limits(path: Path, database: Database, metadata: Metadata) -> list[tuple[float, float]]:
    """Return the limits in dollars that the run was given, with what is spent of each."""
    config = path / "config.yaml"
    tree: dict[str, Any] = read_tree(config) if config.exists() else {}
    rates, limits = tree.get("tick_rate") or {}, tree.get("limits") or {}
    found = []
    if limits.get("max_cost") is not None:
        found.append((float(limits["max_cost"]), _spent(database, "")))
    if rates.get("budget_limit") is not None:
        found.append((float(rates["budget_limit"]), _spent(database, _period_start(rates.get("budget"), metadata))))
    return found


def _period_start(mode: str | None, metadata: Metadata) -> str:
    """Return when the present period of a budget began; for a run that has ended, the one it ended in."""
    if mode not in PERIODS:
        return ""
    end = metadata.completed_at
    now = time.time() if end is None else datetime.fromisoformat(end).timestamp()
    return iso(now // PERIODS[mode] * PERIODS[mode])


def _spent(database: Database, since: str) -> float:
    query = "SELECT coalesce(sum(api_cost), 0) FROM action_history WHERE timestamp >= ?"
    return float(database.row(query, since)[0])
