"""Events as rows of the game's tables: battles, turns, travels, the bag, the party, goals.

Ids begin with the tick, so that going back finds what it gives up. Nothing is remembered between two events: the
battle that is going on is the newest that has not ended.
"""

from __future__ import annotations

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
EVENT = "WITH event(detail, timestamp, tick, first, id, run) AS (VALUES (?, ?, ?, ?, ?, ?)) "
GOING_ON = "(SELECT max(battle_id) FROM battles WHERE ended_at IS NULL)"
MEMBER_ID = "printf('%04x-%04x', value ->> 'trainer_id', value ->> 'dvs')"
LEFT = f"""UPDATE pokemon_party SET status = 'boxed' WHERE pokemon_id GLOB '????-????'
    AND status IN ('alive', 'fainted') AND pokemon_id NOT IN (SELECT {MEMBER_ID} FROM json_each({{}}, '$.members'))"""
"""Who was in the party and is not any more has been put away; no game lets anyone go from the party itself."""
GIVEN = "UPDATE pokemon_party SET status = 'traded' WHERE pokemon_id IN ({})"


def _told(*names: str, **renamed: str) -> dict[str, str]:
    """Return the columns that are fields of the event, most of them with the same name."""
    fields = {name: name for name in names} | renamed
    return {column: f"detail ->> '{field}'" for column, field in fields.items()}


def _insert(table: str, columns: dict[str, str], source: str = "event") -> str:
    return f"{EVENT}INSERT INTO {table} ({', '.join(columns)}) SELECT {', '.join(columns.values())} FROM {source}"


def _travel(kind: str, place: str, **columns: str) -> str:
    known = {"event_id": "id", "run_id": "run", "timestamp": "timestamp", "tick": "tick", "event_type": f"'{kind}'"}
    return _insert("navigation_events", {**known, **_told("coordinates", map_name=place), **columns})


def _transaction(context: str, **columns: str) -> str:
    known = {"transaction_id": "id", "run_id": "run", "timestamp": "timestamp"}
    about = f"json_object('tick', tick, '{context}', detail ->> '{context}')"
    return _insert("inventory_transactions", {**known, "context": about, **columns})


def _goal(kind: str, target: str, started_at: str) -> str:
    known = {"objective_id": "id", "run_id": "run", "completed_at": "timestamp", "progress": "detail"}
    known["started_at"] = started_at
    return _insert("objectives", {**known, "objective_type": f"'{kind}'", "status": "'completed'", "target": target})


def _party(source: str) -> str:
    """Return the SQL that takes over the parties in *source*, oldest first.

    A creature keeps the time and place in which it was first seen.
    """
    return f"""
        INSERT INTO pokemon_party
        SELECT run || '/' || id, run, id, it ->> 'species', it ->> 'nickname', it ->> 'level', it ->> 'hp',
            it ->> 'max_hp', it ->> 'experience',
            (SELECT json_group_array(value ->> 'name') FROM json_each(it, '$.moves')),
            iif(it ->> 'hp', 'alive', 'fainted'), timestamp, location
        FROM (SELECT {MEMBER_ID} AS id,
            value AS it, run, timestamp, detail ->> 'location' AS location
            FROM {source}, json_each(detail, '$.members'))
        WHERE true ON CONFLICT (party_id) DO UPDATE SET
            species = excluded.species, nickname = excluded.nickname, level = excluded.level,
            current_hp = excluded.current_hp, max_hp = excluded.max_hp, experience = excluded.experience,
            moves = excluded.moves, status = excluded.status
    """


def _boxed(source: str) -> str:
    """Return the SQL for catches that did not join the party: all that is known is what was caught, when and where."""
    return f"""
        INSERT INTO pokemon_party (party_id, run_id, pokemon_id, species, level, status, caught_at, catch_location)
        SELECT run || '/caught-' || tick, run, 'caught-' || tick, detail ->> 'species', detail ->> 'level', 'boxed',
            timestamp, detail ->> 'location'
        FROM {source} WHERE NOT detail ->> 'in_party'
    """


