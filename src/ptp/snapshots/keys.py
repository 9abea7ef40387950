"""Key states: world, engine and agent every few ticks, so that any tick is near one of them.

They are not snapshots that anybody lists or counts. The newest are held in memory, within a budget. Some of them go to
one file on disk, which only ever grows at its end, is cut off when the run goes back, and is thinned out when it
becomes too large. A record of the file is::

    magic   4 bytes   b"KEY" and the format's number
    head    24 bytes  little-endian: tick, episode, rewinds, sizes of the world's, the engine's and the packed bytes
    hash    8 bytes   xxh3 of the head and the packed bytes
    packed            an LZ4 block of world bytes, engine state and agent state
"""

from __future__ import annotations

import os
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path
from struct import Struct, error
from typing import Any, BinaryIO, NamedTuple

import lz4.block
import msgspec
from xxhash import xxh3_64_digest

from ptp._util.files import check_regular
from ptp.engine import EngineState
from ptp.errors import SnapshotError

KEYS = "keys.bin"
"""The name of the file, beside the snapshots of a run."""
MAGIC = b"KEY\x01"
HEAD = Struct("<QIIIII")
PREFIX = len(MAGIC) + HEAD.size + 8
MOST = 1 << 28  # bytes of one state
_json = msgspec.json.encode


class KeyState(msgspec.Struct):
    """World, engine and agent at one tick."""

    tick: int
    episode: int
    rewinds: int
    """How often the run had gone back when it was taken."""
    world: bytes
    engine: EngineState
    agent: dict[str, Any]


class Head(NamedTuple):
    """What is known of a key state without unpacking it."""

    tick: int
    episode: int
    rewinds: int
    world_bytes: int
    engine_bytes: int
    packed_bytes: int


class Packed(NamedTuple):
    """A key state as it is held."""

    head: Head
    data: bytes

    def unpack(self) -> KeyState:
        """Return the key state; one that can't be read is refused."""
        head = self.head
        if int.from_bytes(self.data[:4], "little") > MOST:
            raise SnapshotError(
                f"the key state of tick {head.tick} is damaged: it says it holds more than {MOST:,} bytes"
            )
        try:
            parts = lz4.block.decompress(self.data)
            world, rest = parts[: head.world_bytes], parts[head.world_bytes :]
            engine = msgspec.json.decode(rest[: head.engine_bytes], type=EngineState)
            agent = msgspec.json.decode(rest[head.engine_bytes :], type=dict[str, Any])
        except (lz4.block.LZ4BlockError, msgspec.DecodeError, RecursionError, MemoryError) as problem:
            raise SnapshotError(f"the key state of tick {head.tick} is damaged: {problem}") from None
        return KeyState(head.tick, head.episode, head.rewinds, world, engine, agent)


class Joined(NamedTuple):
    """A key state as one stretch of bytes, which nothing changes any more."""

    head: Head
    data: bytes

    def pack(self) -> Packed:
        """Return it as it is held."""
        data = lz4.block.compress(self.data)
        return Packed(self.head._replace(packed_bytes=len(data)), data)


def join(key: KeyState) -> Joined:
    """Return a key state as one stretch of bytes."""
    engine, agent = _json(key.engine), _json(key.agent)
    head = Head(key.tick, key.episode, key.rewinds, len(key.world), len(engine), 0)
    return Joined(head, b"".join((key.world, engine, agent)))


class KeyMemory:
    """The newest key states, within a budget of bytes."""

    def __init__(self, budget: int) -> None:
        self._budget = budget
        self._held: OrderedDict[int, Packed] = OrderedDict()
        self._bytes = 0

    def add(self, packed: Packed) -> None:
        """Hold a key state; the oldest make room for it."""
        self._held[packed.head.tick] = packed
        self._bytes += len(packed.data)
        while self._bytes > self._budget:
            _, oldest = self._held.popitem(last=False)
            self._bytes -= len(oldest.data)

    def newest(self, tick: int) -> Packed | None:
        """Return the newest key state at or before a tick."""
        for known in reversed(self._held):
            if known <= tick:
                return self._held[known]
        return None

    def forget_after(self, tick: int) -> None:
        """Forget the key states of a future that was discarded."""
        while self._held and next(reversed(self._held)) > tick:
            self._bytes -= len(self._held.popitem()[1].data)

    def ticks(self) -> list[int]:
        """Return the ticks that have a key state."""
        return list(self._held)


class KeyFile:
    """The key states on disk; one process writes, any may read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._index: list[tuple[Head, int]] = []
        self._end = 0

    def heads(self) -> list[Head]:
        """Return what is there, oldest first; what was cut off or is damaged ends the list."""
        self._look()
        return [head for head, _ in self._index]

    def newest(self, tick: int) -> Packed | None:
        """Return the newest key state at or before a tick that can be read."""
        self._look()
        for head, place in reversed(self._index[: bisect_right([head.tick for head, _ in self._index], tick)]):
            packed = self._read(head, place)
            if packed is not None:
                return packed
        return None

    def add(self, packed: Packed) -> None:
        """Write a key state at the end."""
        try:
            self.path.parent.mkdir(exist_ok=True)
            with open(self.path, "ab") as file:
                file.write(_record(packed))
        except OSError as problem:
            raise SnapshotError(f"{self.path.name} can't be written: {problem.strerror}") from None

    def forget_after(self, tick: int) -> None:
        """Cut off the key states of a future that was discarded."""
        self._look()
        kept = [(head, place) for head, place in self._index if head.tick <= tick]
        if len(kept) < len(self._index):
            os.truncate(self.path, kept[-1][1] + PREFIX + kept[-1][0].packed_bytes if kept else 0)
            self._index, self._end = [], 0

    def thin_out(self) -> None:
        """Leave out every other key state."""
        self._look()
        kept = [packed for head, place in self._index[::2] if (packed := self._read(head, place)) is not None]
        temporary = self.path.with_suffix(".tmp")
        temporary.write_bytes(b"".join(map(_record, kept)))
        os.replace(temporary, self.path)
        self._index, self._end = [], 0

    @property
    def size(self) -> int:
        """How many bytes the file takes; what is no file of the run's own is not there."""
        try:
            check_regular(self.path)
        except OSError:
            return 0
        return self.path.stat().st_size

    def _look(self) -> None:
        """Read the heads that came since the last look; a file that became shorter is read anew."""
        size = self.size
        if size < self._end:
            self._index, self._end = [], 0
        if size > self._end:
            with open(self.path, "rb") as file:
                for head in _heads(file, self._end, size):
                    self._index.append((head, self._end))
                    self._end += PREFIX + head.packed_bytes

    def _read(self, head: Head, place: int) -> Packed | None:
        try:
            with open(self.path, "rb") as file:
                file.seek(place)
                record = file.read(PREFIX + head.packed_bytes)
        except OSError:
            return None
        packed = Packed(head, record[PREFIX:])
        return packed if record == _record(packed) else None


def _record(packed: Packed) -> bytes:
    head = HEAD.pack(*packed.head)
    return MAGIC + head + xxh3_64_digest(head + packed.data) + packed.data


def _heads(file: BinaryIO, place: int, size: int) -> Iterator[Head]:
    last = -1
    while place + PREFIX <= size:
        file.seek(place)
        start = file.read(PREFIX)
        try:
            head = Head(*HEAD.unpack_from(start, len(MAGIC)))
        except error:
            return
        place += PREFIX + head.packed_bytes
        if start[: len(MAGIC)] != MAGIC or place > size or head.tick <= last or head.packed_bytes > MOST:
            return
        last = head.tick
        yield head
