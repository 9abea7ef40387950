"""The tables of the game: what happened in Tallgrass is there, once, and nothing else."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest


@pytest.fixture
def finished(recorded: Callable[..., Path], buttons: Path) -> Iterator[sqlite3.Connection]:
    directory = recorded("tallgrass", "--agent", "script", "--script", str(buttons), ticks=100_000)
    connection = sqlite3.connect(directory / "game_data.db")
    yield connection
    connection.close()


def test_the_walkthrough_is_recorded_as_a_game(finished: sqlite3.Connection) -> None:
    def rows(sql: str) -> list[tuple[object, ...]]:
        return finished.execute(sql).fetchall()

    (state,) = finished.execute("SELECT state FROM steps WHERE state IS NOT NULL ORDER BY tick DESC LIMIT 1").fetchone()
    state = json.loads(state)
    assert state["badges"] == 1
    # battles: each began and ended, the leader's was won, turns belong to battles
    unfinished = "ended_at IS NULL OR outcome IS NULL OR turns_taken IS NULL"
    assert rows(f"SELECT count(*) FROM battles WHERE {unfinished}") == [(0,)]
    assert rows("SELECT outcome FROM battles WHERE battle_type = 'gym' ORDER BY battle_id DESC LIMIT 1") == [("win",)]
    counted = "SELECT count(*) FROM battle_turns t WHERE t.battle_id = b.battle_id"
    assert rows(f"SELECT count(*) FROM battles b WHERE turns_taken <> ({counted})") == [(0,)]
    # goals: the badge once, every catch
    assert rows("SELECT count(*) FROM objectives WHERE objective_type = 'badge'") == [(1,)]
    (catches,) = rows("SELECT count(*) FROM objectives WHERE objective_type = 'catch'")[0]
    assert catches == len(state["party"]) - 1
    # the bag: money adds up
    (earned,) = rows(
        "SELECT sum(CASE action WHEN 'add' THEN quantity ELSE -quantity END) FROM inventory_transactions "
        "WHERE item = 'MONEY'"
    )[0]
    assert 3000 + int(str(earned)) == state["money"]
    # the party: as the last state has it
    party = {member["species"]: member["level"] for member in state["party"]}
    assert sorted(rows("SELECT species, level FROM pokemon_party")) == sorted(party.items())
    # travels: every change of map
    maps = [json.loads(str(detail)) for (detail,) in rows("SELECT detail FROM events WHERE kind = 'MapChanged'")]
    moves = rows("SELECT from_location, to_location FROM navigation_events WHERE event_type = 'move'")
    assert moves == [(event["from_location"], event["to_location"]) for event in maps]
    assert ("FERNHOLLOW", "MEADOW ROAD") in moves
    (encounters,) = rows("SELECT count(*) FROM navigation_events WHERE event_type = 'encounter'")[0]
    assert rows("SELECT count(*) FROM battles WHERE battle_type = 'wild'") == [(encounters,)]
