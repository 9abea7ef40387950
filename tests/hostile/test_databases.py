"""Databases that a stranger made: nothing in them runs, nothing hangs, and no file leads out of its run."""

from __future__ import annotations

import gzip
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from ptp.errors import PtpError, RunUnreadable
from ptp.recording.database import Database
from ptp.recording.maintenance import changing
from ptp.recording.packed import packed_path
from ptp.runs import Run
from ptp.runs.verification import verify
from ptp.versioning import sqlite
from tests.hostile.conftest import Copy

Call = Callable[..., tuple[int, str, str]]
ENDLESS = "WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t) SELECT x FROM t"
FOREIGN = {
    "trigger": "CREATE TRIGGER mine AFTER UPDATE ON runs BEGIN DELETE FROM steps; END",
    "view": f"CREATE VIEW mine AS {ENDLESS}",
    "virtual table": "CREATE VIRTUAL TABLE mine USING fts5(a)",
}
VERBS = (
    ("show", "{}"), ("status", "--run", "{}"), ("actions", "--run", "{}"), ("export", "--what", "steps", "{}"),
    ("replay", "{}", "--verify"), ("resume", "{}", "--max-ticks", "70"), ("fork", "{}", "--at-tick", "5"),
    ("schema", "migrate", "{}"), ("schema", "verify", "{}"),
)  # fmt: skip


def change(run: Run, *statements: str) -> None:
    connection = apsw.Connection(str(run.directory.database))
    for sql in statements:
        connection.execute(sql)
    connection.close()


@pytest.mark.parametrize("kind", FOREIGN)
def test_what_would_run_by_itself_is_refused_by_every_verb_before_it_does(copied: Copy, ptp: Call, kind: str) -> None:
    run = copied("CartPole-v1")
    change(run, FOREIGN[kind])
    for words in VERBS:
        code, out, err = ptp(*(word.format(run.id) for word in words))
        assert code != 0, words
        assert f"has the {kind} 'mine', which ptp never made" in out + err, words
    with pytest.raises(RunUnreadable, match="which ptp never made"), changing(run.directory, "pruned"):
        pass
    assert not verify(run.directory).good
    change(run, f"DROP {kind.split()[-1]} mine")
    assert run.steps().to_list()[-1].tick == 60


def test_a_table_that_is_a_view_is_refused(copied: Copy) -> None:
    run = copied("CartPole-v1")
    change(run, "ALTER TABLE steps RENAME TO old", "CREATE VIEW steps AS SELECT * FROM old")
    with pytest.raises(RunUnreadable, match=r"has the view '(steps|llm_decisions)'"):  # the second reads the first
        run.steps().to_list()


def test_a_query_that_comes_to_no_end_is_ended(copied: Copy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "MOST_STRIDES", 20)
    with Database(copied("CartPole-v1").directory.database) as database:
        with pytest.raises(RunUnreadable, match="gave no answer within 2,000,000 steps"):
            list(database.rows(f"SELECT count(*) FROM ({ENDLESS})"))
        assert database.row("SELECT count(*) FROM steps") == (60,)
        assert len(list(database.rows(f"{ENDLESS} LIMIT 300000"))) == 300_000  # each row shows that it goes on


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_a_query(copied: Copy, number: signal.Signals) -> None:
    run = copied("CartPole-v1")
    script = (
        "import sys\nfrom pathlib import Path\nfrom ptp.cli.main import hearing\n"
        "from ptp.recording.database import Database\n"
        "with hearing(), Database(Path(sys.argv[1])) as database:\n"
        "    print('asks', flush=True)\n"
        f"    database.row('SELECT count(*) FROM ({ENDLESS})')\n"
    )
    command = [sys.executable, "-c", script, str(run.directory.database)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "asks\n"
    time.sleep(0.2)
    process.send_signal(number)
    _, err = process.communicate(timeout=20)
    assert "KeyboardInterrupt" in err or "Terminated" in err


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("UPDATE steps SET command = 'up' WHERE tick = 5", "the command 'up' of tick 5 can't be read"),
        ("UPDATE steps SET command = x'ff' WHERE tick = 5", "can't be read"),
        ("UPDATE steps SET command = CAST(x'ff' AS TEXT) WHERE tick = 5", "is damaged|can't be read"),
        ("UPDATE steps SET step = 'one' WHERE tick = 5", "can't be read"),
        ("UPDATE episode_starts SET options = '{'", "the options of an episode can't be read"),
        ("UPDATE episode_starts SET seed = 'x'", "the seed of episode 1 can't be read"),
        ("UPDATE action_history SET decision_id = 'mine' WHERE tick = 5", "is not the id of a decision"),
    ],
)
def test_a_value_that_cant_be_read_is_one_line_and_no_internal_error(
    copied: Copy, ptp: Call, sql: str, message: str
) -> None:
    import re

    run = copied("CartPole-v1")
    for path in run.path.glob("snapshots/*"):
        path.unlink()
    change(run, sql)
    said = ""
    for words in VERBS:
        _, out, err = ptp(*(word.format(run.id) for word in words))
        said += out + err
    for tick in (5, 60):
        try:
            run.picture(tick)
        except PtpError as problem:
            said += str(problem)
    assert "internal error" not in said
    assert re.search(message, said), said


