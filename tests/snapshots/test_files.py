"""Snapshot files: whole or refused."""

from __future__ import annotations

import os
import random
import tracemalloc
from pathlib import Path
from typing import Any

import lz4.frame
import msgspec
import pytest
from xxhash import xxh3_64_digest, xxh3_128_hexdigest

from ptp.engine import EngineState
from ptp.engine.state import BudgetState, BufferState
from ptp.errors import SnapshotError, UnknownName
from ptp.snapshots import Ring, SharedTape, Snapshot, SnapshotStore, snapshot
from ptp.snapshots.snapshot import (
    MAGIC,
    PREFIX,
    SnapshotHeader,
    check_world,
    pack,
    read_file,
    read_header,
    unpack,
)
from ptp.snapshots.tape import Decided, Played
from ptp.worlds import find_world, make_world

WORLD = bytes(random.Random(1).randbytes(2000)) + bytes(20_000)


def engine_at(tick: int) -> EngineState:
    return EngineState(
        ticks=tick, episodes=0, step=tick, reward=0.0, last_reward=None, episode_reward=0.0, cost=0.0, elapsed=1.0,
        decisions=tick, idle=0.0, last_hash="", budget=BudgetState(0, 0.0), buffer=BufferState([], [], []),
    )  # fmt: skip


def made(tick: int = 7, *, shared: bool = False, **fields: Any) -> Snapshot:
    facts = make_world(find_world("Taxi-v4")).facts
    header = SnapshotHeader(
        snapshot_id=f"01a1e142-0000-7000-8000-{tick:012d}", run_id="r", tick=tick, episode=1, created_at="",
        world="Taxi-v4", family="toy_text", world_version=facts.version, origin=facts.origin, world_bytes=0,
        engine_bytes=0, agent_bytes=0, payload_bytes=0, payload_hash="", compression="none", rewinds=0,
        agent="random", reason="test",
        **fields,
    )  # fmt: skip
    return Snapshot(header, WORLD, engine_at(tick), {"mind": "made up"}, tape(tick) if shared else None)


def tape(ticks: int) -> SharedTape:
    return SharedTape(
        random_seed=1,
        agent_seed=2,
        origin={"gymnasium": "1.0"},
        settings={"command.buffer_size": 3},
        files={"start_state": b"as it began"},
        steps=[Played(1, tick, "south", -1.0, False, False, tick / 10, f"{tick:016x}") for tick in range(1, ticks + 1)],
        decisions=[Decided(0, 0, None, "random", None, 1.5, None, None, None, "success", None)],
    )


@pytest.mark.parametrize("compress", [False, True])
def test_a_snapshot_survives_being_a_file(compress: bool) -> None:
    data = pack(made(name="x", message="why", tags=("a",)), compress)
    again = unpack(data, "file")
    assert (again.world, again.engine, again.agent) == (WORLD, engine_at(7), {"mind": "made up"})
    assert (again.header.name, again.header.message, again.header.tags) == ("x", "why", ("a",))
    assert again.header.compression == ("lz4" if compress else "none")
    assert len(data) < 5000 if compress else len(data) > 22_000
    assert (again.tape, again.header.tape_bytes) == (None, 0)


@pytest.mark.parametrize("compress", [False, True])
def test_a_shared_snapshot_carries_its_tape(compress: bool) -> None:
    again = unpack(pack(made(shared=True), compress), "file")
    assert again.tape == tape(7)
    assert (again.world, again.agent) == (WORLD, {"mind": "made up"})


def test_a_tape_that_does_not_lead_to_the_snapshot_is_refused() -> None:
    other = msgspec.structs.replace(made(7), tape=tape(6))
    with pytest.raises(SnapshotError, match="file is damaged: its tape has 6 ticks of 7; get it again"):
        unpack(pack(other, True), "file")


def test_a_file_that_was_written_before_there_were_tapes_is_read() -> None:
    data = pack(made(), False)
    header, start = read_header(data, "file")
    old = msgspec.json.decode(msgspec.json.encode(header))
    del old["tape_bytes"]
    encoded = msgspec.json.encode(old)
    older = PREFIX.pack(MAGIC, len(encoded), xxh3_64_digest(encoded)) + encoded + data[start:]
    assert unpack(older, "file").world == WORLD


