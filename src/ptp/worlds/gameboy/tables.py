"""Events as rows of the game's tables: battles, turns, travels, the bag, the party, goals.

Ids begin with the tick, so that going back finds what it gives up. Nothing is remembered between two events: the
battle that is going on is the newest that has not ended.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from ptp._util.clock import iso
from ptp._util.ids import numbered_id
from ptp.records import Event
from ptp.worlds.knowledge import Row

BY_TICK = ("navigation_events",)
BY_ID = {
    "battles": "battle_id",
    "battle_turns": "turn_id",
    "inventory_transactions": "transaction_id",
    "objectives": "objective_id",
}
GOING_ON = "(SELECT max(battle_id) FROM battles WHERE ended_at IS NULL)"
TRAVELS = {"Encounter": "encounter", "MapChanged": "move", "DialogShown": "interact"}
TURN = ("player_action", "player_move", "player_target", "player_damage", "enemy_action", "enemy_move",
        "enemy_damage", "player_hp_after", "enemy_hp_after")  # fmt: skip

Detail = dict[str, Any]


def rows(run_id: str, event: Event) -> list[Row]:
    """Return the rows that an event makes; most make one, some none."""
    if event.kind == "PartySeen":
        source = "(SELECT ?1 AS detail, ?2 AS timestamp)"
        return [Row(_party_sql(run_id, source), (_text(event.detail), iso(event.at)))]
    make = _MAKERS.get(event.kind)
    return [make(run_id, event, msgspec.to_builtins(event.detail))] if make else []


def _start(run_id: str, event: Event, detail: Detail) -> Row:
    return _insert(
        "battles",
        battle_id=numbered_id(run_id, event.tick),
        run_id=run_id,
        started_at=iso(event.at),
        battle_type=detail["kind"],
        enemy_species=detail["enemy_species"],
        enemy_level=detail["enemy_level"],
        enemy_trainer=detail["trainer"],
    )


def _turn(run_id: str, event: Event, detail: Detail) -> Row:
    return Row(
        f"INSERT INTO battle_turns (turn_id, battle_id, turn_number, timestamp, turn_result, {', '.join(TURN)}) "
        f"SELECT battle_id || printf('/%04d', ?1), battle_id, ?1, ?2, ?3{''.join(f', ?{n + 4}' for n in range(9))} "
        f"FROM battles WHERE battle_id = {GOING_ON}",
        (detail["number"], iso(event.at), detail["result"], *(detail[name] for name in TURN)),
    )


def _end(run_id: str, event: Event, detail: Detail) -> Row:
    outcome = "win" if detail["outcome"] == "caught" else detail["outcome"]  # the catch itself is a goal of its own
    return Row(
        "UPDATE battles SET ended_at = ?, outcome = ?, turns_taken = ?, enemy_species = coalesce(enemy_species, ?),"
        " enemy_level = coalesce(enemy_level, ?), player_pokemon = ?, used_items = ?, money_earned = ?"
        f" WHERE battle_id = {GOING_ON}",
        (iso(event.at), outcome, detail["turns"], detail["enemy_species"], detail["enemy_level"],
         detail["player_pokemon"], _text(detail["used_items"]), detail["money_earned"]),
    )  # fmt: skip


def _travel(run_id: str, event: Event, detail: Detail) -> Row:
    return _insert(
        "navigation_events",
        event_id=_key(run_id, event),
        run_id=run_id,
        timestamp=iso(event.at),
        tick=event.tick,
        event_type=TRAVELS[event.kind],
        from_location=detail.get("from_location"),
        to_location=detail.get("to_location"),
        direction=detail.get("direction"),
        map_name=detail["to_location" if event.kind == "MapChanged" else "location"],
        coordinates=_text(detail["coordinates"]),
        encountered_pokemon=detail.get("species"),
    )


def _item(run_id: str, event: Event, detail: Detail) -> Row:
    values = {name: detail[name] for name in ("action", "item", "quantity", "source")}
    return _transaction(run_id, event, {"item_id": detail["item_id"]}, **values)


def _money(run_id: str, event: Event, detail: Detail) -> Row:
    change = detail["change"]
    action = "add" if change > 0 else "remove"
    return _transaction(run_id, event, {"money": detail["money"]}, action=action, item="MONEY", quantity=abs(change))


def _transaction(run_id: str, event: Event, context: Detail, **values: Any) -> Row:
    return _insert(
        "inventory_transactions",
        transaction_id=_key(run_id, event),
        run_id=run_id,
        timestamp=iso(event.at),
        context=_text({"tick": event.tick, **context}),
        **values,
    )


def _badge(run_id: str, event: Event, detail: Detail) -> Row:
    return _goal(run_id, event, "badge", detail["name"] or f"Badge {detail['count']}")


def _catch(run_id: str, event: Event, detail: Detail) -> Row:
    return _goal(run_id, event, "catch", detail["species"])


def _goal(run_id: str, event: Event, kind: str, target: str | None) -> Row:
    return _insert(
        "objectives",
        objective_id=_key(run_id, event),
        run_id=run_id,
        objective_type=kind,
        target=target,
        status="completed",
        completed_at=iso(event.at),
        progress=_text(event.detail),
    )


_MAKERS: dict[str, Callable[[str, Event, Detail], Row]] = {
    "BattleStarted": _start,
    "BattleTurn": _turn,
    "BattleEnded": _end,
    "Encounter": _travel,
    "MapChanged": _travel,
    "DialogShown": _travel,
    "ItemChanged": _item,
    "MoneyChanged": _money,
    "BadgeEarned": _badge,
    "Caught": _catch,
}


def _party_sql(run_id: str, source: str) -> str:
    """Return the SQL that takes over the parties in *source*, which has `detail` and `timestamp`, oldest first.

    A creature keeps the time and place in which it was first seen.
    """
    return f"""
        INSERT INTO pokemon_party
        SELECT '{run_id}/' || id, '{run_id}', id, it ->> 'species', it ->> 'nickname', it ->> 'level', it ->> 'hp',
            it ->> 'max_hp', it ->> 'experience',
            (SELECT json_group_array(value ->> 'name') FROM json_each(it, '$.moves')),
            iif(it ->> 'hp', 'alive', 'fainted'), timestamp, location
        FROM (SELECT printf('%04x-%04x-%s', value ->> 'trainer_id', value ->> 'dvs', value ->> 'dex') AS id,
            value AS it, timestamp, detail ->> 'location' AS location FROM {source}, json_each(detail, '$.members'))
        WHERE true ON CONFLICT (party_id) DO UPDATE SET
            species = excluded.species, nickname = excluded.nickname, level = excluded.level,
            current_hp = excluded.current_hp, max_hp = excluded.max_hp, experience = excluded.experience,
            moves = excluded.moves, status = excluded.status
    """


def rewound(run_id: str, to_tick: int) -> list[Row]:
    """Return what makes the battle that was fought at a tick, and the party, be as they were then.

    The events tell how, which by now end at the tick.
    """
    began = "(SELECT max(tick) FROM events WHERE kind = 'BattleStarted')"
    ended = "(SELECT coalesce(max(tick), 0) FROM events WHERE kind = 'BattleEnded')"
    fought = f"(SELECT printf('{run_id[:24]}%012x', {began}) WHERE {began} > {ended})"
    turns = f"(SELECT coalesce(max(detail ->> 'number'), 0) FROM events WHERE kind = 'BattleTurn' AND tick >= {began})"
    seen = "(SELECT detail, timestamp FROM events WHERE kind = 'PartySeen' ORDER BY tick, event_id)"
    return [
        Row(f"DELETE FROM battle_turns WHERE battle_id = {fought} AND turn_number > {turns}"),
        Row(
            "UPDATE battles SET ended_at = NULL, outcome = NULL, turns_taken = NULL, player_pokemon = NULL, "
            f"used_items = NULL, money_earned = NULL WHERE battle_id = {fought}"
        ),
        Row(f"DELETE FROM pokemon_party WHERE party_id GLOB '{run_id}/????-????-*'"),  # those that events tell of
        Row(_party_sql(run_id, seen)),
    ]


def _key(run_id: str, event: Event) -> str:
    return f"{numbered_id(run_id, event.tick)}/{event.index:02d}"


def _text(value: Any) -> str | None:
    return None if value is None else msgspec.json.encode(value).decode()


def _insert(table: str, **values: Any) -> Row:
    places = ", ".join("?" * len(values))
    return Row(f"INSERT INTO {table} ({', '.join(values)}) VALUES ({places})", tuple(values.values()))
