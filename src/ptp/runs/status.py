"""How a run stands: the answer of /api/v1/status, read from the run's database."""

from __future__ import annotations

from typing import Any, get_args

import msgspec

from ptp.config import RunConfig
from ptp.recording import RunDirectory
from ptp.recording.database import Database
from ptp.records import DecisionMade, Metadata
from ptp.runs.answers.status import (
    Coordinates,
    CurrentState,
    DecisionPipeline,
    DecisionStatus,
    PartyMember,
    ScreenType,
    Status,
    SystemHealth,
)
from ptp.runs.data import State, as_known, stamp
from ptp.runs.settings import find_config
from ptp.runs.spending import calls_remaining
from ptp.runs.states import state_at
from ptp.runs.tables import read

BALLS = frozenset({1, 2, 3, 4, 8})  # ids of the items that catch: master, ultra, great, poke, safari
POTIONS = frozenset({16, 17, 18, 19, 20})  # ids of the items that heal HP: full restore, max, hyper, super, potion
STATUSES: dict[str, DecisionStatus] = {
    "pending": "processing",
    "success": "completed",
    "partial": "completed",
    "failed": "failed",
}


class Member(msgspec.Struct):
    """A creature of the party, as a state has it."""

    level: int
    hp: int
    max_hp: int
    nickname: str | None = None
    species: str | None = None
    status: str | None = None


class _Item(msgspec.Struct):
    id: int
    quantity: int
    name: str | None = None


def read_status(directory: RunDirectory, metadata: Metadata) -> Status:
    """Return how a run stands."""
    with Database(directory.database) as database:
        state = state_at(database)
        return Status(
            run_id=metadata.run_id,
            experiment_name=metadata.experiment_name,
            started_at=metadata.started_at,
            elapsed_seconds=last_elapsed(database, metadata),
            current_state=describe_state(state),
            decision_pipeline=_pipeline(database),
            system_health=_health(directory, database, metadata, bool(state.get("battle"))),
        )


def last_elapsed(database: Database, metadata: Metadata) -> float | None:
    """Return the seconds of play so far."""
    for (elapsed,) in database.rows("SELECT elapsed FROM steps ORDER BY tick DESC LIMIT 1"):
        return round(float(elapsed), 3)
    return metadata.elapsed_seconds


def party_of(state: State) -> list[Member] | None:
    """Return the creatures that the player has along; null where the state does not tell."""
    return as_known(state.get("party"), list[Member])


def describe_state(state: State) -> CurrentState:
    """Return what every world's state is told as."""
    party = party_of(state)
    return CurrentState(
        screen_type=_screen_type(state.get("screen_type")),
        location=as_known(state.get("location"), str),
        coordinates=as_known(state.get("coordinates"), Coordinates),
        party=None if party is None else [_member(member) for member in party],
        inventory=_inventory(as_known(state.get("inventory"), list[_Item])),
        badges=as_known(state.get("badges"), int),
        pokemon_caught=as_known(state.get("owned"), int),
    )


def _screen_type(name: Any) -> ScreenType | None:
    return next((known for known in get_args(ScreenType) if known == name), None)


def _member(member: Member) -> PartyMember:
    return PartyMember(member.nickname or member.species, member.level, member.hp, member.max_hp, member.status)


def _inventory(items: list[_Item] | None) -> dict[str, int | None]:
    if items is None:
        return {"pokeballs": None, "potions": None}
    counts: dict[str, int | None] = {
        "pokeballs": sum(item.quantity for item in items if item.id in BALLS),
        "potions": sum(item.quantity for item in items if item.id in POTIONS),
    }
    for item in items:
        name = item.name or f"item {item.id}"
        counts[name] = (counts.get(name) or 0) + item.quantity
    return counts


def _pipeline(database: Database) -> DecisionPipeline:
    rest = "WHERE execution_status IS NOT 'rolled_back' ORDER BY decision_id DESC LIMIT 1"
    for made in read(database, DecisionMade, rest):
        return DecisionPipeline(
            stamp(made.at), made.type, made.confidence, made.latency_ms, made.tokens, made.cost,
            STATUSES.get(made.status),
        )  # fmt: skip
    return DecisionPipeline(None, None, None, None, None, None, None)


def _health(directory: RunDirectory, database: Database, metadata: Metadata, in_battle: bool) -> SystemHealth:
    config = find_config(directory, database)
    return SystemHealth(
        tick_rate_actual=newest_metric(database, "tick_rate"),
        tick_rate_target=target_rate(config, in_battle),
        memory_usage_mb=newest_metric(database, "memory"),
        api_calls_remaining=calls_remaining(config, database, metadata),
        error_count=database.row("SELECT count(*) FROM errors")[0],
        snapshot_count=len(list((directory.path / "snapshots").glob("*.ptpsnap"))),
    )


def newest_metric(database: Database, kind: str) -> float | None:
    """Return the newest measurement of a kind."""
    query = "SELECT value FROM performance_metrics WHERE metric_type = ? ORDER BY tick DESC LIMIT 1"
    return next((row[0] for row in database.rows(query, kind)), None)


def target_rate(config: RunConfig | None, in_battle: bool) -> float | None:
    """Return the ticks per second that the run's settings ask for."""
    if config is None:
        return None
    rates = config.tick_rate
    return float(rates.battle if in_battle and rates.normal and rates.battle else rates.normal)
