"""Records: one closed set, readable by anybody, each with a table that can hold it."""

from __future__ import annotations

from typing import Any

import apsw
import msgspec
import pytest

from ptp.records import DecisionMade, Event, Record, columns_of, decode, encode
from ptp.records.table import Kept
from ptp.versioning import RUN_SCHEMAS, SCHEMA_VERSION

KINDS: tuple[type[msgspec.Struct], ...] = Record.__args__
KEPT = [kind for kind in KINDS if issubclass(kind, Kept)]
EXAMPLES: dict[str, Any] = {"integer": 3, "real": 0.25, "boolean": True, "text": "words", "json": {"a": [1]},
                            "moment": 1_700_000_000.25, "number": 7, "blob": b"bytes"}  # fmt: skip


CHOICES = {"status": "success", "level": "warning"}


def example(kind: type[Kept]) -> Any:
    return kind(*(CHOICES.get(column.field) or EXAMPLES[column.kind] for column in columns_of(kind)))


@pytest.fixture(scope="module")
def database() -> apsw.Connection:
    connection = apsw.Connection(":memory:")
    connection.execute(RUN_SCHEMAS.sql(SCHEMA_VERSION))
    return connection


@pytest.mark.parametrize("kind", KEPT, ids=lambda kind: kind.__name__)
def test_a_record_is_the_same_after_its_way_through_json(kind: type[Kept]) -> None:
    record = example(kind)
    assert decode(encode(record)) == record


@pytest.mark.parametrize("kind", KEPT, ids=lambda kind: kind.__name__)
def test_the_newest_schema_has_every_column_that_a_record_names(kind: type[Kept], database: apsw.Connection) -> None:
    columns = {row[1] for row in database.execute(f"PRAGMA table_info({kind.table})").fetchall()}
    named = {column.name for column in columns_of(kind)} | set(kind.fixed)
    named |= ({kind.serial} if kind.serial else set()) | ({"run_id"} if kind.has_run else set())
    assert named == columns


def test_a_record_of_an_unknown_kind_is_refused() -> None:
    with pytest.raises(msgspec.ValidationError, match="Invalid value 'Guess'"):
        decode(b'{"record": "Guess"}')


def test_the_kind_of_a_column_follows_from_the_type_of_its_field() -> None:
    kinds = {column.name: column.kind for column in columns_of(DecisionMade)}
    assert kinds["decision_id"] == "number"
    assert kinds["timestamp"] == "moment"
    assert kinds["game_state"] == "json"
    assert kinds["confidence_score"] == "real"
    assert ("place", "index") in {(column.name, column.field) for column in columns_of(Event)}