@pytest.mark.parametrize("name", ["metadata.json", "config.yaml", "run.log", "game_data.db"])
@pytest.mark.parametrize("kind", ["link", "pipe"])
def test_a_file_of_a_run_is_neither_a_link_nor_a_pipe(
    copied: Copy, ptp: Call, tmp_path: Path, name: str, kind: str
) -> None:
    run = copied("CartPole-v1")
    (tmp_path / "secret").write_bytes((run.path / name).read_bytes())
    (run.path / name).unlink(missing_ok=True)
    if kind == "link":
        (run.path / name).symlink_to(tmp_path / "secret")
    else:
        os.mkfifo(run.path / name)
    words = {"run.log": ["logs", "--run"], "config.yaml": ["status", "--run"]}.get(name, ["show"])
    code, _, err = ptp(*words, run.id)
    assert code != 0
    assert "it is a link, or no file at all" in err
    assert "internal error" not in err


def test_snapshots_and_pictures_behind_a_link_are_refused(copied: Copy, tmp_path: Path) -> None:
    run = copied("tallgrass")
    (run.path / "snapshots").rename(tmp_path / "elsewhere")
    (run.path / "snapshots").symlink_to(tmp_path / "elsewhere")
    assert run.snapshots() == []
    assert any("is a link" in problem for problem in verify(run.directory).problems)
    (run.path / "snapshots").unlink()
    (tmp_path / "elsewhere").rename(run.path / "snapshots")
    file = next((run.path / "snapshots").iterdir())
    file.rename(tmp_path / "one")
    file.symlink_to(tmp_path / "one")
    assert any("it is a link" in problem for problem in verify(run.directory).problems)


def test_a_start_state_that_is_not_the_runs_own_is_not_read(copied: Copy, ptp: Call, tmp_path: Path) -> None:
    run = copied("tallgrass")
    metadata = run.metadata
    for path in ("/etc/hostname", "../../../secret", "./start/../../x"):
        metadata.world.options["start_state"] = path
        run.directory.write_metadata(metadata)
        code, _, err = ptp("replay", run.id)
        assert code != 0
        assert "is not its own file" in err


def test_a_packed_database_that_unpacks_to_too_much_is_refused(copied: Copy, tmp_path: Path) -> None:
    run = copied("CartPole-v1")
    database = run.directory.database
    database.unlink()
    with gzip.open(packed_path(database), "wb", 1) as file:
        for _ in range(96):
            file.write(bytes(1 << 20))
    with pytest.raises(RunUnreadable, match="unpacks to more than 100 times its size"):
        run.steps().to_list()
    assert sum(path.stat().st_size for path in tmp_path.rglob("*.db*")) < 1 << 20