STATEMENTS = {
    "BattleStarted": _insert(
        "battles",
        {
            "battle_id": "first",
            "run_id": "run",
            "started_at": "timestamp",
            **_told("enemy_species", "enemy_level", battle_type="kind", enemy_trainer="trainer"),
        },
    ),
    "BattleTurn": _insert(
        "battle_turns",
        {
            "turn_id": "battle_id || printf('/%04d', detail ->> 'number')",
            "battle_id": "battle_id",
            "timestamp": "timestamp",
            **_told("player_action", "player_move", "player_target", "player_damage", "player_hp_after"),
            **_told("enemy_action", "enemy_move", "enemy_damage", "enemy_hp_after"),
            **_told(turn_number="number", turn_result="result"),
        },
        f"event, battles WHERE battle_id = {GOING_ON}",
    ),
    # that something was caught is a goal of its own; the battle was won
    "BattleEnded": f"""{EVENT}
        UPDATE battles SET ended_at = timestamp, turns_taken = detail ->> 'turns',
            outcome = iif(detail ->> 'outcome' = 'caught', 'win', detail ->> 'outcome'),
            enemy_species = coalesce(enemy_species, detail ->> 'enemy_species'),
            enemy_level = coalesce(enemy_level, detail ->> 'enemy_level'),
            player_pokemon = detail ->> 'player_pokemon', used_items = detail ->> 'used_items',
            money_earned = detail ->> 'money_earned'
        FROM event WHERE battle_id = {GOING_ON}""",
    "Encounter": _travel("encounter", "location", encountered_pokemon="detail ->> 'species'"),
    "MapChanged": _travel("move", "to_location", **_told("from_location", "to_location", "direction")),
    "DialogShown": _travel("interact", "location"),
    "ItemChanged": _transaction("item_id", **_told("action", "item", "quantity", "source")),
    "MoneyChanged": _transaction(
        "money",
        action="iif(detail ->> 'change' > 0, 'add', 'remove')",
        item="'MONEY'",
        quantity="abs(detail ->> 'change')",
        **_told("source"),
    ),
    # the next badge is looked for from the last one on, the first from the start of the run
    "BadgeEarned": _goal(
        "badge",
        "coalesce(detail ->> 'name', 'Badge ' || (detail ->> 'count'))",
        "coalesce((SELECT max(completed_at) FROM objectives WHERE objective_type = 'badge'), "
        "(SELECT started_at FROM runs))",
    ),
    # a catch begins with its battle; when a trade was agreed on, nothing tells
    "Caught": _goal(
        "catch",
        "detail ->> 'species'",
        f"iif(detail ->> 'source' = 'trade', NULL, (SELECT started_at FROM battles WHERE battle_id = {GOING_ON}))",
    ),
    "PartySeen": EVENT + _party("event"),
}
MORE = {
    "Caught": (EVENT + _boxed("event"), EVENT + GIVEN.format("SELECT detail ->> 'given' FROM event")),
    "PartySeen": (EVENT + LEFT.format("(SELECT detail FROM event)"),),
}
"""What some events change besides."""


def rows(run_id: str, event: Event) -> list[Row]:
    """Return the statements that an event makes, if it makes any."""
    if event.kind not in STATEMENTS:
        return []
    detail, first = msgspec.json.encode(event.detail).decode(), numbered_id(run_id, event.tick)
    values = (detail, iso(event.at), event.tick, first, f"{first}/{event.index:02d}", run_id)
    return [Row(sql, values) for sql in (STATEMENTS[event.kind], *MORE.get(event.kind, ()))]


def rewound(run_id: str, to_tick: int) -> list[Row]:
    """Return what makes the battle that was fought at a tick, and the party, be as they were then.

    The events tell how, which by now end at the tick.
    """
    newest = "(SELECT tick FROM events WHERE kind = '{}' ORDER BY tick DESC LIMIT 1)"  # which the index finds at once
    began, ended = newest.format("BattleStarted"), f"coalesce({newest.format('BattleEnded')}, 0)"
    fought = f"(SELECT printf('{run_id[:24]}%012x', {began}) WHERE {began} > {ended})"
    turns = f"(SELECT coalesce(max(detail ->> 'number'), 0) FROM events WHERE kind = 'BattleTurn' AND tick >= {began})"
    caught = f"(SELECT *, '{run_id}' AS run FROM events WHERE kind = 'Caught' ORDER BY tick, event_id)"
    last = "(SELECT detail FROM events WHERE kind = 'PartySeen' ORDER BY tick DESC, event_id DESC LIMIT 1)"
    members = f"FROM events, json_each(detail, '$.members') WHERE kind = 'PartySeen' GROUP BY {MEMBER_ID}"
    ends = f"WITH ends(a, b) AS MATERIALIZED (SELECT min(event_id), max(event_id) {members})"
    seen = "event_id IN (SELECT a FROM ends UNION SELECT b FROM ends)"  # first and last; those between are overwritten
    parties = f"({ends} SELECT *, '{run_id}' AS run FROM events WHERE {seen} ORDER BY tick, event_id)"
    return [
        Row(f"DELETE FROM battle_turns WHERE battle_id = {fought} AND turn_number > {turns}"),
        Row(
            "UPDATE battles SET ended_at = NULL, outcome = NULL, turns_taken = NULL, player_pokemon = NULL, "
            f"used_items = NULL, money_earned = NULL WHERE battle_id = {fought}"
        ),
        Row(  # those that events tell of
            f"DELETE FROM pokemon_party WHERE party_id GLOB '{run_id}/????-????*' OR party_id GLOB '{run_id}/caught-*'"
        ),
        Row(_party(parties)),
        Row(_boxed(caught)),
        Row(GIVEN.format("SELECT detail ->> 'given' FROM events WHERE kind = 'Caught'")),
        Row(LEFT.format(last)),
    ]
