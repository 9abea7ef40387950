"""Migrating a database: what stays, what goes, and what a crash can't do."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ptp.errors import RecordingError, RunUnreadable, UsageError
from ptp.recording.database import Database
from ptp.versioning import sqlite
from ptp.versioning.database import kept_backup, migrate_file, pending_backup, verify_file
from ptp.versioning.migration import Plan, plan
from ptp.versioning.schema import RUN_SCHEMAS
from ptp.versioning.sqlite import SQLite
from ptp.versioning.stamp import Loss, read_history
from tests.versioning.databases import VERSIONS, contents, create, opened, shape_in, shared, version_of

SEED = 7
versions = st.sampled_from(VERSIONS)


@settings(max_examples=40, deadline=None)
@given(versions, versions, st.randoms(use_true_random=False))
def test_going_to_another_version_and_back_gives_back_what_both_can_hold(
    start: str, goal: str, fill: random.Random
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        database = create(Path(folder, "a.db"), start, fill=fill)
        before = contents(database)
        migrate_file(database, goal)
        there = contents(database)
        migrate_file(database, start)
        assert shared(there, start, goal) == shared(before, start, goal)
        assert shared(contents(database), start, goal) == shared(before, start, goal)
        assert verify_file(database).problems == []


def planned(database: Path, target: str, assumed: str | None = None) -> Plan:
    with sqlite.opened(database) as db:
        return plan(db, target, assumed)


def test_screenshots_survive_the_versions_that_do_not_ask_for_them(tmp_path: Path) -> None:
    database = create(tmp_path / "a.db", "2.2")
    with opened(database) as connection:
        connection.execute("INSERT INTO screenshots (screenshot_id, tick, metadata) VALUES ('s', 5, '{}')")
    down = migrate_file(database, "1.0")
    assert Loss("screenshots", "metadata", 1) in down.dropped
    assert contents(database)["screenshots"][0]["tick"] == 5
    migrate_file(database, "2.2")
    assert contents(database)["screenshots"][0]["screenshot_id"] == "s"


def test_a_downgrade_says_what_it_drops_before_and_after(tmp_path: Path) -> None:
    database = create(tmp_path / "a.db", "2.2")
    with opened(database) as connection:
        connection.execute("INSERT INTO episodes VALUES (1, 9, 9, 1.0, 0.5, 1), (2, 9, 9, 1.0, 0.5, 1)")
        connection.execute("INSERT INTO action_history (decision_id, context_version) VALUES ('a', '2.2'), ('b', NULL)")
    expected = [Loss("episodes", None, 2), Loss("action_history", "context_version", 1)]
    assert [loss for loss in planned(database, "1.2").dropped if loss.rows] == expected
    assert version_of(database) == "2.2"
    assert [loss for loss in migrate_file(database, "1.2").dropped if loss.rows] == expected
    assert [row["decision_id"] for row in contents(database)["action_history"]] == ["a", "b"]


def test_every_step_is_recorded_with_its_checksum_and_rows(tmp_path: Path) -> None:
    database = create(tmp_path / "a.db", "1.0", fill=random.Random(SEED))
    rows = {table: len(found) for table, found in contents(database).items()}
    migrate_file(database, "2.2")
    with opened(database) as connection:
        history = read_history(SQLite(connection, database))
    assert [(each.from_version, each.to_version) for each in history] == [
        ("1.0", "1.1"), ("1.1", "1.2"), ("1.2", "2.0"), ("2.0", "2.1"), ("2.1", "2.2"),
    ]  # fmt: skip
    steps = RUN_SCHEMAS.path("1.0", "2.2")
    assert [each.checksum for each in history] == [RUN_SCHEMAS.checksum(step) for step in steps]
    assert {table: history[-1].row_counts[table] for table in rows} == rows
    assert all(each.migrated_at.endswith("Z") for each in history)


HISTORIC = """
ALTER TABLE decisions RENAME TO ACTION_HISTORY;
ALTER TABLE ACTION_HISTORY ADD COLUMN context_version TEXT;
ALTER TABLE ACTION_HISTORY ADD COLUMN execution_duration_ms INTEGER;
CREATE TABLE SCREENSHOTS (screenshot_id TEXT PRIMARY KEY, run_id TEXT, tick INTEGER, file_path TEXT, metadata TEXT);
INSERT INTO SCREENSHOTS VALUES ('s', 'r', 7, 'a.png', '{}');
UPDATE _schema_version SET version = '2.0';
"""
"""How the history of the schemas goes from 1.0 to 2.0: past 1.1 and 1.2."""


@pytest.mark.parametrize("goal", ["2.2", "1.0"])
def test_a_database_that_went_from_1_0_to_2_0_directly_goes_on_from_there(tmp_path: Path, goal: str) -> None:
    database = create(tmp_path / "a.db", "1.0", fill=random.Random(SEED))
    before = contents(database)["action_history"]
    with opened(database) as connection:
        connection.execute(HISTORIC)
    with Database(database) as reading:
        assert reading.row("SELECT tick, screen_type FROM screenshots") == (7, None)
        assert reading.row("SELECT count(*) FROM performance_profiles") == (0,)
    assert planned(database, goal).from_version == "2.0"
    migrate_file(database, goal)
    assert verify_file(database).problems == []
    found = contents(database)
    assert (found["screenshots"][0]["tick"], found["screenshots"][0]["file_path"]) == (7, "a.png")
    assert [{name: row[name] for name in before[0]} for row in found["action_history"]] == before


def test_what_2_1_knew_of_events_and_errors_fills_the_new_columns(tmp_path: Path) -> None:
    database = create(tmp_path / "a.db", "2.1")
    ours = f"{'0' * 36}/02"
    with opened(database) as connection:
        connection.execute("INSERT INTO events (event_id, kind) VALUES (?, 'Caught'), ('x', 'Other')", (ours,))
        connection.execute(
            "INSERT INTO errors (error_id, context) VALUES ('a', '{\"tick\": 9}'), ('b', 'words'), ('c', NULL)"
        )
    migrate_file(database, "2.2")
    found = contents(database)
    assert [(row["title"], row["place"]) for row in found["events"]] == [("Caught", 2), ("Other", None)]
    assert [row["tick"] for row in found["errors"]] == [9, None, None]


def test_the_way_down_from_2_2_names_what_2_1_cannot_hold(tmp_path: Path) -> None:
    database = create(tmp_path / "a.db", "2.2")
    with opened(database) as connection:
        connection.execute("INSERT INTO episode_starts (episode, tick) VALUES (1, 0), (2, 9)")
        connection.execute("INSERT INTO seals VALUES (1, '2026', 1, 1, 'recorded', NULL, x'', 'x')")
        connection.execute("INSERT INTO events (event_id, title) VALUES ('a', 'Caught'), ('b', NULL)")
    dropped = migrate_file(database, "2.1").dropped
    assert [loss for loss in dropped if loss.rows] == [
        Loss("episode_starts", None, 2), Loss("seals", None, 1), Loss("events", "title", 1),
    ]  # fmt: skip
    assert len(dropped) == 18
    assert shape_in(database).tables == sqlite.shape_of("2.1").tables


def test_what_belongs_to_no_version_stays(tmp_path: Path) -> None:
    database = create(tmp_path / "a.db", "1.0")
    with opened(database) as connection:
        connection.execute("CREATE TABLE my_notes (note TEXT); INSERT INTO my_notes VALUES ('mine')")
    migrate_file(database, "2.2")
    migrate_file(database, "1.0")
    assert contents(database)["my_notes"] == [{"note": "mine"}]


def test_a_backup_is_removed_after_success_unless_it_is_to_be_kept(tmp_path: Path) -> None:
    database = create(tmp_path / "a.db", "1.0", fill=random.Random(SEED))
    before = contents(database)
    assert migrate_file(database, "2.0").backup is None
    assert os.listdir(tmp_path) == ["a.db"]
    migrate_file(database, "1.0")
    kept = migrate_file(database, "2.2", keep_backup=True).backup
    assert kept == str(kept_backup(database, "1.0"))
    assert version_of(Path(kept)) == "1.0"
    assert shared(contents(Path(kept)), "1.0", "1.0") == shared(before, "1.0", "1.0")
    migrate_file(database, "1.0")
    with pytest.raises(UsageError, match="is there already; move it away"):
        migrate_file(database, "2.2", keep_backup=True)
    assert version_of(database) == "1.0"


def test_progress_is_told(tmp_path: Path) -> None:
    database = create(tmp_path / "a.db", "1.2", fill=random.Random(SEED))
    told: list[tuple[str, int, int]] = []
    migrate_file(database, "2.2", on_progress=lambda *facts: told.append(facts))
    assert told[-3:] == [("1.2 -> 2.0", 0, 3), ("2.0 -> 2.1", 1, 3), ("2.1 -> 2.2", 2, 3)]


def test_a_database_that_lacks_a_table_stays_as_it_is(tmp_path: Path) -> None:
    database = create(tmp_path / "a.db", "1.0")
    with opened(database) as connection:
        connection.execute("DROP TABLE objectives")
    with pytest.raises(RunUnreadable, match=r"has no objectives, so it stays at 1\.0; see `ptp drift schema"):
        migrate_file(database, "2.2")
    assert version_of(database) == "1.0"
    assert not pending_backup(database).exists()


def test_a_database_without_a_version_is_told_what_to_do_and_can_be_adopted(tmp_path: Path) -> None:
    database = create(tmp_path / "a.db", "1.1", fill=random.Random(SEED))
    before = contents(database)
    with opened(database) as connection:
        connection.execute("DROP TABLE _schema_version")
    with pytest.raises(RunUnreadable, match=r"--from 1\.0"):
        migrate_file(database, "2.2")
    with pytest.raises(UsageError, match=r"is not of schema 1\.2: it has no screenshots; name another with --from"):
        migrate_file(database, "2.2", "1.2")
    assert version_of(database) == "0.0"
    migrate_file(database, "1.1", "1.1")
    assert version_of(database) == "1.1"
    migrate_file(database, "2.2", "1.1")
    assert shared(contents(database), "1.1", "1.1") == shared(before, "1.1", "1.1")


@pytest.mark.parametrize(("sql", "message"), [
    ("UPDATE _schema_version SET version = '9.9'", "has schema 9.9, and this ptp knows 2.2 at most"),
    ("DELETE FROM _schema_version", "should name one schema version but names none"),
    ("INSERT INTO _schema_version (version) VALUES ('1.1')", "names 1.0, 1.1"),
])  # fmt: skip
def test_a_database_with_a_strange_version_is_refused(tmp_path: Path, sql: str, message: str) -> None:
    database = create(tmp_path / "a.db", "1.0")
    with opened(database) as connection:
        connection.execute(sql)
    with pytest.raises(RunUnreadable, match=message):
        migrate_file(database, "2.2")


def test_a_file_that_is_no_database_or_is_missing_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.db").write_bytes(b"no database" * 100)
    with pytest.raises(RunUnreadable, match="is damaged"):
        migrate_file(tmp_path / "a.db", "2.2")
    with pytest.raises(RunUnreadable, match="is missing"):
        migrate_file(tmp_path / "b.db", "2.2")
    assert os.listdir(tmp_path) == ["a.db"]


def test_a_database_that_another_program_writes_to_is_left_alone(tmp_path: Path) -> None:
    database = create(tmp_path / "a.db", "1.0", journal="wal")
    with opened(database) as other:
        other.execute("BEGIN IMMEDIATE")
        with no_waiting(), pytest.raises(RecordingError, match="is used by another program"):
            migrate_file(database, "2.2")
        other.execute("ROLLBACK")
    assert version_of(database) == "1.0"


@contextmanager
def no_waiting() -> Iterator[None]:
    with traced(lambda connection, _: connection.set_busy_timeout(0)):
        yield


@contextmanager
def traced(before_each: Callable[[apsw.Connection, str], None]) -> Iterator[None]:
    """Do something before every statement of every connection that is opened."""

    def hook(connection: apsw.Connection) -> None:
        def trace(_cursor: apsw.Cursor, sql: str, _values: object) -> bool:
            before_each(connection, sql)
            return True

        connection.exec_trace = trace
        connection.pragma("cache_size", 1)  # so that changes reach the files before they are committed

    apsw.connection_hooks.append(hook)
    try:
        yield
    finally:
        apsw.connection_hooks.remove(hook)


def count_statements(database: Path, goal: str) -> int:
    count = 0

    def add(_: apsw.Connection, _sql: str) -> None:
        nonlocal count
        count += 1

    sqlite.shape_of(goal)  # made once in a process, by statements that do not count
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(shutil.copy(database, folder))
        with traced(add):
            migrate_file(copy, goal)
    return count


class Interrupted(Exception):
    """The test's own end of a migration."""


