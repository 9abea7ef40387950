"""What a Game Boy game tells, as rows of its tables: battles, turns, travels, the bag, the party, goals."""

from __future__ import annotations

from typing import Any

import msgspec

from ptp._util.clock import iso
from ptp._util.ids import numbered_id
from ptp.engine import Happened
from ptp.recording.entries import Row
from ptp.worlds.gameboy import events as game

_json = msgspec.json.Encoder().encode


def party_sql(run_id: str, source: str) -> str:
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


class GameRows:
    """Turns the events of one run into rows; ids begin with the tick, so that a rewind finds what it gives up."""

    def __init__(self, run_id: str, open_battle: str | None = None) -> None:
        self._run_id = run_id
        self._battle = open_battle

    def rows(self, happened: Happened) -> list[Row]:
        """Return the rows that an event makes; most make one, some none."""
        event = happened.event
        stamp = iso(happened.at)
        key = f"{numbered_id(self._run_id, happened.tick)}/{happened.index:02d}"
        match event:
            case game.BattleStarted():
                return [self._start(event, happened.tick, stamp)]
            case game.BattleTurn():
                return [self._turn(event, stamp)] if self._battle else []
            case game.BattleEnded():
                return [self._end(event, stamp)] if self._battle else []
            case game.Encounter() | game.MapChanged() | game.DialogShown():
                return [self._travel(event, key, stamp, happened.tick)]
            case game.ItemChanged() | game.MoneyChanged():
                return [self._bag(event, key, stamp, happened.tick)]
            case game.BadgeEarned():
                return [self._goal("badge", event.name or f"Badge {event.count}", event, key, stamp)]
            case game.Caught():
                return [self._goal("catch", event.species, event, key, stamp)]
            case game.PartySeen():
                return [Row(party_sql(self._run_id, "(SELECT ?1 AS detail, ?2 AS timestamp)"), (_text(event), stamp))]
        return []

    def _start(self, event: game.BattleStarted, tick: int, stamp: str) -> Row:
        self._battle = numbered_id(self._run_id, tick)
        return _insert("battles", battle_id=self._battle, run_id=self._run_id, started_at=stamp, battle_type=event.kind,
                       enemy_species=event.enemy_species, enemy_level=event.enemy_level,
                       enemy_trainer=event.trainer)  # fmt: skip

    def _turn(self, event: game.BattleTurn, stamp: str) -> Row:
        return _insert("battle_turns", turn_id=f"{self._battle}/{event.number:04d}", battle_id=self._battle,
                       turn_number=event.number, timestamp=stamp, player_action=event.player_action,
                       player_move=event.player_move, player_target=event.player_target,
                       player_damage=event.player_damage, enemy_action=event.enemy_action,
                       enemy_move=event.enemy_move, enemy_damage=event.enemy_damage,
                       player_hp_after=event.player_hp_after, enemy_hp_after=event.enemy_hp_after,
                       turn_result=event.result)  # fmt: skip

    def _end(self, event: game.BattleEnded, stamp: str) -> Row:
        outcome = "win" if event.outcome == "caught" else event.outcome  # the catch itself is a goal of its own
        battle, self._battle = self._battle, None
        return Row(
            "UPDATE battles SET ended_at = ?, outcome = ?, turns_taken = ?, enemy_species = coalesce(enemy_species, ?),"
            " enemy_level = coalesce(enemy_level, ?), player_pokemon = ?, used_items = ?, money_earned = ?"
            " WHERE battle_id = ?",
            (stamp, outcome, event.turns, event.enemy_species, event.enemy_level, event.player_pokemon,
             _text(event.used_items), event.money_earned, battle),
        )  # fmt: skip

    def _travel(
        self, event: game.Encounter | game.MapChanged | game.DialogShown, key: str, stamp: str, tick: int
    ) -> Row:
        if isinstance(event, game.MapChanged):
            kind, place = "move", event.to_location
        else:
            kind, place = "encounter" if isinstance(event, game.Encounter) else "interact", event.location
        return _insert("navigation_events", event_id=key, run_id=self._run_id, timestamp=stamp, tick=tick,
                       event_type=kind, from_location=getattr(event, "from_location", None),
                       to_location=getattr(event, "to_location", None), direction=getattr(event, "direction", None),
                       map_name=place,
                       coordinates=_text(event.coordinates),
                       encountered_pokemon=getattr(event, "species", None))  # fmt: skip

    def _bag(self, event: game.ItemChanged | game.MoneyChanged, key: str, stamp: str, tick: int) -> Row:
        if isinstance(event, game.MoneyChanged):
            action, context = "add" if event.change > 0 else "remove", {"tick": tick, "money": event.money}
            values: dict[str, Any] = {"action": action, "item": "MONEY", "quantity": abs(event.change), "source": None}
        else:
            context = {"tick": tick, "item_id": event.item_id}
            values = {name: getattr(event, name) for name in ("action", "item", "quantity", "source")}
        return _insert("inventory_transactions", transaction_id=key, run_id=self._run_id, timestamp=stamp,
                       context=_text(context), **values)  # fmt: skip

    def _goal(self, kind: str, target: str | None, event: msgspec.Struct, key: str, stamp: str) -> Row:
        return _insert("objectives", objective_id=key, run_id=self._run_id, objective_type=kind, target=target,
                       status="completed", completed_at=stamp, progress=_text(event))  # fmt: skip


def _text(value: Any) -> str | None:
    return None if value is None else _json(value).decode()


def _insert(table: str, **values: Any) -> Row:
    places = ", ".join("?" * len(values))
    return Row(f"INSERT INTO {table} ({', '.join(values)}) VALUES ({places})", tuple(values.values()))
