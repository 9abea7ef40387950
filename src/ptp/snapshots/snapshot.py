"""A snapshot: world, engine and agent at one tick, and how they become a file.

A file is::

    magic            8 bytes  b"PTPSNAP" and the format's number
    header's length  4 bytes  little-endian
    header's hash    8 bytes  xxh3 of the header
    header                    JSON: run, tick, world, sizes, hash of the payload
    payload                   world bytes, engine state, agent state, and the tape if it is shared;
                              an LZ4 frame if compressed
"""

from __future__ import annotations

from itertools import accumulate
from pathlib import Path
from struct import Struct
from typing import Any

import lz4.frame
import msgspec
from xxhash import xxh3_64_digest, xxh3_128_hexdigest

from ptp._util.clock import iso
from ptp._util.ids import uuid7
from ptp.engine import Engine, EngineState
from ptp.engine.state import Count
from ptp.errors import SnapshotError
from ptp.records import WorldFacts
from ptp.snapshots.tape import SharedTape, decode_tape
from ptp.worlds.knowledge import knowledge_of

FORMAT = 1
MAGIC = b"PTPSNAP" + bytes([FORMAT])
PREFIX = Struct("<8sI8s")
PARTS = ("world_bytes", "engine_bytes", "agent_bytes", "tape_bytes")  # of a payload, in their order
MOST_HEADER = 1 << 20
MOST_PAYLOAD = 1 << 30
MOST_FILE = PREFIX.size + MOST_HEADER + MOST_PAYLOAD


class SnapshotHeader(msgspec.Struct, kw_only=True):
    """What is known of a snapshot without unpacking it."""

    snapshot_id: str
    run_id: str
    tick: Count
    episode: Count
    created_at: str
    world: str
    family: str
    world_version: str
    origin: dict[str, str]
    """The versions and the cartridge that the world's bytes belong to."""
    world_bytes: Count = 0
    engine_bytes: Count = 0
    agent_bytes: Count = 0
    payload_bytes: Count = 0
    payload_hash: str = ""
    compression: str = "none"
    rewinds: Count
    """How often the run had gone back when it was taken: a later rewind may have given it up."""
    agent: str
    reason: str
    """What it was taken for: interval, an event, the end of the run, or a person's wish."""
    name: str | None = None
    message: str | None = None
    tags: tuple[str, ...] = ()
    location: str = ""
    """The kind of situation, in the world's words."""
    progress: dict[str, bool | float | None] = {}
    save_ms: float = 0.0
    seal: str = ""
    """The head of the run's seal when the ticks that led to it were recorded."""
    tape_bytes: Count = 0
    """The tape that a shared snapshot carries; in a run directory the database has it."""

    def answers_to(self, wanted: str) -> bool:
        """Whether *wanted* is its id or name; one of an event may be called without its tick: `catch-NIBBIN`."""
        is_of_event = "event" in self.tags and self.name == f"{wanted}-{self.tick}"
        return is_of_event or wanted in (self.snapshot_id, self.name)


class Snapshot(msgspec.Struct):
    """A snapshot in memory."""

    header: SnapshotHeader
    world: bytes
    engine: EngineState
    agent: dict[str, Any]
    tape: SharedTape | None = None
    """What led to it, in a snapshot that is shared."""


def take(engine: Engine, run_id: str, agent_name: str, reason: str, rewinds: int, **details: Any) -> Snapshot:
    """Return everything needed to resume from here."""
    began = engine.clock.monotonic()
    facts, progress = engine.world.facts, engine.progress
    header = SnapshotHeader(
        snapshot_id=uuid7(engine.clock.time()),
        run_id=run_id,
        tick=progress.ticks,
        episode=engine.play.episode,
        created_at=iso(engine.clock.time()),
        world=facts.name,
        family=facts.family,
        world_version=facts.version,
        origin=facts.origin,
        rewinds=rewinds,
        agent=agent_name,
        reason=reason,
        location=engine.world.context(),
        progress={"reward": progress.reward, "engaged": progress.signals.engaged, **progress.signals.values},
        **details,
    )
    world = engine.world.save() if facts.snapshot == "state" else b""
    snapshot = Snapshot(header, world, engine.save(), engine.agent.save())
    header.save_ms = round((engine.clock.monotonic() - began) * 1000, 3)
    return snapshot


