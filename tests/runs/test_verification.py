"""`ptp verify`: whatever happened to a run, what is kept of it is what was recorded, or the difference is named."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pytest

from ptp.recording import RunDirectory
from ptp.runs.verification import Verdict, verify

Ptp = Callable[..., tuple[int, str, str]]


@pytest.fixture
def tallgrass(recorded: Callable[..., Path]) -> Path:
    return recorded(
        "tallgrass", "--agent", "explorer", "--screenshot-interval", "20", "--snapshot-disk", "50", ticks=120
    )


def good(directory: Path) -> Verdict:
    verdict = verify(RunDirectory(directory))
    assert (verdict.faults, verdict.problems, verdict.good) == ([], [], True)
    return verdict


def test_a_run_is_good_and_its_header_has_the_head_and_the_tape_digest(tallgrass: Path) -> None:
    verdict = good(tallgrass)
    header = json.loads((tallgrass / "metadata.json").read_text())
    assert (header["seal"], header["tape_digest"]) == (verdict.head, verdict.tape_digest)
    assert verdict.snapshots == 3


def test_a_run_stays_good_through_everything_that_may_happen_to_it(ptp: Ptp, tallgrass: Path) -> None:
    run = tallgrass.name
    for words in (
        ("resume", run, "--max-ticks", "150"),
        ("snapshot", "restore", "latest", run),
        ("resume", run, "--max-ticks", "170"),
        ("set", run, "--max-ticks", "180"),
        ("cleanup", "screenshots", run),
        ("prune", "--roll-up", "--older-than", "0d"),
        ("prune", "--restore", run),
        ("schema", "migrate", run, "--to", "2.1"),
        ("schema", "migrate", run),
        ("resume", run, "--max-ticks", "190"),
    ):
        code, _, error = ptp(*words)
        assert words[0] == "set" or code == 0, error
        good(tallgrass)


def test_a_fork_seals_its_history_anew_and_names_the_head_of_its_parent(ptp: Ptp, tallgrass: Path) -> None:
    parent = good(tallgrass)
    assert ptp("fork", tallgrass.name, "--at-tick", "60", "--max-ticks", "90")[0] == 0
    (fork,) = [path for path in tallgrass.parent.iterdir() if path != tallgrass]
    assert good(fork).tape_digest != parent.tape_digest
    connection = apsw.Connection(str(fork / "game_data.db"))
    ((note,),) = connection.execute("SELECT note FROM seals WHERE reason = 'forked'").fetchall()
    connection.close()
    assert json.loads(str(note)) == {"parent": tallgrass.name, "head": parent.head}


def test_a_run_that_was_killed_is_good_as_far_as_it_was_committed(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "ptp", "run", "--world", "CartPole-v1", "--tick-rate-base", "0", "-q",
             "--data-dir", str(tmp_path)]  # fmt: skip
    process = subprocess.Popen(words)
    deadline = time.monotonic() + 30
    while not list(tmp_path.glob("records/*/game_data.db")):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    time.sleep(1)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    (directory,) = tmp_path.glob("records/*")
    assert good(directory).links > 2


def change(directory: Path, sql: str) -> None:
    connection = apsw.Connection(str(directory / "game_data.db"))
    connection.execute(sql)
    connection.close()


def header(directory: Path, **fields: Any) -> None:
    path = directory / "metadata.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | fields))


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


@pytest.mark.parametrize(
    ("damage", "named"),
    [
        (lambda run: change(run, "UPDATE steps SET reward = reward + 1 WHERE tick = 7"), "steps 7: is not what"),
        (lambda run: change(run, "UPDATE steps SET elapsed = 0 WHERE tick = 7"), "steps 7: is not what"),
        (lambda run: change(run, "DELETE FROM action_history WHERE tick = 9"), "was recorded and is missing"),
        (lambda run: change(run, "DELETE FROM steps WHERE tick > 80"), "steps 81: was recorded and is missing"),
        (lambda run: change(run, "DELETE FROM episodes"), "episodes 1: was recorded and is missing"),
        (lambda run: change(run, "DELETE FROM seals; UPDATE steps SET reward = 9"), "the head that"),
        (lambda run: header(run, agent="human"), "its checksum does not match"),
        (lambda run: (run / "config.yaml").write_text("version: '3.0'\n"), "config.yaml is not what was recorded"),
        (lambda run: flip(next((run / "snapshots").glob("*.ptpsnap"))), "does not match its hash"),
    ],
)
def test_damage_is_named_and_the_exit_code_is_1(
    ptp: Ptp, recorded: Callable[..., Path], damage: Callable[[Path], object], named: str
) -> None:
    directory = recorded(ticks=100)
    damage(directory)
    code, out, _ = ptp("verify", "latest")
    assert code == 1
    assert "not what was recorded" in out
    assert named in out


def test_a_run_from_before_the_seal_is_unsealed_and_accepted(ptp: Ptp, recorded: Callable[..., Path]) -> None:
    directory = recorded(ticks=30)
    assert ptp("schema", "migrate", directory.name, "--to", "2.1")[0] == 0
    code, out, _ = ptp("verify", "latest")
    assert (code, "unsealed" in out) == (0, True)


def test_a_run_that_is_not_what_was_recorded_is_not_migrated(ptp: Ptp, recorded: Callable[..., Path]) -> None:
    directory = recorded(ticks=30)
    change(directory, "UPDATE steps SET reward = 5 WHERE tick = 3")
    code, _, error = ptp("schema", "migrate", directory.name, "--to", "2.1")
    assert code == 1
    assert "steps 3" in error
    assert "ptp verify" in error
