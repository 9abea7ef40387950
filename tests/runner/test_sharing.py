"""A shared snapshot is one file that another machine goes on from."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from ptp.errors import ConfigError, PtpError, SnapshotError
from ptp.recording import RunDirectory
from ptp.runner import fork, resume, run
from ptp.runs import list_runs
from ptp.runs.sharing import Imported, export_bytes, export_snapshot, import_snapshot
from ptp.runs.steering import restore_snapshot, store_of
from ptp.snapshots import Snapshot
from ptp.snapshots.snapshot import read_file, unpack
from ptp.worlds.gameboy.profiles import BUILT_IN
from tests.runner.test_going_back import config, hashes, rows, verified

WORLDS = ["FrozenLake-v1", "Blackjack-v1", "CartPole-v1", "LunarLander-v3", "tallgrass"]


def recorded(folder: Path, world: str, ticks: int = 170, **flags: Any) -> RunDirectory:
    return RunDirectory(Path(run(config(folder, world=world, max_ticks=ticks, **flags)).directory))


def handed_on(folder: Path, world: str, ticks: int = 170, **flags: Any) -> Snapshot:
    """Return the last snapshot of a run as another machine reads it."""
    return unpack(export_bytes(recorded(folder / "there", world, ticks, **flags), "latest")[1], "file")


def arrived(imported: Imported) -> RunDirectory:
    return RunDirectory(Path(imported.directory))


@pytest.mark.parametrize("world", WORLDS)
def test_an_imported_run_goes_on_as_if_it_had_never_left(tmp_path: Path, world: str) -> None:
    whole = recorded(tmp_path / "whole", world, 300)
    here = arrived(import_snapshot(tmp_path / "here", handed_on(tmp_path, world)))
    assert hashes(here.path) == hashes(whole.path)[:170]
    assert verified(here.path) == 170
    result = resume(here, config(tmp_path / "here", world=world, max_ticks=300))
    assert (result.status, result.ticks) == ("completed", 300)
    assert hashes(here.path) == hashes(whole.path)
    assert verified(here.path) == 300


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("tick", [170, 60])
def test_an_imported_run_can_be_forked_at_its_snapshot_and_before_it(tmp_path: Path, world: str, tick: int) -> None:
    whole = recorded(tmp_path / "whole", world, 200)
    here = arrived(import_snapshot(tmp_path / "here", handed_on(tmp_path, world)))
    same = fork(here, tick, config(tmp_path / "here", world=world, max_ticks=200))
    other = fork(here, tick, config(tmp_path / "here", world=world, max_ticks=200, random_seed=99))
    assert hashes(Path(same.directory)) == hashes(whole.path)
    assert hashes(Path(other.directory))[:tick] == hashes(whole.path)[:tick]
    assert hashes(Path(other.directory)) != hashes(whole.path)
    assert verified(Path(other.directory)) == 200


def test_the_file_tells_origin_seed_and_version_and_the_run_keeps_them(tmp_path: Path) -> None:
    snapshot = handed_on(tmp_path, "CartPole-v1", command_buffer_size=7)
    assert snapshot.tape is not None
    assert (snapshot.world, len(snapshot.tape.steps), snapshot.tape.random_seed) == (b"", 170, 3)
    imported = import_snapshot(tmp_path / "here", snapshot)
    metadata = arrived(imported).read_metadata()
    assert metadata.facts.origin == snapshot.tape.origin
    assert (metadata.status, metadata.ticks, metadata.random_seed) == ("manual_stop", 170, 3)
    assert metadata.parent is not None
    assert (metadata.parent.run_id, metadata.parent.tick) == (snapshot.header.run_id, 170)
    assert imported.remarks == []
    assert "buffer_size: 7" in (arrived(imported).path / "config.yaml").read_text()


def test_the_tables_of_an_imported_run_tell_what_the_file_told(tmp_path: Path) -> None:
    there = recorded(tmp_path / "there", "Blackjack-v1")
    here = arrived(import_snapshot(tmp_path / "here", unpack(export_bytes(there, "latest")[1], "file")))
    same = "SELECT tick, episode, step, command, reward, terminated, truncated, elapsed FROM steps"
    assert rows(here.path, same) == rows(there.path, same)
    assert rows(here.path, "SELECT * FROM episodes") == rows(there.path, "SELECT * FROM episodes")
    decisions = "SELECT tick, timestamp, decision_type, execution_status FROM action_history ORDER BY tick"
    assert rows(here.path, decisions) == rows(there.path, decisions)
    ids = "SELECT count(DISTINCT decision_id), min(run_id), max(run_id) FROM action_history"
    assert rows(here.path, ids) == [(170, here.run_id, here.run_id)]


def test_a_cartridge_that_began_from_a_state_takes_it_along(tmp_path: Path) -> None:
    first = tmp_path / "first.ptpsnap"
    export_snapshot(recorded(tmp_path / "there", "tallgrass", 90), "latest", first)
    snapshot = handed_on(tmp_path, "tallgrass", 120, start_state=str(first))
    first.unlink()
    here = arrived(import_snapshot(tmp_path / "here", snapshot))
    assert verified(here.path) == 120
    result = resume(here, config(tmp_path / "here", world="tallgrass", max_ticks=150))
    assert verified(Path(result.directory)) == 150


def test_an_imported_run_can_be_handed_on_again(tmp_path: Path) -> None:
    here = arrived(import_snapshot(tmp_path / "here", handed_on(tmp_path, "CartPole-v1")))
    resume(here, config(tmp_path / "here", world="CartPole-v1", max_ticks=220))
    again = arrived(import_snapshot(tmp_path / "third", unpack(export_bytes(here, "latest")[1], "file")))
    assert verified(again.path) == 220


def test_an_imported_snapshot_keeps_its_name_and_belongs_to_its_new_run(tmp_path: Path) -> None:
    imported = import_snapshot(tmp_path / "here", handed_on(tmp_path, "Taxi-v4", snapshot_name="half-way"))
    header = store_of(arrived(imported)).find("half-way")
    assert (header.run_id, header.rewinds, header.tick) == (imported.run_id, 0, 170)
    assert restore_snapshot(arrived(imported), "half-way").tick == 170


def test_ticks_that_were_given_up_are_not_on_a_shared_tape(tmp_path: Path) -> None:
    there = recorded(tmp_path, "CartPole-v1", 250, snapshot_name="finale")
    hundred = next(header for header in store_of(there).headers() if header.tick == 100)
    restore_snapshot(there, hundred.snapshot_id)
    shared = unpack(export_bytes(there, hundred.snapshot_id)[1], "file")
    assert shared.tape is not None
    assert len(shared.tape.steps) == 100
    with pytest.raises(SnapshotError, match="'finale' belongs to ticks that were rolled back"):
        export_bytes(there, "finale")


def test_a_cartridge_snapshot_of_ticks_that_were_given_up_can_only_be_begun_from(tmp_path: Path) -> None:
    there = recorded(tmp_path, "tallgrass", 150, snapshot_name="finale")
    hundred = next(header for header in store_of(there).headers() if header.tick == 100)
    restore_snapshot(there, hundred.snapshot_id)
    target = tmp_path / "finale.ptpsnap"
    export_snapshot(there, "finale", target)
    with pytest.raises(SnapshotError, match=r"carries no tape.*--start-state"):
        import_snapshot(tmp_path / "here", read_file(target))
    assert recorded(tmp_path, "tallgrass", 20, start_state=str(target)).read_metadata().ticks == 20


def test_an_export_does_not_replace_a_file(tmp_path: Path) -> None:
    target = tmp_path / "x.ptpsnap"
    target.write_bytes(b"mine")
    with pytest.raises(SnapshotError, match="is there already; choose another file"):
        export_snapshot(recorded(tmp_path, "Taxi-v4", 20), "latest", target)
    assert target.read_bytes() == b"mine"


# -- cartridges ----------------------------------------------------------------------------------------------------


@pytest.fixture
def other_cartridge(tmp_path: Path) -> Path:
    """Tallgrass with one byte changed in its last, unused bytes: a cartridge that ptp does not carry."""
    data = bytearray(BUILT_IN["tallgrass"].read_bytes())
    data[-1] ^= 1
    path = tmp_path / "other.gb"
    path.write_bytes(data)
    return path


def test_a_snapshot_of_a_cartridge_that_is_not_here_names_it_and_takes_its_file(
    tmp_path: Path, other_cartridge: Path
) -> None:
    there = RunDirectory(
        Path(run(config(tmp_path / "there", world=None, rom=str(other_cartridge), max_ticks=60)).directory)
    )
    snapshot = unpack(export_bytes(there, "latest")[1], "file")
    sha1 = snapshot.header.origin["rom_sha1"]
    with pytest.raises(SnapshotError, match=f"'other' with rom_sha1 {sha1}; give its file with --rom"):
        import_snapshot(tmp_path / "here", snapshot)
    with pytest.raises(SnapshotError, match=f"another 'other': its rom_sha1 is {sha1}, and here"):
        import_snapshot(tmp_path / "here", snapshot, rom=str(BUILT_IN["tallgrass"]))
    assert list(list_runs(tmp_path / "here")) == []
    renamed = tmp_path / "renamed.gb"
    other_cartridge.rename(renamed)
    here = arrived(import_snapshot(tmp_path / "here", snapshot, rom=str(renamed)))
    assert verified(here.path) == 60


# -- refused -------------------------------------------------------------------------------------------------------


def _header(**fields: Any) -> Callable[[Snapshot], Snapshot]:
    return lambda it: msgspec.structs.replace(it, header=msgspec.structs.replace(it.header, **fields))


def _tape(**fields: Any) -> Callable[[Snapshot], Snapshot]:
    def change(it: Snapshot) -> Snapshot:
        assert it.tape is not None
        return msgspec.structs.replace(it, tape=msgspec.structs.replace(it.tape, **fields))

    return change


@pytest.mark.parametrize(
    ("harm", "problem", "message"),
    [
        (_header(world="FrozenLake-v1"), SnapshotError, "'FrozenLake-v1' can't be restored|it needs its own world"),
        (_header(world_version="9"), SnapshotError, "of version 9 of 'CartPole-v1', and this is 1"),
        (_header(world="antigravity:Fly-v0"), SnapshotError, "not a plain name; name its world with --world"),
        (_header(world="../other.yaml"), SnapshotError, "not a plain name; name its world with --world"),
        (_header(world="No-Such-v0"), PtpError, "No-Such-v0"),
        (_header(name="../up"), SnapshotError, "can't name a snapshot"),
        (_header(location="\x1b[2J"), SnapshotError, "characters that can't be shown"),
        (_header(tick=5), SnapshotError, "its engine is not at tick 5"),
        (_tape(random_seed=4, starts=[]), PtpError, "the tape can't be followed"),
        (_tape(settings={"system.data_dir": "/etc"}), SnapshotError, "'system.data_dir', which this ptp does not take"),
        (_tape(settings={"tick_rate.normal": -1}), ConfigError, "the snapshot's tick_rate.normal: -1 is not allowed"),
    ],
)
def test_a_file_that_is_not_what_it_says_is_refused_and_leaves_no_run(
    tmp_path: Path, harm: Callable[[Snapshot], Snapshot], problem: type[PtpError], message: str
) -> None:
    snapshot = harm(handed_on(tmp_path, "CartPole-v1", 100))
    with pytest.raises(problem, match=message):
        import_snapshot(tmp_path / "here", snapshot)
    assert list(list_runs(tmp_path / "here")) == []


def test_a_command_on_the_tape_that_was_changed_is_found(tmp_path: Path) -> None:
    snapshot = handed_on(tmp_path, "CartPole-v1", 100)
    assert snapshot.tape is not None
    last = snapshot.tape.steps[-1]
    other = "1" if last.command == "0" else "0"
    snapshot.tape.steps[-1] = msgspec.structs.replace(last, command=other)
    with pytest.raises(PtpError, match="tick 100 should be"):
        import_snapshot(tmp_path / "here", snapshot)


def test_versions_that_changed_are_told(tmp_path: Path) -> None:
    snapshot = handed_on(tmp_path, "CartPole-v1", 60)
    assert snapshot.tape is not None
    snapshot.tape.origin = {**snapshot.tape.origin, "gymnasium": "0.1"}
    (remark,) = import_snapshot(tmp_path / "here", snapshot).remarks
    assert remark.startswith("gymnasium was 0.1, is ")
