"""Key states: held within a budget, cut off when the run goes back, and never trusted when damaged."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ptp.engine import EngineState
from ptp.engine.state import BudgetState, BufferState
from ptp.errors import SnapshotError
from ptp.snapshots.keys import KeyFile, KeyMemory, KeyState, Packed, join


def key(tick: int, world: bytes = b"world") -> KeyState:
    engine = EngineState(
        ticks=tick, episodes=0, step=tick, reward=0.5, last_reward=None, episode_reward=0.5, cost=0.0, elapsed=1.5,
        decisions=3, idle=0.0, last_hash="x", budget=BudgetState(0, 0.0), buffer=BufferState([], [], []),
    )  # fmt: skip
    return KeyState(tick, 1, 0, world, engine, {"mood": tick})


def packed_key(tick: int, world: bytes = b"world") -> Packed:
    return join(key(tick, world)).pack()


def test_a_key_state_comes_back_as_it_was() -> None:
    there = packed_key(7, os.urandom(5000))
    assert join(there.unpack()).pack() == there
    assert there.unpack().engine.ticks == 7


def test_memory_holds_the_newest_within_its_budget() -> None:
    packed = [packed_key(tick, os.urandom(1000)) for tick in range(0, 100, 10)]
    memory = KeyMemory(sum(len(each.data) for each in packed[-3:]))
    for each in packed:
        memory.add(each)
    assert memory.ticks() == [70, 80, 90]
    assert memory.newest(85) == packed[8]
    assert memory.newest(69) is None
    memory.forget_after(80)
    assert memory.ticks() == [70, 80]


def test_a_budget_smaller_than_one_state_holds_none() -> None:
    memory = KeyMemory(10)
    memory.add(packed_key(1, os.urandom(100)))
    assert memory.ticks() == []


@pytest.fixture
def file(tmp_path: Path) -> KeyFile:
    file = KeyFile(tmp_path / "keys.bin")
    for tick in range(0, 100, 10):
        file.add(packed_key(tick, os.urandom(300)))
    return file


def ticks(file: KeyFile) -> list[int]:
    return [head.tick for head in file.heads()]


def found(packed: Packed | None) -> int | None:
    return None if packed is None else packed.unpack().tick


def test_a_file_gives_the_newest_before_a_tick_to_any_reader(file: KeyFile) -> None:
    reader = KeyFile(file.path)
    assert found(reader.newest(55)) == 50
    file.add(packed_key(100))
    assert found(reader.newest(1000)) == 100
    file.forget_after(25)
    assert found(reader.newest(1000)) == 20
    assert ticks(file) == [0, 10, 20]


def test_a_file_is_thinned_out_by_half(file: KeyFile) -> None:
    before = file.size
    file.thin_out()
    assert ticks(file) == [0, 20, 40, 60, 80]
    assert file.size < before * 0.6


def test_a_record_that_was_cut_off_ends_the_file(file: KeyFile) -> None:
    os.truncate(file.path, file.size - 3)
    assert found(KeyFile(file.path).newest(1000)) == 80


def test_a_damaged_record_is_passed_over(file: KeyFile) -> None:
    data = bytearray(file.path.read_bytes())
    data[-5] ^= 1
    file.path.write_bytes(data)
    assert found(KeyFile(file.path).newest(1000)) == 80


def test_nonsense_is_no_key_state(tmp_path: Path) -> None:
    (tmp_path / "keys.bin").write_bytes(os.urandom(10_000))
    assert KeyFile(tmp_path / "keys.bin").newest(5) is None
    with pytest.raises(SnapshotError, match="damaged"):
        Packed(packed_key(1).head, b"nonsense").unpack()


def test_a_missing_file_has_none(tmp_path: Path) -> None:
    assert KeyFile(tmp_path / "keys.bin").heads() == []
