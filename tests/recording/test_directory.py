"""The folder of a run: what is left in it by a writer that was killed."""

from __future__ import annotations

from pathlib import Path

from ptp.recording import RunDirectory


def test_who_takes_a_run_over_removes_what_was_left_unfinished(tmp_path: Path) -> None:
    directory = RunDirectory(tmp_path)
    left = [".metadata.json.x1.tmp", "snapshots/.a.ptpsnap.x2.tmp", "video/.run_from_000001.77.mp4", "control.sock"]
    kept = ["snapshots/a.ptpsnap", "video/run_from_000001.mp4", "frames/.lock"]
    for name in left + kept:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    directory.acquire()
    directory.release()
    assert [name for name in left + kept if (tmp_path / name).exists()] == kept
