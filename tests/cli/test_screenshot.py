"""Kept pictures are listed, shown and written to files, wherever they were kept."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

Ptp = Callable[..., tuple[int, str, str]]


def seen(file: Path) -> tuple[str | None, tuple[int, int]]:
    with Image.open(file) as image:
        return image.format, image.size


@pytest.fixture(params=["box2d", "atari_sqlite"])
def run(request: pytest.FixtureRequest, recorded: Callable[..., Path]) -> Path:
    """A run with five pictures, in files or in an archive."""
    flags = ("--screenshot-interval", "10", "--storage-profile", request.param)
    return recorded("LunarLander-v3", *flags, ticks=50)


def test_pictures_are_listed_and_shown(run: Path, ptp: Ptp, ptp_json: Any, tmp_path: Path) -> None:
    listed = ptp_json("screenshot", "list")
    assert listed["total_count"] == 5
    file = tmp_path / "one"
    shown = ptp_json("screenshot", "show", listed["screenshots"][2]["id"], "-o", str(file))
    assert shown["tick"] == 30
    assert seen(file)[1] == (600, 400)
    shown = ptp("screenshot", "show", listed["screenshots"][0]["id"])[1]
    assert any(shade in shown for shade in "░▒▓█")
    assert "\033" not in shown, "a pipe gets no codes"


def test_pictures_are_written_to_files_as_they_were_kept(run: Path, ptp_json: Any, tmp_path: Path) -> None:
    done = ptp_json("screenshot", "export", "-o", str(tmp_path / "out" / "all"))
    files = sorted((tmp_path / "out" / "all").iterdir())
    suffix = ".webp" if (run / "frames" / "archive_000001.db").exists() else ".png"
    assert [file.name for file in files] == [f"tick_{tick:06d}{suffix}" for tick in (10, 20, 30, 40, 50)]
    assert (done["pictures"], done["bytes"]) == (5, sum(file.stat().st_size for file in files))
    assert all(seen(file)[1] == (600, 400) for file in files)


def test_a_part_can_be_written_in_another_form(run: Path, ptp: Ptp, tmp_path: Path) -> None:
    code, out, _ = ptp("screenshot", "export", "-o", str(tmp_path / "x"), "--from", "15", "--to", "40",
                       "--format", "png")  # fmt: skip
    assert code == 0
    assert out.startswith(f"{tmp_path / 'x'}: 3 pictures, ")
    files = sorted((tmp_path / "x").iterdir())
    assert [file.name for file in files] == ["tick_000020.png", "tick_000030.png", "tick_000040.png"]
    assert seen(files[0]) == ("PNG", (600, 400))


def test_what_can_not_be_written_is_told_with_the_remedy(run: Path, ptp: Ptp, tmp_path: Path) -> None:
    code, _, error = ptp("screenshot", "export", "-o", str(tmp_path / "x"), "--from", "51")
    assert code == 2
    assert "no pictures of tick 51 on; see `ptp screenshot list --data-dir " in error
    (tmp_path / "file").write_text("")
    code, _, error = ptp("screenshot", "export", "-o", str(tmp_path / "file"))
    assert code == 2
    assert "name another folder" in error


def test_a_picture_that_is_gone_does_not_keep_the_others(
    recorded: Callable[..., Path], ptp: Ptp, tmp_path: Path
) -> None:
    run = recorded("LunarLander-v3", "--screenshot-interval", "10", ticks=50)
    sorted((run / "frames").glob("*/*.png"))[0].unlink()
    code, out, error = ptp("screenshot", "export", "-o", str(tmp_path / "x"))
    assert code == 1
    assert "4 pictures" in out
    assert "draws it again from the tape" in error
    assert len(list((tmp_path / "x").iterdir())) == 4


def test_a_path_that_leads_out_of_the_run_is_not_opened(
    recorded: Callable[..., Path], ptp: Ptp, tmp_path: Path
) -> None:
    run = recorded("LunarLander-v3", "--screenshot-interval", "50", ticks=50)
    (tmp_path / "secret.txt").write_text("secret")
    connection = sqlite3.connect(run / "game_data.db")
    connection.execute("UPDATE screenshots SET file_path = '../../../secret.txt'")
    connection.commit()
    connection.close()
    code, _, error = ptp("screenshot", "export", "-o", str(tmp_path / "x"))
    assert code == 1
    assert "is not in its folder" in error
    assert list((tmp_path / "x").iterdir()) == []


def test_a_picture_that_was_removed_to_make_room_is_drawn_from_the_tape(
    run: Path, ptp_json: Any, tmp_path: Path
) -> None:
    database = sqlite3.connect(run / "game_data.db")
    with database:
        database.execute("UPDATE screenshots SET file_path = NULL, file_size_bytes = 0 WHERE tick >= 30")
    database.close()
    listed = ptp_json("screenshot", "list")
    for name in (listed["screenshots"][2]["id"], "latest", "tick-30"):
        file = tmp_path / name
        assert ptp_json("screenshot", "show", name, "-o", str(file))["tick"] in (30, 50)
        assert seen(file)[1] == (600, 400)
