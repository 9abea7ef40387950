"""Pictures of runs that have ended can go; the rows then say that they are gone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from ptp.config.tree import Screenshot
from ptp.frames import StorageProfile
from ptp.recording import RunDirectory
from ptp.recording.database import Database
from tests.frames.playing import Played, Snowing, play

PROFILE = StorageProfile(tier="files")


def played(tmp_path: Path) -> Played:
    return play(tmp_path / "var", Snowing(), 50, Screenshot(interval=10), PROFILE)


def test_the_dry_run_tells_what_the_real_one_removes(ptp_json: Any, tmp_path: Path) -> None:
    run = played(tmp_path)
    planned = ptp_json("cleanup", "screenshots", "--dry-run")
    assert (run.path / "frames").exists()
    done = ptp_json("cleanup", "screenshots")
    assert (planned["runs"], planned["freed"]) == (done["runs"], done["freed"])
    assert done["runs"][0]["pictures"] == 5
    assert not (run.path / "frames").exists()
    assert run.rows("SELECT count(*), count(file_path) FROM screenshots") == [(5, 0)]
    assert run.rows("SELECT count(frame_ref) FROM steps") == [(0,)]


def test_an_archived_run_says_too_that_its_pictures_are_gone(ptp_json: Any, tmp_path: Path) -> None:
    run = played(tmp_path)
    ptp_json("prune", "--max-sessions", "0", "--roll-up")
    assert ptp_json("cleanup", "screenshots")["runs"][0]["pictures"] == 5
    assert not (run.path / "game_data.db").exists()
    with Database(run.path / "game_data.db") as database:
        assert database.row("SELECT count(*), count(file_path) FROM screenshots") == (5, 0)


def test_a_live_run_keeps_its_pictures(ptp_json: Any, tmp_path: Path) -> None:
    run = played(tmp_path)
    owner = RunDirectory(run.path)
    owner.acquire()
    assert ptp_json("cleanup", "screenshots")["runs"] == []
    assert (run.path / "frames").exists()
    owner.release()


def test_only_the_named_or_the_old_can_be_chosen(ptp_json: Any, tmp_path: Path) -> None:
    first, second = played(tmp_path), played(tmp_path)
    assert ptp_json("cleanup", "screenshots", "--older-than", "1d")["runs"] == []
    done = ptp_json("cleanup", "screenshots", first.path.name)
    assert [run["run_id"] for run in done["runs"]] == [first.path.name]
    assert (second.path / "frames").exists()


def test_an_unknown_thing_to_clean_up_is_answered_with_what_there_is(ptp: Callable[..., tuple[int, str, str]]) -> None:
    code, _, error = ptp("cleanup", "screenshot")
    assert code == 2
    assert "did you mean 'screenshots'?" in error
    assert "ptp cleanup screenshots" in ptp("cleanup", "--help")[1]
    assert ptp("cleanup", "screenshots")[1] == "removed 0 pictures, 0 B\n"
