"""Whatever a reader returns that was not recorded, verification or a replay names."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import msgspec
import pytest

from ptp.records import Metadata
from ptp.runs import Run
from ptp.runs.verification import Verdict, verify
from tests.hostile.conftest import Copy
from tests.hostile.test_databases import change


def complaints(verdict: Verdict) -> str:
    return "\n".join([*map(str, verdict.faults), *verdict.problems])


@pytest.mark.parametrize("world", ["CartPole-v1", "tallgrass"])
def test_a_run_as_it_was_recorded_is_good(copied: Copy, world: str) -> None:
    verdict = verify(copied(world).directory)
    assert (verdict.good, verdict.sealed, complaints(verdict)) == (True, True, "")


def test_a_run_that_was_taken_back_after_its_end_is_good(copied: Copy) -> None:
    run = copied("tallgrass")
    run.restore(run.snapshots()[-1].snapshot_id)
    verdict = verify(run.directory)
    assert complaints(verdict) == ""
    assert run.last_tick == 60


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("reward", "5"), ("reward", "NULL"), ("terminated", "1"), ("truncated", "1"), ("state_hash", "'beef'"),
        ("state", """'{"observation": 1}'"""), ("state", "NULL"), ("episode", "9"), ("step", "7"), ("tick", "900"),
    ],
)  # fmt: skip
def test_a_replay_names_the_first_tick_and_column_that_differ(copied: Copy, column: str, value: str) -> None:
    run = copied("CartPole-v1")
    change(run, f"UPDATE steps SET {column} = {value} WHERE tick = 12")
    result = run.replay()
    assert not result.equal
    assert result.difference is not None
    assert (result.difference.tick, result.difference.column) == (13 if column == "tick" else 12, column)
    assert not verify(run.directory).good


@pytest.mark.parametrize(
    ("sql", "column"),
    [("DELETE FROM steps WHERE tick > 50", "ticks"), ("DELETE FROM episodes WHERE episode = 1", "episodes")],
)
def test_a_replay_holds_the_tape_against_the_header(copied: Copy, sql: str, column: str) -> None:
    run = copied("CartPole-v1")
    change(run, sql)
    difference = run.replay().difference
    assert difference is not None
    assert difference.column == column


def _rewrite(run: Run, alter: Callable[[Metadata], None]) -> None:
    metadata = run.metadata
    alter(metadata)
    run.directory.write_metadata(metadata)  # with a checksum that fits


@pytest.mark.parametrize("field", ["total_reward", "agent", "random_seed", "experiment_name", "error"])
def test_a_header_that_was_written_anew_is_not_the_one_that_was_sealed(copied: Copy, field: str) -> None:
    run = copied("CartPole-v1")
    other: Any = 99.0 if field == "total_reward" else 99 if field == "random_seed" else "other"
    _rewrite(run, lambda metadata: setattr(metadata, field, other))
    assert "is not the header that was sealed" in complaints(verify(run.directory))


def test_a_run_of_today_without_a_seal_is_not_good(copied: Copy) -> None:
    run = copied("CartPole-v1")
    change(run, "DELETE FROM seals", "UPDATE steps SET reward = 7")
    _rewrite(run, lambda metadata: setattr(metadata, "seal", None))
    assert "has no seal, which every run of its schema has" in complaints(verify(run.directory))


def test_an_index_that_hides_a_row_is_found(copied: Copy) -> None:
    run = copied("CartPole-v1")
    connection = apsw.Connection(str(run.directory.database))
    connection.pragma("writable_schema", "on")
    sql = "CREATE INDEX idx_action_history_tick ON action_history(tick) WHERE tick <> 5"
    connection.execute("UPDATE sqlite_schema SET sql = ? WHERE name = 'idx_action_history_tick'", (sql,))
    connection.close()
    assert not verify(run.directory).good


def test_a_picture_that_was_changed_or_removed_is_named(copied: Copy) -> None:
    run = copied("CartPole-v1")
    kept = [*run.frames()]
    first = run.path / kept[0].path
    first.write_bytes(first.read_bytes()[:-2] + b"\xff\xda")
    assert f"{first} is not the picture that was kept" in complaints(verify(run.directory))
    first.unlink()
    assert f"{first} can't be read" in complaints(verify(run.directory))


def test_pictures_in_an_archive_are_verified_too(tmp_path: Path) -> None:
    from tests.web.parts import record

    run = Run(
        record(tmp_path, world="CartPole-v1", max_ticks=40, screenshot_interval=5, storage_profile="atari_sqlite")
    )
    assert complaints(verify(run.directory)) == ""
    assert {frame.path.partition("#")[0] for frame in run.frames()} == {"frames/archive_000001.db"}
    connection = apsw.Connection(str(run.path / "frames/archive_000001.db"))
    ((data,),) = connection.execute("SELECT data FROM segments")
    connection.execute("UPDATE segments SET data = ?", (data[:100] + bytes([data[100] ^ 1]) + data[101:],))
    connection.close()
    assert "is not the picture that was kept" in complaints(verify(run.directory))


@pytest.mark.parametrize("setting", ["max_ticks: 60", "interval: 20"])
def test_settings_that_were_changed_are_named(copied: Copy, setting: str) -> None:
    run = copied("CartPole-v1")
    path = run.path / "config.yaml"
    text = path.read_text()
    assert setting in text
    path.write_text(text.replace(setting, f"{setting}0"))
    assert "config.yaml is not what was recorded" in complaints(verify(run.directory))


def test_a_snapshot_header_that_was_changed_is_named(copied: Copy) -> None:
    run = copied("tallgrass")
    file = next((run.path / "snapshots").iterdir())
    data = bytearray(file.read_bytes())
    data[data.index(b'"tick"') + 7] ^= 1
    file.write_bytes(data)
    assert "its header does not match its hash" in complaints(verify(run.directory))
    assert msgspec.json.encode(verify(run.directory))
