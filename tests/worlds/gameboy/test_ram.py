"""The RAM as a buffer: the same bytes as through the emulator's public interface, or not used at all."""

from __future__ import annotations

from array import array
from pathlib import Path
from typing import Any

import pytest

from ptp.records import WorldSpec
from ptp.worlds import make_world
from ptp.worlds.gameboy import env as env_module
from ptp.worlds.gameboy.cartridge import read_cartridge
from ptp.worlds.gameboy.env import GameBoyEnv
from ptp.worlds.gameboy.ram import catch_arrays, find_ram
from ptp.worlds.gameboy.world import GameBoyWorld
from tests.worlds.gameboy.roms import write_rom

PLAY = [0, 0, 0, 0, 0, 3, 1, 1, 1, 1, 1, 1, 5, 6, 7, 8, 1, 3, 0, 2] * 4


def played() -> tuple[bool, list[tuple[str, Any]]]:
    """Play Tallgrass a little; return whether the buffer was used, and all that was told."""
    world = make_world(WorldSpec("tallgrass", "ptp.worlds.gameboy.world:GameBoyWorld", {"rom": "tallgrass"}))
    assert isinstance(world, GameBoyWorld)
    world.reset(0)
    told: list[tuple[str, Any]] = []
    for command in PLAY:
        world.step(command)
        told.append((world.state_hash(None, 0.0, False, False), world.state(None)))
        told.append(("around", world.surroundings()))
    world.close()
    return world.env.ram is not None, told


def test_both_ways_of_reading_tell_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    has_buffer, told = played()
    assert has_buffer
    monkeypatch.setattr(env_module, "find_ram", lambda arrays, memory: None)
    has_buffer, told_without = played()
    assert not has_buffer
    assert told_without == told


def test_the_buffer_is_the_ram_of_its_own_emulator(tmp_path: Path) -> None:
    cartridge = read_cartridge(write_rom(tmp_path))
    one, other = GameBoyEnv(cartridge), GameBoyEnv(cartridge)
    one.pyboy.memory[0xD123] = 7
    assert one.ram is not None
    assert other.ram is not None
    assert (one.ram[0x1123], other.ram[0x1123]) == (7, 0)
    one.close()
    other.close()


def test_finding_the_ram_leaves_it_as_it_was(tmp_path: Path) -> None:
    env = GameBoyEnv(read_cartridge(write_rom(tmp_path)))
    assert env.ram is not None
    assert bytes(env.ram) == bytes(0x2000)
    env.close()


def test_an_array_that_is_not_the_ram_is_not_used() -> None:
    memory = {0xC000: 0, 0xDFFF: 0}
    assert find_ram([], memory) is None
    assert find_ram([array("B", bytes(96)), array("B", bytes(0x2000))], memory) is None
    assert memory == {0xC000: 0, 0xDFFF: 0}


def test_the_emulator_gets_its_own_array_back_even_when_it_can_not_be_made() -> None:
    import pyboy.core.ram as module

    def fail() -> None:
        with catch_arrays():
            assert module.array is not original
            raise ZeroDivisionError

    original = module.array
    with pytest.raises(ZeroDivisionError):
        fail()
    assert module.array is original


def test_another_emulator_without_arrays_is_read_the_other_way(monkeypatch: pytest.MonkeyPatch) -> None:
    import pyboy.core.ram as module

    monkeypatch.delattr(module, "array")
    with catch_arrays() as caught:
        pass
    assert caught == []
