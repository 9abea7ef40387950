"""The console's RAM as a buffer.

PyBoy's public interface copies memory byte by byte, 27 ns each, and that would be the largest cost of a tick beside
emulation. The RAM itself is one `array`; here it is caught while the emulator is built, so that all 8 KiB are copied
in 0.3 microseconds. Nothing depends on it: where it is not found, or does not prove to be the RAM, `memory.py` reads
through the public interface, and a test holds both to the same bytes.
"""

from __future__ import annotations

import threading
from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ptp.worlds.gameboy.addresses import RAM, RAM_END

_one_at_a_time = threading.Lock()


@contextmanager
def catch_arrays() -> Iterator[list[Any]]:
    """Collect the arrays that PyBoy's RAM module makes inside this block."""
    import pyboy.core.ram as module

    caught: list[Any] = []

    def make(*arguments: Any) -> Any:
        caught.append(array(*arguments))
        return caught[-1]

    with _one_at_a_time:
        original = getattr(module, "array", None)
        if original is None:
            yield caught
            return
        module.array = make
        try:
            yield caught
        finally:
            module.array = original


def find_ram(arrays: list[Any], memory: Any) -> memoryview | None:
    """Return the RAM among some arrays; it must show what is written through the public interface."""
    for candidate in arrays:
        if len(candidate) == RAM_END - RAM and _is_ram(candidate, memory):
            return memoryview(candidate)
    return None


def _is_ram(candidate: Any, memory: Any) -> bool:
    for address in (RAM, RAM_END - 1):
        before = memory[address]
        for value in (0xA5, 0x5A, before):
            memory[address] = value
            if candidate[address - RAM] != value:
                memory[address] = before
                return False
    return True
