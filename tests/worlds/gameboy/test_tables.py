"""Going back into a battle: what was fought after that point is given up, and it can be fought again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import apsw
import msgspec
import pytest

from ptp.recording.database import create_database
from ptp.recording.history import attached, copy_history, rewind
from ptp.recording.seal import Seal
from ptp.recording.writer import Writer
from ptp.records import Event, Rewound
from ptp.worlds.gameboy import events as game
from ptp.worlds.gameboy.knowledge import GameBoyKnowledge
from ptp.worlds.gameboy.state import Member, Move

RUN = "0192f000-0000-7000-8000-000000000001"
GAME = GameBoyKnowledge()
OTHER = "0192f111-0000-7000-8000-000000000002"


def turn(number: int) -> game.BattleTurn:
    return game.BattleTurn(number, "move", "BUMP", "NIBBIN", 3, "move", "BUMP", 2, 18, 12, "goes on")


STARTED = game.BattleStarted("wild", None, "NIBBIN", 3, "ROUTE")
ENDED = game.BattleEnded("wild", "win", 3, "NIBBIN", 3, None, "EMBERET", ["TONIC"], 20)
BATTLE: dict[int, msgspec.Struct] = {5: STARTED, 6: turn(1), 8: turn(2), 10: turn(3), 11: ENDED}


def fight(connection: apsw.Connection, run_id: str, ticks: dict[int, msgspec.Struct]) -> None:
    """Record events at their ticks, as a run does."""
    writer = Writer(Seal(connection), run_id, GAME)
    for tick, event in ticks.items():
        kind = str(event.__struct_config__.tag)
        writer.add([Event(1_700_000_000.0 + tick, tick, 0, kind, kind, event)])
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
    before = len(connection.execute("SELECT rewind FROM rewinds").fetchall())
    with connection:
        rewind(connection, RUN, Rewound(before + 1, 0.0, 99, tick, "test", 0), GAME)


def test_a_battle_that_is_gone_back_into_is_open_again_with_the_turns_until_then(connection: apsw.Connection) -> None:
    fight(connection, RUN, BATTLE)
    go_back(connection, 8)
    assert battles(connection) == [(None, None, 1, None)]
    assert turns(connection) == [(1,), (2,)]


def test_the_same_turns_can_be_fought_again_and_end_otherwise(connection: apsw.Connection) -> None:
    fight(connection, RUN, {tick: event for tick, event in BATTLE.items() if tick < 11})  # it was still going on
    go_back(connection, 6)
    fight(connection, RUN, {7: turn(2), 9: game.BattleEnded("wild", "flee", 2, "NIBBIN", 3, None, "EMBERET", [], 0)})
    assert battles(connection) == [("flee", 2, 0, "[]")]
    assert turns(connection) == [(1,), (2,)]


def test_a_battle_that_was_over_by_then_stays_as_it_was(connection: apsw.Connection) -> None:
    fight(connection, RUN, BATTLE)
    go_back(connection, 11)
    assert battles(connection) == [("win", 3, 0, '["TONIC"]')]
    assert turns(connection) == [(1,), (2,), (3,)]


def test_a_battle_that_had_not_begun_is_gone(connection: apsw.Connection) -> None:
    fight(connection, RUN, BATTLE)
    go_back(connection, 4)
    assert battles(connection) == []
    assert turns(connection) == []


def creature(level: int, hp: int = 9, dvs: int = 1) -> Member:
    move = Move(1, "Scratch", "NORMAL", 40, 35)
    return Member(4, "EMBERET", 1, "PIP", level, hp, 20, None, 0, ("FIRE",), (move,), 135, 9, 9, 9, 9, 77, dvs)


GROWING: dict[int, msgspec.Struct] = {
    3: game.PartySeen((creature(5),), "HOME"),
    6: game.PartySeen((creature(6), creature(3, dvs=2)), "ROUTE"),
    9: game.PartySeen((creature(7, hp=0), creature(3, dvs=2)), "TOWN"),
}
PARTY = "SELECT pokemon_id, level, status, moves, catch_location, caught_at FROM pokemon_party ORDER BY 1"


def test_the_party_is_again_what_it_was(connection: apsw.Connection) -> None:
    fight(connection, RUN, GROWING)
    first = ("004d-0001", 7, "fainted", '["Scratch"]', "HOME", "2023-11-14T22:13:23.000Z")
    second = ("004d-0002", 3, "alive", '["Scratch"]', "ROUTE", "2023-11-14T22:13:26.000Z")
    assert connection.execute(PARTY).fetchall() == [first, second]
    go_back(connection, 8)
    assert connection.execute(PARTY).fetchall() == [(first[0], 6, "alive", *first[3:]), second]
    go_back(connection, 5)
    assert connection.execute(PARTY).fetchall() == [(first[0], 5, "alive", *first[3:])]
    go_back(connection, 1)
    assert connection.execute(PARTY).fetchall() == []


def test_going_back_a_tick_writes_few_rows_however_long_the_run_is(connection: apsw.Connection) -> None:
    long: dict[int, msgspec.Struct] = {
        tick: game.PartySeen((creature(tick % 90),), "HOME") for tick in range(1, 400, 2)
    }
    fight(connection, RUN, long)
    made = "INSERT INTO action_history (decision_id, run_id, tick, execution_status) VALUES (?, ?, ?, 'success')"
    connection.executemany(made, [(f"{RUN}-{tick}", RUN, tick) for tick in range(400)])
    go_back(connection, 300)
    for tick in (299, 298, 297):
        before = connection.total_changes()
        go_back(connection, tick)
        assert connection.total_changes() - before < 20
    assert connection.execute("SELECT level FROM pokemon_party").fetchall() == [(297 % 90,)]
    undone = "SELECT min(tick), count(*) FROM action_history WHERE execution_status = 'rolled_back'"
    assert connection.execute(undone).fetchall() == [(297, 103)]


BOXING: dict[int, msgspec.Struct] = {
    3: game.PartySeen((creature(5), creature(3, dvs=2)), "HOME"),
    6: game.PartySeen((creature(5),), "TOWN"),
    8: game.Caught("NIBBIN", 3, 4, "ROUTE", False),
    9: game.Caught("SPROUTLE", 2, 6, "TOWN", True, "trade", "004d-0001"),
    10: game.PartySeen((creature(6, dvs=3),), "TOWN"),
}
STATUS = "SELECT pokemon_id, species, status FROM pokemon_party ORDER BY 1"


def test_who_left_the_party_is_boxed_or_traded(connection: apsw.Connection) -> None:
    fight(connection, RUN, BOXING)
    away = [("004d-0001", "EMBERET", "traded"), ("004d-0002", "EMBERET", "boxed")]
    caught = ("caught-8", "NIBBIN", "boxed")
    assert connection.execute(STATUS).fetchall() == [*away, ("004d-0003", "EMBERET", "alive"), caught]
    go_back(connection, 8)
    assert connection.execute(STATUS).fetchall() == [("004d-0001", "EMBERET", "alive"), away[1], caught]
    go_back(connection, 7)
    assert connection.execute(STATUS).fetchall() == [("004d-0001", "EMBERET", "alive"), away[1]]
    fight(connection, RUN, {8: BOXING[3]})  # taken out again
    assert [status for *_, status in connection.execute(STATUS).fetchall()] == ["alive", "alive"]


def test_a_creature_that_became_another_is_still_one(connection: apsw.Connection) -> None:
    grown = msgspec.structs.replace(creature(16), species="BLAZERET", dex=2)
    fight(connection, RUN, {3: game.PartySeen((creature(15),), "HOME"), 6: game.PartySeen((grown,), "TOWN")})
    found = connection.execute("SELECT species, status, catch_location FROM pokemon_party").fetchall()
    assert found == [("BLAZERET", "alive", "HOME")]


def test_goals_say_when_they_were_begun(connection: apsw.Connection) -> None:
    connection.execute("INSERT INTO runs (run_id, started_at) VALUES (?, '2023-11-14T22:00:00.000Z')", (RUN,))
    goals: dict[int, msgspec.Struct] = {
        2: game.BadgeEarned("FERN", 1),
        5: STARTED,
        8: game.Caught("NIBBIN", 3, 4, "ROUTE", True),
        9: ENDED,
        10: game.BadgeEarned("SLATE", 2),
        12: game.Caught("SPROUTLE", 2, 6, "TOWN", True, "trade"),
    }
    fight(connection, RUN, goals)
    found = connection.execute("SELECT target, substr(started_at, 15, 5) FROM objectives ORDER BY objective_id")
    assert found.fetchall() == [("FERN", "00:00"), ("NIBBIN", "13:25"), ("SLATE", "13:22"), ("SPROUTLE", None)]


def test_money_has_a_source(connection: apsw.Connection) -> None:
    bag = {3: game.MoneyChanged(150, 3150, "reward"), 4: game.MoneyChanged(-400, 2750, "shop")}
    fight(connection, RUN, {**bag, 5: game.MoneyChanged(-1375, 1375)})
    found = connection.execute("SELECT action, quantity, source FROM inventory_transactions ORDER BY transaction_id")
    assert found.fetchall() == [("add", 150, "reward"), ("remove", 400, "shop"), ("remove", 1375, None)]


def test_a_party_that_no_event_tells_of_is_left_alone(connection: apsw.Connection) -> None:
    connection.execute("INSERT INTO pokemon_party (party_id, species) VALUES ('old', 'EMBERET')")
    go_back(connection, 3)
    assert connection.execute("SELECT species FROM pokemon_party").fetchall() == [("EMBERET",)]


def test_a_fork_has_the_party_of_its_history(connection: apsw.Connection, tmp_path: Path) -> None:
    fight(connection, RUN, GROWING)
    fork = create_database(tmp_path / "fork.db")
    with attached(fork, tmp_path / "game_data.db"):
        copy_history(fork, RUN, OTHER, 6, GAME)
    found = fork.execute("SELECT party_id, run_id, level FROM pokemon_party ORDER BY 1").fetchall()
    assert found == [(f"{OTHER}/004d-0001", OTHER, 6), (f"{OTHER}/004d-0002", OTHER, 3)]
    fork.close()


def test_a_fork_inside_a_battle_does_not_know_how_it_ends(connection: apsw.Connection, tmp_path: Path) -> None:
    fight(connection, RUN, BATTLE)
    fork = create_database(tmp_path / "fork.db")
    with attached(fork, tmp_path / "game_data.db"):
        copy_history(fork, RUN, OTHER, 6, GAME)
    assert battles(fork) == [(None, None, 1, None)]
    assert turns(fork) == [(1,)]
    fight(fork, OTHER, {7: ENDED})
    assert fork.execute("SELECT battle_id, outcome FROM battles").fetchall() == [(f"{OTHER[:24]}000000000005", "win")]
    assert fork.execute("SELECT tick FROM events ORDER BY tick").fetchall() == [(5,), (6,), (7,)]
    fork.close()