@pytest.mark.parametrize(("start", "goal"), [("1.0", "2.2"), ("2.2", "1.0")])
def test_a_failure_at_any_statement_leaves_the_old_version(tmp_path: Path, start: str, goal: str) -> None:
    database = create(tmp_path / "a.db", start, fill=random.Random(SEED))
    before = contents(database)
    total = count_statements(database, goal)
    assert total > 40
    for last in range(1, total + 1):
        left = last

        def fail(_: apsw.Connection, _sql: str) -> None:
            nonlocal left
            left -= 1
            if left == 0:
                raise Interrupted

        with traced(fail), pytest.raises(Interrupted):
            migrate_file(database, goal)
        assert version_of(database) == start
        assert os.listdir(tmp_path) == ["a.db"]
    assert contents(database) == before
    migrate_file(database, goal)
    assert version_of(database) == goal


@pytest.mark.parametrize("journal", ["delete", "wal"])
@pytest.mark.parametrize(("start", "goal"), [("1.0", "2.2"), ("2.2", "1.0")])
def test_a_crash_at_any_statement_leaves_the_old_version_or_the_new_one(
    tmp_path: Path, start: str, goal: str, journal: str
) -> None:
    """The files as they are before each statement are what a crash would leave."""
    folder = tmp_path / "run"
    folder.mkdir()
    database = create(folder / "a.db", start, journal=journal, fill=random.Random(SEED))
    before = shared(contents(database), start, goal)
    crashes: list[Path] = []

    def keep(_: apsw.Connection, sql: str) -> None:
        if sql.lstrip().startswith(("SELECT", "PRAGMA")):
            return  # the files are the same after it
        crashes.append(tmp_path / str(len(crashes)))
        shutil.copytree(folder, crashes[-1])

    with traced(keep):
        migrate_file(database, goal)
    assert len(crashes) > 25
    for crash in crashes:
        torn = crash / "a.db"
        with Database(torn) as reading:
            assert reading.version in (start, goal)
        assert shared(contents(torn), start, goal) == before
        migrate_file(torn, goal)
        assert version_of(torn) == goal
        assert shared(contents(torn), start, goal) == before
        assert os.listdir(crash) == ["a.db"]


