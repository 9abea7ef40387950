"""Reading from the emulator: only what is needed, and all of it."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ptp.worlds.gameboy.memory import MemoryReader
from ptp.worlds.gameboy.reader import read_state
from ptp.worlds.gameboy.tiles import NEEDED, observe
from tests.worlds.gameboy.images import RED, fight, member, put, show, started, state


class View:
    """Memory as PyBoy shows it: a byte, or a list of bytes; it counts what is asked for."""

    def __init__(self, image: bytearray) -> None:
        self.image = image
        self.bytes_read = 0

    def __getitem__(self, address: int | slice) -> int | list[int]:
        if isinstance(address, int):
            self.bytes_read += 1
            return self.image[address]
        values = list(self.image[address])
        self.bytes_read += len(values)
        return values


def reader(image: bytearray) -> MemoryReader:
    return MemoryReader(View(image), RED.event_bytes)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32))
def test_the_bytes_read_are_all_that_a_state_needs(seed: int) -> None:
    random = Random(seed)
    image = bytearray(random.randbytes(0x10000))
    put(image, 0xD163, random.randrange(8))
    put(image, 0xD31D, random.randrange(24))
    put(image, 0xD3AE, random.randrange(36))
    put(image, 0xD057, random.choice((0, 0, 1, 2, 0xFF)))
    memory = reader(image)
    memory.read()
    assert read_state(memory.image, RED) == state(image)


def test_what_was_read_before_does_not_show_through() -> None:
    image = started()
    member(image, 0)
    member(image, 1)
    fight(image)
    show(image, 1, 1, "BATTLE")
    memory = reader(image)
    memory.read()
    put(image, 0xD057, 0)
    put(image, 0xCFC4, 0)
    put(image, 0xD163, 1)
    memory.read()
    assert read_state(memory.image, RED) == state(image)


def test_the_clock_is_read_and_is_no_change() -> None:
    image = started()
    memory = reader(image)
    before = memory.read()
    put(image, 0xDA41, 1, 0, 2, 3, 4)
    assert memory.read() == before
    time = read_state(memory.image, RED).play_time
    assert time is not None
    assert (time.hours, time.minutes, time.seconds) == (1, 2, 3)


@pytest.mark.parametrize("address", [0xD361, 0xD356, 0xD347, 0xD2F7, 0xD31D, 0xC109, 0xD057, 0xD747, 0xD886])
def test_every_other_byte_of_the_state_is_a_change(address: int) -> None:
    image = started()
    memory = reader(image)
    before = memory.read()
    image[address] ^= 1
    assert memory.read() != before


def test_a_quiet_tick_reads_few_bytes() -> None:
    image = started()
    view = View(image)
    memory = MemoryReader(view, event_bytes=2)
    memory.read()
    assert view.bytes_read < 150


def test_an_observer_gets_the_further_ranges_it_asks_for() -> None:
    image = started()
    put(image, 0xC3A0, 5)
    put(image, 0xC110, 1)
    put(image, 0xD530, 0x00, 0x10)
    memory = reader(image)
    memory.read()
    rom = bytes(0x1000) + b"\x05\xff" + bytes(0x6FFE)
    assert observe(memory.read_more(*NEEDED), rom) == observe(image, rom)
