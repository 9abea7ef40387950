"""The seal: every row that is there, and every row that is not, is held against what was recorded."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ptp.recording.database import Database, create_database
from ptp.recording.seal import Seal
from ptp.recording.unseal import Checked, check_seal
from ptp.recording.writer import Writer
from ptp.records import DecisionEnded, DecisionMade, FrameKept, Metric, Step
from ptp.worlds.knowledge import Knowledge

RUN = "01a1e142-559b-7db3-8bf0-c635104f2b91"


def step(tick: int, **fields: Any) -> Step:
    given = {"episode": 1, "step": tick, "command": "1", "reward": -1.0, "terminated": False, "truncated": False,
             "elapsed": 0.5, "state_hash": "0123456789abcdef", "state": {"observation": tick}}  # fmt: skip
    return Step(tick, **{**given, **fields})


def decision(number: int, **fields: Any) -> DecisionMade:
    given = {"at": 1.7e9, "tick": number, "state": {"a": 1}, "type": "explore", "context": None, "reasoning": "why",
             "confidence": 1.0, "latency_ms": 12.0, "tokens": 3, "cost": 1e18, "model": None, "status": "success",
             "error": None, "duration_ms": 0.25}  # fmt: skip
    return DecisionMade(number, **{**given, **fields})


def write(path: Path, *lots: list[Any]) -> None:
    connection = create_database(path)
    seal = Seal(connection)
    with seal.change("started", 0):
        seal.everything()
    writer = Writer(seal, RUN, Knowledge())
    for lot in lots:
        writer.add(lot)
        writer.do(lambda _: None)
    writer.close()
    connection.close()


def check(path: Path) -> Checked:
    with Database(path) as database:
        return check_seal(database)


@pytest.fixture
def sealed(tmp_path: Path) -> Path:
    path = tmp_path / "game_data.db"
    write(path, [decision(1), step(1), step(2)], [decision(2), step(3), Metric(1.7e9, 3, "loss", 2.0, "")], [step(4)])
    return path


def tamper(path: Path, sql: str) -> None:
    connection = apsw.Connection(str(path))
    connection.execute(sql)
    connection.close()


def test_what_was_recorded_is_good_and_every_transaction_has_a_link(sealed: Path) -> None:
    checked = check(sealed)
    assert checked.faults == []
    assert [link.reason for link in checked.links] == ["started", "recorded", "recorded", "recorded"]
    assert [link.tick for link in checked.links] == [0, 2, 3, 4]


@pytest.mark.parametrize(
    ("sql", "table", "key", "batch"),
    [
        ("UPDATE steps SET reward = 0 WHERE tick = 2", "steps", "2", 2),
        ("UPDATE steps SET terminated = 1 WHERE tick = 3", "steps", "3", 3),
        ("UPDATE steps SET terminated = 2 WHERE tick = 3", "steps", "3", 3),
        ("UPDATE steps SET elapsed = elapsed + 1e-9 WHERE tick = 3", "steps", "3", 3),
        ("DELETE FROM steps WHERE tick = 4", "steps", "4", 4),
        ("DELETE FROM steps WHERE tick = 2", "steps", "2", 2),
        ("INSERT INTO steps SELECT 9, 1, 9, '', 0, 0, 0, 1, '', '', '', '', ''", "steps", "9", None),
        ("UPDATE action_history SET reasoning = 'because'", "action_history", f"{RUN[:24]}000000000001", 2),
        ("DELETE FROM action_history WHERE tick = 2", "action_history", f"{RUN[:24]}000000000002", 3),
        ("UPDATE performance_metrics SET value = 1", "performance_metrics", f"{RUN[:24]}000000000001", 3),
        ("DELETE FROM seals WHERE batch = 2", "seals", "3", 3),
        ("UPDATE seals SET tick = 7 WHERE batch = 2", "seals", "2", 2),
        ("UPDATE seals SET digest = (SELECT digest FROM seals WHERE batch = 1) WHERE batch = 2", "seals", "2", 2),
        ("UPDATE seals SET changes = x'90' WHERE batch = 2", "seals", "2", 2),
        ("UPDATE _schema_version SET created_at = 'then'", "_schema_version", "2.2", 1),
        ("UPDATE action_history SET api_cost = 1000000000000000001", "action_history", f"{RUN[:24]}000000000001", 2),
    ],
)  # fmt: skip
def test_what_is_not_as_recorded_is_named_with_table_key_and_batch(
    sealed: Path, sql: str, table: str, key: str, batch: int | None
) -> None:
    tamper(sealed, sql)
    first = check(sealed).faults[0]
    assert (first.table, first.key, first.batch) == (table, key, batch)
    assert key in str(first)


def test_a_later_change_is_part_of_the_record(tmp_path: Path) -> None:
    path = tmp_path / "game_data.db"
    kept = FrameKept(1, 1.7e9, None, "frames/1.png", 10, None, None)
    pending = decision(1, status="pending", duration_ms=None)
    write(path, [pending, step(1)], [kept, DecisionEnded(1, "success", None, 5.0)])
    assert check(path).faults == []
    tamper(path, "UPDATE action_history SET execution_status = 'pending'")
    assert "batch 3" in str(check(path).faults[0])


def test_a_row_that_was_tampered_with_is_still_known_after_a_later_change(sealed: Path) -> None:
    tamper(sealed, "UPDATE steps SET reward = 5 WHERE tick = 1")
    connection = apsw.Connection(str(sealed))
    with Seal(connection).change("pruned", 4):
        connection.execute("UPDATE steps SET frame_ref = 'x' WHERE tick = 1")
    connection.close()
    fault = check(sealed).faults[0]
    assert (fault.key, fault.batch) == ("1", 2)
    assert "was not as recorded when batch 5 changed it" in fault.problem


def test_rows_that_were_removed_and_written_again_are_good(sealed: Path) -> None:
    connection = apsw.Connection(str(sealed))
    seal = Seal(connection)
    with seal.change("rolled back", 2):
        connection.execute("DELETE FROM steps WHERE tick > 2")
    writer = Writer(seal, RUN, Knowledge(), 2)
    writer.add([step(3, reward=7.0), step(4)])
    writer.close()
    connection.close()
    assert check(sealed).faults == []


def test_a_change_that_fails_leaves_the_seal_as_it_was(sealed: Path) -> None:
    connection = apsw.Connection(str(sealed))
    seal = Seal(connection)
    head = seal.head
    with pytest.raises(apsw.Error), seal.change("pruned", 4):
        connection.execute("DELETE FROM steps; no such statement")
    assert seal.head == head
    connection.close()
    assert check(sealed).faults == []


def test_a_database_without_links_is_unsealed(tmp_path: Path) -> None:
    create_database(tmp_path / "game_data.db").close()
    checked = check(tmp_path / "game_data.db")
    assert (checked.sealed, checked.faults, checked.head) == (False, [], None)


numbers = st.one_of(st.none(), st.floats(allow_nan=False), st.integers(-(2**53), 2**53).map(float))


@settings(max_examples=60, deadline=None)
@given(
    steps=st.lists(st.tuples(numbers, st.booleans(), st.booleans(), numbers, st.text()), min_size=1, max_size=30),
    decisions=st.lists(st.tuples(numbers, numbers, numbers, st.text(), st.integers(0, 2**40)), max_size=30),
)
def test_the_seal_holds_for_any_values(tmp_path_factory: pytest.TempPathFactory, steps: Any, decisions: Any) -> None:
    path = tmp_path_factory.mktemp("seal") / "game_data.db"
    told: list[Any] = [
        step(tick, reward=reward, terminated=over, truncated=cut, elapsed=elapsed or 0.0, command=text)
        for tick, (reward, over, cut, elapsed, text) in enumerate(steps, 1)
    ]
    told += [
        decision(number, confidence=one, latency_ms=two or 0.0, cost=three, reasoning=text, tokens=tokens)
        for number, (one, two, three, text, tokens) in enumerate(decisions, 1)
    ]
    write(path, told)
    assert check(path).faults == []


@pytest.mark.parametrize("field", ["confidence", "latency_ms", "cost", "duration_ms"])
def test_a_negative_zero_is_sealed_as_the_zero_that_sqlite_makes_of_it(tmp_path: Path, field: str) -> None:
    write(tmp_path / "game_data.db", [step(1, reward=-0.0), decision(1, **{field: -0.0})])
    assert check(tmp_path / "game_data.db").faults == []


@pytest.mark.parametrize(
    "sql",
    [
        "ALTER TABLE steps RENAME COLUMN terminated TO x; ALTER TABLE steps RENAME COLUMN truncated TO terminated; "
        "ALTER TABLE steps RENAME COLUMN x TO truncated",
        "CREATE INDEX idx_mine ON steps(reward)",
        "CREATE TABLE mine (a)",
    ],
    ids=["columns that change their names", "another index", "another table"],
)
def test_tables_that_are_declared_otherwise_are_not_what_was_recorded(sealed: Path, sql: str) -> None:
    tamper(sealed, sql)
    assert "the tables are not declared as they were (batch 1)" in str(check(sealed).faults[0])


def test_a_reward_that_is_not_a_number_is_sealed_as_none(tmp_path: Path) -> None:
    write(tmp_path / "game_data.db", [step(1, reward=float("nan"))])
    assert check(tmp_path / "game_data.db").faults == []


def test_equal_play_has_an_equal_tape_digest_and_other_play_another(recorded: Callable[..., Path]) -> None:
    def digest(directory: Path) -> str:
        with Database(directory / "game_data.db") as database:
            return database.tape_digest()

    first, again = recorded(ticks=120), recorded(ticks=120)
    assert digest(first) == digest(again)
    assert digest(first) != digest(recorded(ticks=121))
    assert digest(first) != digest(recorded("FrozenLake-v1", "--random-seed", "8", ticks=120))