KILLED = """
import os, signal, sys
from pathlib import Path
import apsw
left = int(sys.argv[2])
def hook(connection):
    def trace(cursor, sql, values):
        global left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return True
    connection.exec_trace = trace
apsw.connection_hooks.append(hook)
from ptp.versioning.database import migrate_file
migrate_file(Path(sys.argv[1]), "2.2")
"""


def test_a_migration_that_is_killed_can_be_done_again(tmp_path: Path) -> None:
    database = create(tmp_path / "a.db", "1.0", journal="wal", fill=random.Random(SEED))
    before = shared(contents(database), "1.0", "2.2")
    total = count_statements(database, "2.2")
    for last in (total // 3, 2 * total // 3, total):
        words = [sys.executable, "-c", KILLED, str(database), str(last)]
        assert subprocess.run(words, check=False).returncode == -signal.SIGKILL
        assert version_of(database) == "1.0"
        assert shared(contents(database), "1.0", "2.2") == before
        assert pending_backup(database).exists()
        assert "torn off" in verify_file(database).problems[0]
    migrate_file(database, "2.2")
    assert verify_file(database).problems == []
    assert shared(contents(database), "1.0", "2.2") == before
    assert not pending_backup(database).exists()


def test_a_full_disk_leaves_the_old_version(tmp_path: Path) -> None:
    database = create(tmp_path / "a.db", "1.0", fill=random.Random(SEED))
    before = contents(database)

    def fill_disk(connection: apsw.Connection, sql: str) -> None:
        if "CREATE TABLE steps" in sql:
            connection.pragma("max_page_count", 1)  # SQLite takes it as: not one page more

    with traced(fill_disk), pytest.raises(RecordingError, match="full; it stays as it is"):
        migrate_file(database, "2.2")
    assert contents(database) == before
    assert version_of(database) == "1.0"
    assert os.listdir(tmp_path) == ["a.db"]


def test_too_little_space_is_noticed_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = create(tmp_path / "a.db", "1.0")
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=1000))
    with pytest.raises(RecordingError, match="free some space"):
        migrate_file(database, "2.2")
    assert os.listdir(tmp_path) == ["a.db"]