def test_a_snapshot_that_no_file_could_hold_is_not_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshot, "MOST_PAYLOAD", 10_000)
    with pytest.raises(SnapshotError, match="too large for a file"):
        pack(made(), True)


def resealed(header: SnapshotHeader, payload: bytes) -> bytes:
    """Return a file whose hashes are right, whatever else it claims."""
    header.payload_bytes, header.payload_hash = len(payload), xxh3_128_hexdigest(payload)
    encoded = msgspec.json.encode(header)
    return PREFIX.pack(MAGIC, len(encoded), xxh3_64_digest(encoded)) + encoded + payload


def mutations(count: int, shared: bool) -> list[bytes]:
    """Return damaged snapshot files of every kind, the same ones every time."""
    dice = random.Random(5)
    plain, packed = pack(made(shared=shared), False), pack(made(shared=shared), True)
    other = pack(made(8, name="other"), True)
    sizes = ("world_bytes", "engine_bytes", "agent_bytes", "tape_bytes")
    found: list[bytes] = []
    while len(found) < count:
        data = bytearray(dice.choice((plain, packed)))
        kind = dice.randrange(7)
        if kind == 0:
            data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
        elif kind == 1:
            del data[dice.randrange(len(data)) :]
        elif kind == 2:
            data += dice.randbytes(dice.randrange(1, 50))
        elif kind == 3:
            _, end = read_header(bytes(other), "other")
            _, start = read_header(bytes(data), "data")
            data = bytearray(other[:end] + data[start:])
        elif kind == 4:
            header, start = read_header(bytes(data), "data")
            field = dice.choice(sizes)
            setattr(header, field, getattr(header, field) + dice.choice((-(2**40), -1, 1, 5, 2**31, 2**60)))
            data = bytearray(resealed(header, bytes(data[start:])))
        elif kind == 5:
            header, start = read_header(bytes(data), "data")
            less, more = dice.sample(sizes, 2)
            moved = dice.choice((1, 3, 2**20, 2**40))
            setattr(header, less, getattr(header, less) - moved)
            setattr(header, more, getattr(header, more) + moved)
            data = bytearray(resealed(header, bytes(data[start:])))
        else:
            header, _ = read_header(bytes(data), "data")
            header.compression = "lz4"
            bomb = lz4.frame.compress(bytes(dice.choice((10**6, 30 * 10**6))))
            data = bytearray(resealed(header, bomb))
        if bytes(data) not in (plain, packed):
            found.append(bytes(data))
    return found


@pytest.mark.parametrize("shared", [False, True], ids=["of a run", "shared"])
def test_a_thousand_damaged_files_are_refused_and_none_unpacks_more_than_it_should(shared: bool) -> None:
    damaged = mutations(1000, shared)
    tracemalloc.start()
    try:
        for data in damaged:
            tracemalloc.reset_peak()
            before, _ = tracemalloc.get_traced_memory()
            with pytest.raises(SnapshotError, match="file "):
                unpack(data, "file")
            assert tracemalloc.get_traced_memory()[1] - before < 500_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("data", [b"", b"PTP", b"\x80\x04pickle", b"PTPSNAP\x09" + bytes(60), os.urandom(500)])
def test_a_file_that_is_something_else_is_refused(data: bytes) -> None:
    with pytest.raises(SnapshotError, match=r"is not a ptp snapshot|has snapshot format 9; this ptp reads 1"):
        unpack(data, "file")


def test_a_file_that_cant_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(SnapshotError, match="No such file"):
        read_file(tmp_path / "none")


def test_a_snapshot_of_another_world_version_or_cartridge_is_refused() -> None:
    taxi, lake = make_world(find_world("Taxi-v4")).facts, make_world(find_world("FrozenLake-v1")).facts
    header = made().header
    check_world(header, taxi)
    with pytest.raises(SnapshotError, match="a snapshot of 'Taxi-v4' can't be restored in 'FrozenLake-v1'"):
        check_world(header, lake)
    with pytest.raises(SnapshotError, match="of version 4"):
        check_world(header, msgspec.structs.replace(taxi, version="9"))
    grass = make_world(find_world("tallgrass")).facts
    header = msgspec.structs.replace(
        header, family="gameboy", world="renamed", world_version=grass.version, origin=grass.origin
    )
    check_world(header, grass)
    with pytest.raises(SnapshotError, match="another 'renamed': its rom_sha1 is"):
        check_world(header, msgspec.structs.replace(grass, origin={"rom_sha1": "abc"}))


