"""Checkpoints: states of games in a folder, whichever process keeps them."""

from __future__ import annotations

import os
import subprocess
import sys
import zlib
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import get_args
from uuid import UUID

import msgspec
import pytest

import ptp
from ptp import CheckpointManager
from ptp.errors import ReplayDiverged, SnapshotError
from ptp.snapshots.compression import BUDGET, RATES, Level, choose, expand
from ptp.snapshots.snapshot import pack, read_header, unpack
from ptp.snapshots.store import SnapshotStore
from ptp.worlds import World, find_world, make_world
from tests.snapshots.test_files import made, resealed

LEVELS: tuple[Level, ...] = get_args(Level)


@pytest.fixture
def manager(tmp_path: Path) -> CheckpointManager:
    return CheckpointManager(tmp_path / "deep" / "checkpoints")


@pytest.fixture(scope="module")
def grass() -> Iterator[World]:
    with closing(make_world(find_world("tallgrass"))) as world:
        world.reset(1)
        yield world


def play(world: World, *buttons: str) -> None:
    for button in buttons:
        world.step(world.decode(button))


def test_a_world_is_put_back_to_a_checkpoint(manager: CheckpointManager, grass: World) -> None:
    play(grass, "start", "a", "a")
    then = grass.save()
    checkpoint_id = manager.save(grass, "before-gym", tags=("gym", "gym", "best"), description="ready")
    play(grass, "down", "down", "a", "b")
    assert grass.save() != then
    manager.restore(checkpoint_id, grass)
    assert grass.save() == then
    header = manager.load(checkpoint_id).header
    assert str(UUID(checkpoint_id)) == checkpoint_id == header.checkpoint_id
    assert (header.name, header.tags, header.message) == ("before-gym", ("gym", "best"), "ready")
    assert (header.spec, header.facts, header.world) == (grass.spec, grass.facts, "tallgrass")
    assert header.location == grass.context()
    assert header.world_bytes == len(then)
    assert header.run_id == ""
    assert header.save_ms > 0


@pytest.mark.parametrize("level", LEVELS)
def test_every_level_can_be_read_and_is_recorded(manager: CheckpointManager, grass: World, level: Level) -> None:
    header = manager.load(manager.save(grass, compression=level)).header
    chosen = "balanced" if level == "auto" else level
    method = {"none": "none", "small": "lzma"}.get(chosen, "lz4")
    assert (header.level, header.compression) == (chosen, method)
    assert manager.load(header.checkpoint_id).world == grass.save()


def test_a_cartridge_starts_from_a_checkpoint(tmp_path: Path, manager: CheckpointManager, grass: World) -> None:
    play(grass, "start", "a", "b")
    key, state = manager.save(grass, compression="small"), grass.state(None)
    file = str(manager.folder / f"{key}.ptpsnap")
    run = ptp.run("tallgrass", "random", max_ticks=1, start_state=file, data_dir=str(tmp_path / "var"))
    with closing(make_world(run.directory.resolve(run.metadata.world))) as world:
        world.reset(1)
        assert world.state(None) == state


def test_a_stronger_level_makes_a_smaller_file(manager: CheckpointManager, grass: World) -> None:
    levels: tuple[Level, ...] = ("none", "fast", "balanced", "small")
    sizes = [manager.load(manager.save(grass, compression=level)).header.payload_bytes for level in levels]
    assert sizes == sorted(sizes, reverse=True)
    assert len(set(sizes)) == 4


def test_auto_takes_the_smallest_result_that_fits_the_time() -> None:
    most = {name: int(rate * BUDGET / 1000) for name, rate in RATES.items()}
    assert choose("auto", most["small"]) == "small"
    assert choose("auto", most["small"] + 1) == choose("auto", most["balanced"]) == "balanced"
    assert choose("auto", most["balanced"] + 1) == "fast"
    assert choose("auto", most["balanced"] + 1, budget_ms=1e6) == "small"


def test_a_level_that_is_none_is_refused(manager: CheckpointManager, grass: World) -> None:
    with pytest.raises(SnapshotError, match="no compression level 'tiny'; choose one of none, fast, balanced"):
        manager.save(grass, compression="tiny")  # type: ignore[arg-type]
    with pytest.raises(SnapshotError, match="no compression level 'tiny'"):
        CheckpointManager("x", compression="tiny")  # type: ignore[arg-type]
    assert manager.list() == []