def check_world(header: SnapshotHeader, facts: WorldFacts) -> None:
    """Refuse a snapshot of another world."""
    identity = knowledge_of(facts.family).identity
    if header.family != facts.family or (identity is None and header.world != facts.name):
        raise SnapshotError(
            f"a snapshot of {header.world!r} can't be restored in {facts.name!r}; it needs its own world"
        )
    then, now = header.origin.get(identity or ""), facts.origin.get(identity or "")
    if then != now:
        raise SnapshotError(f"the snapshot is of another {header.world!r}: its {identity} is {then}, and here {now}")
    if header.world_version != facts.version:
        raise SnapshotError(
            f"the snapshot is of version {header.world_version} of {header.world!r}, and this is {facts.version}"
        )


def pack(snapshot: Snapshot, compress: bool) -> bytes:
    """Return a snapshot as the bytes of a file."""
    encode = msgspec.json.encode
    tape = b"" if snapshot.tape is None else msgspec.msgpack.encode(snapshot.tape)
    parts = (snapshot.world, encode(snapshot.engine), encode(snapshot.agent), tape)
    payload = b"".join(parts)
    if len(payload) > MOST_PAYLOAD:
        raise SnapshotError(f"the snapshot is too large for a file: {len(payload):,} of {MOST_PAYLOAD:,} bytes")
    if compress:
        payload = lz4.frame.compress(payload, store_size=True)
    header = msgspec.structs.replace(
        snapshot.header,
        **dict(zip(PARTS, map(len, parts), strict=True)),
        payload_bytes=len(payload),
        payload_hash=xxh3_128_hexdigest(payload),
        compression="lz4" if compress else "none",
    )
    encoded = encode(header)
    return PREFIX.pack(MAGIC, len(encoded), xxh3_64_digest(encoded)) + encoded + payload


def read_header(data: bytes, name: str) -> tuple[SnapshotHeader, int]:
    """Return the header at the beginning of a file, and where it ends."""
    if len(data) < PREFIX.size or data[:7] != MAGIC[:7]:
        raise SnapshotError(f"{name} is not a ptp snapshot; make one with `ptp snapshot create`")
    magic, length, digest = PREFIX.unpack_from(data)
    if magic != MAGIC:
        raise SnapshotError(f"{name} has snapshot format {magic[7]}; this ptp reads {FORMAT}")
    end = PREFIX.size + length
    if length > MOST_HEADER or end > len(data):
        raise damaged(name, "its header is cut off")
    encoded = data[PREFIX.size : end]
    if xxh3_64_digest(encoded) != digest:
        raise damaged(name, "its header does not match its hash")
    try:
        return msgspec.json.decode(encoded, type=SnapshotHeader), end
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as problem:
        raise damaged(name, problem) from None


def damaged(name: str, why: object) -> SnapshotError:
    """Return the error of a snapshot that is not what was saved."""
    return SnapshotError(f"{name} is damaged: {why}; use an older snapshot")


def read_file(path: Path) -> Snapshot:
    """Return the snapshot in a file."""
    try:
        with open(path, "rb") as file:
            data = file.read(MOST_FILE + 1)
    except OSError as problem:
        raise SnapshotError(f"{path} can't be read: {problem.strerror}; name a file that can") from None
    return unpack(data, str(path))


def unpack(data: bytes, name: str) -> Snapshot:
    """Return the snapshot in a file's bytes; anything but a whole one is refused."""
    header, start = read_header(data, name)
    payload = memoryview(data)[start:]
    if len(payload) != header.payload_bytes or xxh3_128_hexdigest(payload) != header.payload_hash:
        raise damaged(name, "its payload does not match its hash")
    sizes: list[int] = [getattr(header, part) for part in PARTS]
    whole = memoryview(_expand(payload, sum(sizes), header.compression, name))
    world, engine, agent, tape = (whole[end - size : end] for size, end in zip(sizes, accumulate(sizes), strict=True))
    try:
        return Snapshot(
            header,
            bytes(world),
            msgspec.json.decode(engine, type=EngineState),
            msgspec.json.decode(agent, type=dict[str, Any]),
            decode_tape(tape, header.tick, name),
        )
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as problem:
        raise damaged(name, problem) from None


def _expand(payload: memoryview, size: int, compression: str, name: str) -> bytes | memoryview:
    """Return the payload unpacked; never more than the header says."""
    if size > MOST_PAYLOAD:
        raise damaged(name, f"it says it holds {size} bytes")
    if compression == "none":
        whole: bytes | memoryview = payload
    elif compression == "lz4":
        try:
            whole = lz4.frame.LZ4FrameDecompressor().decompress(payload, max_length=size + 1)
        except (RuntimeError, EOFError) as problem:
            raise damaged(name, problem) from None
    else:
        raise SnapshotError(f"{name} is compressed by {compression!r}; this ptp knows lz4 and none")
    if len(whole) != size:
        raise damaged(name, f"it says it holds {size} bytes, and does not")
    return whole