# -- the store -----------------------------------------------------------------------------------------------------


@pytest.fixture
def store(tmp_path: Path) -> SnapshotStore:
    return SnapshotStore(tmp_path / "snapshots")


def test_a_snapshot_is_found_by_name_id_beginning_and_latest(store: SnapshotStore) -> None:
    first, second = store.save(made(1, name="before-gym")), store.save(made(2))
    assert store.find("before-gym") == first
    assert store.find(second.snapshot_id) == second
    assert store.find("latest") == second
    assert [header.tick for header in store.headers()] == [2, 1]
    with pytest.raises(UnknownName, match="did you mean 'before-gym'"):
        store.find("before-gim")
    with pytest.raises(UnknownName):
        store.find("01a1e142")  # two begin so


def test_an_empty_store_says_how_to_fill_it(store: SnapshotStore) -> None:
    with pytest.raises(SnapshotError, match="ptp snapshot create"):
        store.find("latest")


@pytest.mark.parametrize("name", ["../up", "a/b", "", ".hidden", "a..b", "x" * 200, "line\nbreak", "-dash"])
def test_a_name_that_could_leave_the_folder_is_refused(store: SnapshotStore, name: str) -> None:
    with pytest.raises(SnapshotError, match="can't name a snapshot"):
        store.save(made(1, name=name))
    assert store.headers() == []


def test_a_name_is_given_once(store: SnapshotStore) -> None:
    store.save(made(1, name="x"))
    with pytest.raises(SnapshotError, match="'x' is there already"):
        store.save(made(2, name="x"))


def test_a_full_disk_leaves_the_older_snapshots_as_they_are(
    store: SnapshotStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = store.save(made(1))

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(SnapshotError, match="No space left on device; older ones are intact"):
        store.save(made(2))
    assert store.headers() == [old]
    assert store.load(old).world == WORLD


def test_loaded_snapshots_are_kept_within_a_size(tmp_path: Path) -> None:
    store = SnapshotStore(tmp_path / "snapshots", cache_bytes=int(3.5 * len(WORLD)))
    headers = [store.save(made(tick)) for tick in range(5)]
    for header in headers:
        store.load(header)
    assert list(store._cache) == [header.snapshot_id for header in headers[2:]]
    assert store.load(headers[4]) is store.load(headers[4])


def test_the_oldest_unnamed_snapshots_go_when_the_folder_is_too_large(store: SnapshotStore) -> None:
    for tick in range(6):
        store.save(made(tick, name="mine" if tick == 1 else None))
    removed = store.shrink(3.5 * len(WORLD))
    assert [header.tick for header in removed] == [0, 2, 3]
    assert [header.tick for header in store.headers()] == [5, 4, 1]
    store.shrink(0)
    assert [header.tick for header in store.headers()] == [5, 1]


def test_a_damaged_file_does_not_hide_the_others(store: SnapshotStore) -> None:
    good, bad = store.save(made(1)), store.save(made(2))
    path = store.path(bad.snapshot_id)
    path.write_bytes(path.read_bytes()[:30])
    (path.parent / "empty.ptpsnap").write_bytes(b"")
    assert store.headers() == [good]
    assert len(store.readable()[1]) == 2
    with pytest.raises(SnapshotError):
        store.load(bad)


# -- the ring ------------------------------------------------------------------------------------------------------


def test_the_ring_keeps_the_newest_and_forgets_what_was_given_up() -> None:
    ring = Ring(3)
    for tick in range(5):
        ring.add(made(tick))
    assert [item.header.tick for item in ring.newest_first()] == [4, 3, 2]
    with pytest.raises(SnapshotError, match="can't go back 4 snapshots; 3 are in memory"):
        ring.back(4)
    assert ring.back(2).header.tick == 3
    assert [item.header.tick for item in ring.newest_first()] == [3, 2]
    ring.forget_after(2)
    assert len(ring) == 1
