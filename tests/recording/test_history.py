"""Going back into a battle: what was fought after that point is given up, and it can be fought again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import apsw
import msgspec
import pytest

from ptp.engine import Happened
from ptp.recording.database import create_database
from ptp.recording.game import GameRows
from ptp.recording.history import copy_history, open_battle, rewind
from ptp.recording.writer import Writer
from ptp.worlds.gameboy import events as game

RUN = "0192f000-0000-7000-8000-000000000001"
OTHER = "0192f111-0000-7000-8000-000000000002"


def turn(number: int) -> game.BattleTurn:
    return game.BattleTurn(number, "move", "BUMP", "NIBBIN", 3, "move", "BUMP", 2, 18, 12, "goes on")


STARTED = game.BattleStarted("wild", None, "NIBBIN", 3, "ROUTE")
ENDED = game.BattleEnded("wild", "win", 3, "NIBBIN", 3, None, "EMBERET", {"TONIC": 1}, 20)
BATTLE: dict[int, msgspec.Struct] = {5: STARTED, 6: turn(1), 8: turn(2), 10: turn(3), 11: ENDED}


def fight(connection: apsw.Connection, run_id: str, ticks: dict[int, msgspec.Struct]) -> None:
    """Record events at their ticks, as a run does."""
    writer = Writer(connection, run_id)
    writer.rows_of = GameRows(run_id, open_battle(connection)).rows
    for tick, event in ticks.items():
        writer.add([Happened(1_700_000_000.0 + tick, tick, 0, event)])
    writer.close()


def battles(connection: apsw.Connection) -> list[tuple[object, ...]]:
    return connection.execute("SELECT outcome, turns_taken, ended_at IS NULL, used_items FROM battles").fetchall()


def turns(connection: apsw.Connection) -> list[tuple[object, ...]]:
    return connection.execute("SELECT turn_number FROM battle_turns ORDER BY 1").fetchall()


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[apsw.Connection]:
    opened = create_database(tmp_path / "game_data.db")
    yield opened
    opened.close()


def go_back(connection: apsw.Connection, tick: int) -> None:
    with connection:
        rewind(connection, RUN, tick, 0.0, "test", 0)


def test_a_battle_that_is_gone_back_into_is_open_again_with_the_turns_until_then(connection: apsw.Connection) -> None:
    fight(connection, RUN, BATTLE)
    go_back(connection, 8)
    assert battles(connection) == [(None, None, 1, None)]
    assert turns(connection) == [(1,), (2,)]


def test_the_same_turns_can_be_fought_again_and_end_otherwise(connection: apsw.Connection) -> None:
    fight(connection, RUN, {tick: event for tick, event in BATTLE.items() if tick < 11})  # it was still going on
    go_back(connection, 6)
    fight(connection, RUN, {7: turn(2), 9: game.BattleEnded("wild", "flee", 2, "NIBBIN", 3, None, "EMBERET", {}, 0)})
    assert battles(connection) == [("flee", 2, 0, "{}")]
    assert turns(connection) == [(1,), (2,)]


def test_a_battle_that_was_over_by_then_stays_as_it_was(connection: apsw.Connection) -> None:
    fight(connection, RUN, BATTLE)
    go_back(connection, 11)
    assert battles(connection) == [("win", 3, 0, '{"TONIC":1}')]
    assert turns(connection) == [(1,), (2,), (3,)]


def test_a_battle_that_had_not_begun_is_gone(connection: apsw.Connection) -> None:
    fight(connection, RUN, BATTLE)
    go_back(connection, 4)
    assert battles(connection) == []
    assert turns(connection) == []


def test_a_fork_inside_a_battle_does_not_know_how_it_ends(connection: apsw.Connection, tmp_path: Path) -> None:
    fight(connection, RUN, BATTLE)
    fork = create_database(tmp_path / "fork.db")
    copy_history(fork, tmp_path / "game_data.db", RUN, OTHER, 6)
    assert battles(fork) == [(None, None, 1, None)]
    assert turns(fork) == [(1,)]
    assert open_battle(fork) == f"{OTHER[:24]}000000000005"
    assert fork.execute("SELECT tick FROM events ORDER BY tick").fetchall() == [(5,), (6,)]
    fork.close()
