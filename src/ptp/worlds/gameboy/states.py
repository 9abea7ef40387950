"""An emulator's frames and states: by the compiled part where it is built and proves right, else as PyBoy does it.

PyBoy makes a Python call for every byte of a state, and takes Python's lock at every frame. `ptp._native` (see
`native/`) gives the same bytes many times as fast, and plays the frames of a tick while other threads do their work.
It is bound to the PyBoy that it was built for.
"""

from __future__ import annotations

import io
import os
import sys
from hashlib import sha256
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

from ptp.errors import WorldError

NATIVE = "ptp._native"
DIGEST = 32  # bytes at the end of the file, of all that comes before
FEW = 4  # frames that both ways play, to be compared
_problem: str | None = None  # why the compiled part stood back in this process


class Memory(Protocol):
    """What copies RAM into an image of the address space, and picks bytes from it."""

    def copy(self) -> None:
        """Bring RAM and the registers of the screen up to date in the image."""

    def pick(self, spans: Any) -> bytes:
        """Return the bytes from each start to its stop, in an array of both by turns."""


class States(Protocol):
    """What plays, saves and loads an emulator."""

    def tick(self, frames: int, render: bool) -> bool:
        """Let frames pass without sound; only the last is drawn, if any."""

    def save(self) -> bytes:
        """Return the whole state."""

    def load(self, data: bytes) -> int:
        """Return to a state; return how many bytes were left over."""

    def open_memory(self, image: bytearray, ram: Any) -> Memory | None:
        """Return what reads memory; None where the public interface has to."""


class StockStates:
    """PyBoy's own way."""

    def __init__(self, pyboy: Any) -> None:
        self._pyboy = pyboy

    def tick(self, frames: int, render: bool) -> bool:
        """Let frames pass without sound; only the last is drawn, if any."""
        return bool(self._pyboy.tick(frames, render, False))

    def save(self) -> bytes:
        """Return the whole state."""
        file = io.BytesIO()
        self._pyboy.save_state(file)
        return file.getvalue()

    def load(self, data: bytes) -> int:
        """Return to a state; return how many bytes were left over."""
        file = io.BytesIO(data)
        self._pyboy.load_state(file)
        return len(data) - file.tell()

    def open_memory(self, image: bytearray, ram: Any) -> Memory | None:
        """Return None: memory is read through the public interface."""


def open_states(pyboy: Any) -> States:
    """Return the fastest way to play, save and load an emulator that gives PyBoy's own bytes."""
    global _problem
    stock = StockStates(pyboy)
    if _problem is not None:
        return stock
    try:
        fast = _native(pyboy)
        _compare(fast, stock)
    except Exception as problem:  # noqa: BLE001 - whatever a foreign build does, PyBoy's own way is there
        _problem = str(problem)
        return stock
    return fast


def _compare(fast: States, stock: States) -> None:
    start = stock.save()
    if fast.save() != start:
        raise WorldError("it saves other bytes than PyBoy")
    stock.tick(FEW, True)
    played = fast.save()
    fast.load(start)
    fast.tick(FEW, True)
    if fast.save() != played:
        raise WorldError("it plays other frames than PyBoy")
    fast.load(start)


def _native(pyboy: Any) -> States:
    if os.environ.get("PTP_NATIVE") == "0":
        raise WorldError("PTP_NATIVE is 0")
    if NATIVE not in sys.modules:
        _check_whole(find_spec(NATIVE))
    native = import_module(NATIVE)
    if version("pyboy") != native.BUILT_FOR:
        raise WorldError(f"it is built for PyBoy {native.BUILT_FOR}, and this is {version('pyboy')}; run `make setup`")
    states: States = native.States(pyboy)
    return states


def _check_whole(spec: ModuleSpec | None) -> None:
    """Refuse a file that was cut off or is not what was built: loading it could end the process."""
    if spec is None or spec.origin is None:
        raise WorldError("it is not built; `make setup` builds it where there is a C compiler")
    data = Path(spec.origin).read_bytes()
    if sha256(data[:-DIGEST]).digest() != data[-DIGEST:]:
        raise WorldError(f"{Path(spec.origin).name} is not whole, or not what was built; run `make setup`")


def native_problem() -> str | None:
    """Return why the compiled part is not used, once a cartridge was switched on; None when it is."""
    return _problem
