"""A folder of pictures keeps to its quota, whoever writes to it."""

from __future__ import annotations

import fcntl
import multiprocessing
import os
import threading
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from ptp.config.tree import Screenshot
from ptp.errors import RecordingError
from ptp.frames import StorageProfile
from ptp.frames.disk import tree_bytes
from ptp.frames.files import FrameFolder
from ptp.frames.pictures import encode, fingerprint
from tests.frames.playing import PixelWorld, noise, play


def used_by_pictures(folder: Path) -> int:
    return tree_bytes(folder) - (folder / ".lock").stat().st_size


def fill(path: Path, quota: int, first: int, count: int) -> None:
    folder = FrameFolder(path, quota, compress=False)
    for seed in range(first, first + count):
        picture = noise(seed)
        digest = fingerprint(picture)
        folder.add(f"{digest[:2]}/{digest}.jpg", encode(picture, "jpeg", 85))
    folder.close()


def test_the_oldest_pictures_make_room_for_new_ones(tmp_path: Path) -> None:
    folder = FrameFolder(tmp_path, 10_000, compress=False)
    for number in range(25):
        folder.add(f"aa/{number:04d}.txt", bytes(1000))
        os.utime(tmp_path / f"aa/{number:04d}.txt", (number, number))
        assert used_by_pictures(tmp_path) <= 10_000
    assert sorted(path.name for path in (tmp_path / "aa").iterdir()) == [f"{n:04d}.txt" for n in range(15, 25)]


def test_a_picture_that_was_shown_again_is_not_among_the_oldest(tmp_path: Path) -> None:
    folder = FrameFolder(tmp_path, 3000, compress=False)
    for number in range(3):
        folder.add(f"aa/{number}.txt", bytes(1000))
        os.utime(tmp_path / f"aa/{number}.txt", (number, number))
    assert len(folder.find("aa/0.txt") or b"") == 1000
    assert folder.add("aa/3.txt", bytes(1000)).removed == ["aa/1.txt"]
    assert folder.find("aa/1.txt") is None


def test_the_quota_holds_while_threads_write_to_the_same_folder(tmp_path: Path) -> None:
    quota, most, done = 100_000, 0, threading.Event()
    writers = [threading.Thread(target=fill, args=(tmp_path, quota, 1000 * n, 150)) for n in range(3)]

    def watch() -> None:
        nonlocal most
        with open(tmp_path / ".lock", "ab") as lock:  # a listing while files come and go counts some that never met
            while not done.is_set():
                fcntl.flock(lock, fcntl.LOCK_SH)
                most = max(most, used_by_pictures(tmp_path))
                fcntl.flock(lock, fcntl.LOCK_UN)

    watcher = threading.Thread(target=watch)
    for thread in [watcher, *writers]:
        thread.start()
    for thread in writers:
        thread.join()
    done.set()
    watcher.join()
    assert quota / 2 < most <= quota
    assert quota / 2 < used_by_pictures(tmp_path) <= quota


def test_the_quota_holds_while_processes_write_to_the_same_folder(tmp_path: Path) -> None:
    quota = 60_000
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=fill, args=(tmp_path, quota, 1000 * n, 60)) for n in range(2)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
        assert writer.exitcode == 0
    assert quota / 2 < used_by_pictures(tmp_path) <= quota
    folder = FrameFolder(tmp_path, quota, compress=False)
    assert folder.used == used_by_pictures(tmp_path)


def test_what_others_removed_is_noticed(tmp_path: Path) -> None:
    folder = FrameFolder(tmp_path, 3000, compress=False)
    for number in range(3):
        folder.add(f"aa/{number}.txt", bytes(1000))
    for path in (tmp_path / "aa").iterdir():
        path.unlink()
    assert folder.add("aa/4.txt", bytes(2000)).removed == []
    assert folder.used == 2000


def test_a_picture_that_never_fits_is_refused_with_the_remedy(tmp_path: Path) -> None:
    folder = FrameFolder(tmp_path, 100, compress=False)
    with pytest.raises(RecordingError, match="raise --screenshot-max-storage"):
        folder.add("aa/1.txt", bytes(101))


class NoisyWorld(PixelWorld):
    def frame(self) -> Any:
        super().frame()
        return noise(self.drawn, 128, 128)


@pytest.mark.parametrize("format", ["jpeg", "png", "webp"])
@pytest.mark.parametrize("early", [False, True])
def test_the_oldest_are_made_smaller_before_any_is_removed(tmp_path: Path, format: str, early: bool) -> None:
    profile = StorageProfile(tier="files", format=format)  # type: ignore[arg-type]
    one = len(encode(noise(1, 128, 128), format, 85))  # type: ignore[arg-type]
    config = Screenshot(interval=1, compress=early, max_storage=one * 6.5 / 1e9)
    run = play(tmp_path / "nearly", NoisyWorld(), 6, config, profile)
    assert (run.counts.shrunk > 0) == early
    run = play(tmp_path, NoisyWorld(), 8, config, profile)
    assert run.counts.shrunk > 0
    assert run.counts.removed == 0
    rows = run.rows("SELECT file_path, file_size_bytes FROM screenshots ORDER BY tick")
    assert rows[0][1] < rows[-1][1]
    for path, size in rows:
        assert (run.path / path).stat().st_size == size
        Image.open(run.path / path).load()
    assert "frames_shrunk" in {notice.kind for notice in run.notices}


def test_when_nothing_can_be_made_smaller_the_oldest_are_removed_and_their_rows_say_so(tmp_path: Path) -> None:
    profile = StorageProfile(tier="files")
    one = len(encode(noise(1, 128, 128), "jpeg", 85))
    config = Screenshot(interval=1, compress=True, max_storage=one * 5 / 1e9)
    run = play(tmp_path, NoisyWorld(), 40, config, profile)
    assert run.counts.removed > 0
    assert run.counts.shrunk > 0
    assert used_by_pictures(run.path / "frames") <= one * 5
    gone = run.rows("SELECT tick FROM screenshots WHERE file_path IS NULL ORDER BY tick")
    assert [tick for (tick,) in gone] == list(range(1, run.counts.removed + 1))
    referring = "SELECT tick FROM steps WHERE frame_ref IS NOT NULL ORDER BY tick"
    assert run.rows(referring) == run.rows("SELECT tick FROM screenshots WHERE file_path IS NOT NULL ORDER BY tick")
    for (path,) in run.rows("SELECT file_path FROM screenshots WHERE file_path IS NOT NULL"):
        assert (run.path / path).exists()
    assert "frames_removed" in [notice.kind for notice in run.notices]


def test_a_quota_of_nothing_keeps_nothing_and_the_run_goes_on(tmp_path: Path) -> None:
    run = play(tmp_path, NoisyWorld(), 20, Screenshot(interval=10, max_storage=0), StorageProfile(tier="files"))
    assert run.rows("SELECT count(*) FROM steps") == [(20,)]
    assert run.counts.failed == 2
    assert "--screenshot-max-storage" in run.notices[0].message
