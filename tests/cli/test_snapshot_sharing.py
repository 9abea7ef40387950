"""`ptp snapshot export` and `import`: from one machine to another in a file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ptp.cli import main

Ptp = Callable[..., tuple[int, str, str]]


@pytest.fixture
def there(recorded: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., Path]:
    """Record a run, and move its data directory to where only the exported file knows of it."""

    def call(world: str, *flags: str, ticks: int = 60) -> Path:
        recorded(world, *flags, ticks=ticks)
        target = tmp_path / "shared.ptpsnap"
        assert main(["snapshot", "export", "latest", str(target), "--data-dir", str(tmp_path / "var")]) == 0
        (tmp_path / "var").rename(tmp_path / "away")
        capsys.readouterr()
        return target

    return call


@pytest.mark.parametrize("world", ["CartPole-v1", "Taxi-v4", "tallgrass"])
def test_a_file_becomes_a_run_that_is_resumed_forked_and_replayed(
    there: Callable[..., Path], ptp: Ptp, ptp_json: Callable[..., Any], world: str
) -> None:
    imported = ptp_json("snapshot", "import", str(there(world)))
    assert (imported["tick"], imported["snapshot"]["world"], imported["remarks"]) == (60, world, [])
    run = imported["run_id"]
    assert [line["tick"] for line in ptp_json("snapshot", "list", "--run", run)] == [60]
    assert ptp("resume", run, "--max-ticks", "90", "--tick-rate-base", "0")[0] == 0
    assert (
        ptp("fork", run, "--at-tick", "40", "--random-seed", "8", "--max-ticks", "80", "--tick-rate-base", "0")[0] == 0
    )
    assert ptp("replay", run, "--verify")[1].startswith("equal: 90 ticks")
    assert ptp("replay", "latest", "--verify")[1].startswith("equal: 80 ticks")


def test_an_import_says_how_to_go_on(there: Callable[..., Path], ptp: Ptp) -> None:
    code, out, err = ptp("snapshot", "import", str(there("CartPole-v1")))
    assert (code, err) == (0, "")
    assert "is intact: tick 60 of CartPole-v1, now run" in out
    assert "ptp resume" in out
    assert "--at-tick 60" in out


def test_a_world_of_a_manifest_is_named_at_import(there: Callable[..., Path], ptp: Ptp, tmp_path: Path) -> None:
    manifest = tmp_path / "big-lake.yaml"
    entry = "ptp.worlds.toy_text:ToyTextWorld"
    manifest.write_text(f"name: big-lake\nentry: {entry}\noptions:\n  id: FrozenLake-v1\n  map_name: 8x8\n")
    target = there(str(manifest))
    code, _, err = ptp("snapshot", "import", str(target))
    assert (code, err.count("\n")) == (1, 1)
    assert "'big-lake', which is not here; install it, or name its manifest with --world" in err
    assert ptp("snapshot", "import", str(target), "--world", str(manifest))[0] == 0
    assert ptp("replay", "latest", "--verify")[1].startswith("equal: 60 ticks")


@pytest.mark.parametrize("harm", ["missing", "cut off", "something else", "other world"])
def test_a_file_that_cant_be_taken_in_is_refused_in_one_line(
    there: Callable[..., Path], ptp: Ptp, ptp_json: Callable[..., Any], harm: str
) -> None:
    target = there("CartPole-v1")
    words: tuple[str, ...] = ()
    if harm == "missing":
        target.unlink()
    elif harm == "cut off":
        target.write_bytes(target.read_bytes()[:-9])
    elif harm == "something else":
        target.write_bytes(b"\x80\x04 a pickle")
    else:
        words = ("--world", "Acrobot-v1")
    code, out, err = ptp("snapshot", "import", str(target), *words)
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert ptp_json("runs") == []


def test_a_snapshot_of_another_run_is_not_restored(recorded: Callable[..., Path], ptp: Ptp) -> None:
    first, second, lake = recorded("Taxi-v4"), recorded("Taxi-v4"), recorded("FrozenLake-v1")
    (file,) = (first / "snapshots").glob("*.ptpsnap")
    for other, message in ((second, "is of run"), (lake, "a snapshot of 'Taxi-v4' can't be restored")):
        (other / "snapshots" / file.name).write_bytes(file.read_bytes())
        code, _, err = ptp("snapshot", "restore", file.stem, "--run", other.name)
        assert code == 1
        assert message in err
        assert ptp("replay", other.name, "--verify")[1].startswith("equal: 200 ticks")
