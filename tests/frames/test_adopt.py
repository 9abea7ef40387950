"""A forked run shows the pictures of the history that it shares."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ptp.frames.disk import tree_bytes
from ptp.recording import RunDirectory
from ptp.recording.database import Database
from ptp.retention.rollup import roll_up
from tests.frames.playing import read_frame

Ptp = Callable[..., tuple[int, str, str]]


def rows(run: Path, sql: str) -> list[Any]:
    with Database(run / "game_data.db") as database:
        return list(database.rows(sql))


@pytest.fixture(params=["box2d", "atari_sqlite"])
def parent(request: pytest.FixtureRequest, recorded: Callable[..., Path]) -> Path:
    """A run with a picture every ten ticks, in files or in an archive."""
    return recorded("LunarLander-v3", "--screenshot-interval", "10", "--storage-profile", request.param, ticks=60)


def fork(ptp_json: Any, parent: Path, *flags: str) -> Path:
    """Leave a run at tick 35 for another way that goes on to tick 50."""
    words = ("--at-tick", "35", "--random-seed", "9", "--max-ticks", "50", *flags)
    return Path(ptp_json("fork", parent.name, *words)["directory"])


@pytest.mark.parametrize("archived", [False, True])
def test_a_fork_has_the_pictures_of_its_history(parent: Path, ptp_json: Any, archived: bool) -> None:
    if archived:
        roll_up(RunDirectory(parent), "compress")
    other = fork(ptp_json, parent)
    shown = ptp_json("screenshot", "list", "--run", other.name)
    assert shown["total_count"] == 5
    assert [line["id"] for line in shown["screenshots"]] == [f"shot_{tick:06d}" for tick in range(10, 60, 10)]
    kept = rows(other, "SELECT tick, file_path FROM screenshots ORDER BY tick")
    assert [tick for tick, _ in kept] == [10, 20, 30, 40, 50]
    assert rows(other, "SELECT tick, frame_ref FROM steps WHERE frame_ref IS NOT NULL ORDER BY tick") == kept
    before = dict(rows(parent, "SELECT tick, file_path FROM screenshots"))
    for tick, path in kept[:3]:
        assert np.array_equal(np.asarray(read_frame(other, path)), np.asarray(read_frame(parent, before[tick])))


def test_the_pictures_of_a_fork_outlive_its_parent(parent: Path, ptp_json: Any, tmp_path: Path) -> None:
    other = fork(ptp_json, parent)
    ptp_json("tag", other.name, "keep")
    ptp_json("prune", "--max-sessions", "0", "--keep-tag", "keep")
    assert not parent.exists()
    assert ptp_json("screenshot", "export", "--run", other.name, "-o", str(tmp_path / "out"))["pictures"] == 5


def test_files_are_shared_with_the_parent_and_not_copied(recorded: Callable[..., Path], ptp_json: Any) -> None:
    run = recorded("LunarLander-v3", "--screenshot-interval", "10", ticks=30)
    other = Path(ptp_json("fork", run.name, "--at-tick", "20")["directory"])
    for (path,) in rows(other, "SELECT file_path FROM screenshots WHERE tick <= 20"):
        assert os.path.samefile(run / path, other / path)


def test_a_fork_with_a_small_quota_takes_the_newest_and_says_so(parent: Path, ptp_json: Any) -> None:
    sizes = dict(rows(parent, "SELECT tick, file_size_bytes FROM screenshots"))
    quota = sizes[20] + sizes[30] + sizes[10] // 2
    other = fork(ptp_json, parent, "--screenshot-max-storage", str(quota / 1e9), "--screenshot-interval", "1000")
    left = [tick for (tick,) in rows(other, "SELECT tick FROM screenshots WHERE file_path IS NOT NULL ORDER BY tick")]
    in_files = ".db" not in str(rows(parent, "SELECT file_path FROM screenshots LIMIT 1"))
    assert left == ([20, 30] if in_files else [])  # an archive finds room as a whole, or none
    assert rows(other, "SELECT tick FROM steps WHERE frame_ref IS NOT NULL ORDER BY tick") == [(t,) for t in left]
    assert rows(other, "SELECT count(*) FROM screenshots") == [(3,)]
    assert tree_bytes(other / "frames") <= quota + 8  # and the counter in the lock file


def test_a_picture_that_the_parent_has_lost_is_told_as_gone(recorded: Callable[..., Path], ptp_json: Any) -> None:
    run = recorded("LunarLander-v3", "--screenshot-interval", "10", ticks=60)
    ((lost,),) = rows(run, "SELECT file_path FROM screenshots WHERE tick = 20")
    (run / lost).unlink()
    other = fork(ptp_json, run)
    gone = rows(other, "SELECT tick, file_size_bytes FROM screenshots WHERE file_path IS NULL")
    assert gone == [(20, 0)]