@pytest.mark.parametrize("method", ["lz4", "lzma", "zlib"])
def test_what_is_no_compressed_payload_is_refused_and_zlib_is_read(method: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        expand(memoryview(b"not compressed at all"), 10_000, method)
    assert expand(memoryview(zlib.compress(bytes(10_000_000))), 100, "zlib") == bytes(101)


def test_a_file_of_a_method_that_nobody_knows_is_refused() -> None:
    data = pack(made(), True)
    header, start = read_header(data, "file")
    header.compression = "zstd"
    with pytest.raises(SnapshotError, match="file can't be read: it is compressed by 'zstd'; this ptp knows none, lz4"):
        unpack(resealed(header, data[start:]), "file")


# -- finding, tagging, removing ------------------------------------------------------------------------------------


def test_checkpoints_are_found_by_tag_place_game_and_time(manager: CheckpointManager, grass: World) -> None:
    gym = manager.save(made(location="overworld:STONE GYM"), tags=("gym", "best"))
    road = manager.save(made(location="overworld:ROAD"), tags=("best",))
    mine = manager.save(grass)

    def found(**wanted: object) -> set[str]:
        return {header.checkpoint_id for header in manager.list(**wanted)}  # type: ignore[arg-type]

    assert found() == {gym, road, mine}
    assert found(tags=["best"]) == {gym, road}
    assert found(tags=["best", "gym"]) == {gym}
    assert found(location="stone gym") == {gym}
    assert found(game="Taxi-v4") == {gym, road}
    assert found(game="tallgrass") == {mine}
    now = datetime.now(UTC)
    assert found(since=now - timedelta(hours=1)) == {gym, road, mine}
    assert found(until=now - timedelta(hours=1)) == found(since=now + timedelta(hours=1)) == set()


def test_tags_change_and_everything_else_stays(manager: CheckpointManager) -> None:
    key = manager.save(made(), "x", tags=("a",), compression="small")
    before = manager.load(key)
    assert manager.tag(key, "b", "keep", "b") == ("a", "b", "keep")
    assert manager.untag(key, "a", "unknown") == ("b", "keep")
    after = manager.load(key)
    assert after.header == msgspec.structs.replace(before.header, tags=("b", "keep"))
    assert (after.world, after.engine, after.agent) == (before.world, before.engine, before.agent)
    assert len(list(manager.folder.iterdir())) == 1


@pytest.mark.parametrize("tag", ["", "../up", "line\nbreak", "event"])
def test_a_tag_that_cant_be_typed_or_is_our_own_is_refused(manager: CheckpointManager, tag: str) -> None:
    key = manager.save(made())
    with pytest.raises(SnapshotError, match="tag"):
        manager.tag(key, tag)
    with pytest.raises(SnapshotError, match="tag"):
        manager.save(made(), tags=(tag,))
    assert [header.tags for header in manager.list()] == [()]


def test_pruning_keeps_the_newest_and_those_tagged_keep(manager: CheckpointManager) -> None:
    store = SnapshotStore(manager.folder)
    manager.folder.mkdir(parents=True)
    for day in range(1, 7):
        taken = made(day, tags=("keep",) if day == 2 else ())
        taken.header.created_at = f"2026-01-0{day}T00:00:00.000Z"
        store.save(taken)
    removed = manager.prune(2)
    assert len(removed) == 3
    assert [header.tick for header in manager.list()] == [6, 5, 2]
    manager.prune(0)
    assert [header.tick for header in manager.list()] == [2]
    with pytest.raises(SnapshotError, match="can't keep -1 checkpoints"):
        manager.prune(-1)


def test_one_tagged_keep_survives_full_disks_and_rewinds(manager: CheckpointManager) -> None:
    key = manager.save(made(1), tags=("keep",))
    manager.save(made(2), "mine", tags=("boss",))
    for tick in range(3, 6):
        manager.save(made(tick))
    store = SnapshotStore(manager.folder)
    store.shrink(0)
    assert {header.tick for header in store.headers()} == {1, 2, 5}
    store.forget_after(0)
    assert {header.snapshot_id for header in store.headers()} >= {key}


def test_a_deleted_checkpoint_is_gone_from_memory_too(manager: CheckpointManager) -> None:
    key = manager.save(made())
    manager.load(key)
    assert manager.delete(key) > 0
    with pytest.raises(SnapshotError, match="No such file"):
        manager.load(key)
    with pytest.raises(SnapshotError, match=f"no checkpoint {key}"):
        manager.delete(key)


@pytest.mark.parametrize("wrong", ["", "../../etc/passwd", "latest", None])
def test_an_id_that_is_no_uuid_is_refused(manager: CheckpointManager, wrong: str) -> None:
    for verb in (manager.load, manager.delete, manager.tag, manager.preload):
        with pytest.raises(SnapshotError, match="is no checkpoint_id"):
            verb(wrong)


# -- damage --------------------------------------------------------------------------------------------------------


def test_a_damaged_or_foreign_file_is_one_line_and_hides_no_other(manager: CheckpointManager) -> None:
    good, bad = manager.save(made()), manager.save(made())
    path = manager.folder / f"{bad}.ptpsnap"
    data = bytearray(path.read_bytes())
    data[-10] ^= 1
    path.write_bytes(data)
    (manager.folder / f"{UUID(int=5)}.ptpsnap").write_bytes(b"\x80\x04pickle of somebody else")
    with pytest.raises(SnapshotError, match="is damaged: its payload does not match its hash; use an older") as damage:
        manager.load(bad)
    with pytest.raises(SnapshotError, match="is not a ptp snapshot"):
        manager.load(str(UUID(int=5)))
    intact, problems = manager.verify()
    assert intact == [good]
    assert len(problems) == 2
    assert all("\n" not in line for line in [*problems, str(damage.value)])
    with pytest.raises(SnapshotError, match="damaged"):
        manager.tag(bad, "keep")


def test_a_file_that_is_damaged_later_is_not_answered_from_memory(manager: CheckpointManager) -> None:
    key = manager.save(made())
    manager.load(key)
    path = manager.folder / f"{key}.ptpsnap"
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(SnapshotError, match="damaged"):
        manager.load(key)


def test_a_full_disk_is_one_line_and_leaves_nothing(
    manager: CheckpointManager, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = manager.save(made(), tags=("old",))

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    for change in (lambda: manager.save(made(), "new"), lambda: manager.tag(key, "new")):
        with pytest.raises(SnapshotError, match="No space left on device; older ones are intact"):
            change()
    assert [header.tags for header in manager.list()] == [("old",)]
    assert len(list(manager.folder.iterdir())) == 1


def test_a_folder_that_cant_be_written_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("no folder")
    for folder in (tmp_path / "file", tmp_path / "file" / "in" / "it"):
        with pytest.raises(SnapshotError, match=r"File exists|Not a directory"):
            CheckpointManager(folder).save(made(), "x")

    def refused(*_: object) -> int:
        raise OSError(30, "Read-only file system")

    (tmp_path / "sealed").mkdir()
    monkeypatch.setattr(os, "open", refused)
    for name in (None, "x"):
        with pytest.raises(SnapshotError, match="Read-only file system"):
            CheckpointManager(tmp_path / "sealed").save(made(), name)


# -- worlds that can't save ----------------------------------------------------------------------------------------


def test_a_cart_pole_is_played_to_the_checkpoint_along_its_tape(tmp_path: Path, manager: CheckpointManager) -> None:
    run = ptp.run("CartPole-v1", "random", max_ticks=120, random_seed=3, data_dir=str(tmp_path / "var"))
    run.share("latest", tmp_path / "pole.ptpsnap")
    key = manager.save(tmp_path / "pole.ptpsnap", "pole", tags=("pole",))
    header = manager.load(key).header
    assert (header.run_id, header.tick, header.world) == (run.id, 120, "CartPole-v1")
    with closing(make_world(find_world("CartPole-v1"))) as world:
        seen = manager.restore(key, world)
        tape = manager.load(key).tape
        assert tape is not None
        last = tape.steps[-1]
        assert world.state_hash(seen, last.reward or 0.0, last.terminated, last.truncated) == last.state_hash
        with pytest.raises(SnapshotError, match="'CartPole-v1' can't save its state; save a snapshot of a run"):
            manager.save(world)
        with pytest.raises(SnapshotError, match="neither a state nor a tape"):
            manager.save(msgspec.structs.replace(manager.load(key), tape=None))
        tape.steps[-1] = msgspec.structs.replace(last, state_hash="0" * 16)
        with pytest.raises(ReplayDiverged, match="tick 120"):
            manager.restore(manager.save(manager.load(key)), world)
    with closing(make_world(find_world("Taxi-v4"))) as taxi, pytest.raises(SnapshotError, match="needs its own world"):
        manager.restore(key, taxi)


# -- memory and figures --------------------------------------------------------------------------------------------


def test_preloaded_checkpoints_are_answered_from_memory(manager: CheckpointManager) -> None:
    first, second, third = (manager.save(made(), tags=(tag,)) for tag in ("a", "b", "b"))
    again = CheckpointManager(manager.folder)
    assert again.preload(first, tags=("b",)).result(30) == []
    for key in (first, second, third):
        again.load(key)
    stats = again.stats()
    assert (stats.hits, stats.misses, stats.hit_rate, stats.load.count) == (3, 0, 1.0, 0)
    assert stats.cached_bytes > 3 * 22_000
    (problem,) = again.preload(str(UUID(int=7))).result(30)
    assert "No such file" in problem


def test_memory_stays_within_its_budget(manager: CheckpointManager) -> None:
    keys = [manager.save(made()) for _ in range(5)]
    small = CheckpointManager(manager.folder, cache_bytes=50_000)
    for key in keys:
        small.load(key)
    assert 44_000 < small.stats().cached_bytes <= 50_000
    small.load(keys[4])
    small.load(keys[0])
    assert (small.stats().hits, small.stats().misses) == (1, 6)


def test_figures_tell_how_long_things_took(manager: CheckpointManager) -> None:
    empty = manager.stats()
    assert (empty.checkpoints, empty.hit_rate, empty.save.median_ms) == (0, None, None)
    checked = CheckpointManager(manager.folder, validate=True)
    keys = [checked.save(made()) for _ in range(4)]
    other = CheckpointManager(manager.folder)
    for key in keys:
        other.load(key)
    other.verify()
    stats = checked.stats()
    assert (stats.checkpoints, stats.save.count, stats.validate.count) == (4, 4, 4)
    assert stats.bytes == sum(path.stat().st_size for path in manager.folder.iterdir())
    for timing in (stats.save, stats.validate, other.stats().load, other.stats().validate):
        assert timing.count == 4
        assert 0 < (timing.median_ms or 0) <= (timing.p95_ms or 0)


# -- several at once -----------------------------------------------------------------------------------------------

BUSY = """
import sys
from ptp import CheckpointManager
from ptp.errors import SnapshotError
from tests.snapshots.test_files import made
folder, who, shared = sys.argv[1:]
manager = CheckpointManager(folder)
for number in range(20):
    manager.tag(shared, f"{who}-{number}")
    key = manager.save(made(), tags=(who,))
    manager.load(key)
    manager.list(tags=(who,))
    try:
        manager.save(made(), f"name-{number}")
    except SnapshotError as problem:
        assert "is there already" in str(problem), problem
"""


SWEEPING = """
import sys
from ptp import CheckpointManager
from tests.snapshots.test_files import made
manager = CheckpointManager(sys.argv[1])
for number in range(25):
    manager.save(made(), tags=("keep",) if number == 7 else ())
    manager.prune(3)
    manager.list(), manager.stats(), manager.preload(tags=("keep",)).result(60)
    assert manager.verify()[1] == []
"""


def test_two_processes_prune_and_read_one_folder(manager: CheckpointManager) -> None:
    assert run_two(SWEEPING, manager, [[], []]) == [0, 0]
    manager.prune(0)
    assert [header.tags for header in manager.list()] == [("keep",), ("keep",)]


def run_two(code: str, manager: CheckpointManager, arguments: list[list[str]]) -> list[int]:
    root = Path(__file__).parents[2]
    environment = os.environ | {"PYTHONPATH": f"{root / 'src'}{os.pathsep}{root}"}
    busy = [
        subprocess.Popen([sys.executable, "-c", code, str(manager.folder), *more], cwd=root, env=environment)
        for more in arguments
    ]
    return [process.wait(120) for process in busy]


def test_a_folder_that_is_a_link_is_the_one_it_leads_to(tmp_path: Path, manager: CheckpointManager) -> None:
    key = manager.save(made())
    (tmp_path / "link").symlink_to(manager.folder)
    linked = CheckpointManager(tmp_path / "link")
    assert linked.load(key).world == manager.load(key).world
    assert linked.save(made()) in [header.checkpoint_id for header in manager.list()]


def test_two_processes_share_a_folder(manager: CheckpointManager) -> None:
    shared = manager.save(made())
    assert run_two(BUSY, manager, [["one", shared], ["two", shared]]) == [0, 0]
    names = [header.name for header in manager.list() if header.name]
    assert sorted(names) == sorted(f"name-{number}" for number in range(20))
    assert len(manager.load(shared).header.tags) == 40
    intact, problems = manager.verify()
    assert (len(intact), problems) == (61, [])
    assert all(path.suffix == ".ptpsnap" for path in manager.folder.iterdir())
