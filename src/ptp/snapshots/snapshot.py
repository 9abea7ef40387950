"""A snapshot: world, engine and agent at one tick, and how they become a file.

A file is::

    magic            8 bytes  b"PTPSNAP" and the format's number
    header's length  4 bytes  little-endian
    header's hash    8 bytes  xxh3 of the header
    header                    JSON: run, tick, world, sizes, hash of the payload
    payload                   world bytes, engine state, agent state, and the tape if it is shared;
                              compressed by the method that the header names
"""

from __future__ import annotations

from itertools import accumulate
from pathlib import Path
from struct import Struct
from typing import Any

import msgspec
from xxhash import xxh3_64_digest, xxh3_128_hexdigest

from ptp._util.clock import Clock, iso
from ptp._util.ids import uuid7
from ptp.engine import Engine, EngineState
from ptp.engine.state import BudgetState, BufferState, Count
from ptp.errors import SnapshotError
from ptp.records import WorldFacts, WorldSpec
from ptp.snapshots.compression import Level, choose, compress, expand
from ptp.snapshots.tape import SharedTape, decode_tape
from ptp.worlds import World
from ptp.worlds.knowledge import knowledge_of

FORMAT = 1
MAGIC = b"PTPSNAP" + bytes([FORMAT])
PREFIX = Struct("<8sI8s")
PARTS = ("world_bytes", "engine_bytes", "agent_bytes", "tape_bytes")  # of a payload, in their order
MOST_HEADER = 1 << 20
MOST_PAYLOAD = 1 << 30
MOST_FILE = PREFIX.size + MOST_HEADER + MOST_PAYLOAD
EVENT, KEEP = "event", "keep"  # tags: it was taken by a trigger, and nothing but a person may remove it


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
    level: str = ""
    """The compression level that was chosen; older files leave it out."""
    spec: WorldSpec | None = None
    """How to make the world again, in a checkpoint that was saved from a world."""
    facts: WorldFacts | None = None

    @property
    def checkpoint_id(self) -> str:
        """Its id, as checkpoints call it."""
        return self.snapshot_id

    @property
    def is_kept(self) -> bool:
        """Whether a person named it, or tagged it `keep`: it is not removed to make room."""
        return KEEP in self.tags or (self.name is not None and EVENT not in self.tags)

    def answers_to(self, wanted: str) -> bool:
        """Whether *wanted* is its id or name; one of an event may be called without its tick: `catch-NIBBIN`."""
        is_of_event = EVENT in self.tags and self.name == f"{wanted}-{self.tick}"
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


def of_world(world: World, **details: Any) -> Snapshot:
    """Return a snapshot of a world that no run plays."""
    clock = Clock()
    began, signals = clock.monotonic(), world.signals()
    if world.facts.snapshot != "state":
        raise SnapshotError(
            f"world {world.facts.name!r} can't save its state; save a snapshot of a run of it, "
            "which `ptp snapshot export` writes with its tape"
        )
    header = SnapshotHeader(
        snapshot_id=uuid7(clock.time()),
        run_id="",
        tick=0,
        episode=0,
        created_at=iso(clock.time()),
        world=world.facts.name,
        family=world.facts.family,
        world_version=world.facts.version,
        origin=world.facts.origin,
        rewinds=0,
        agent="",
        reason="requested",
        location=world.context(),
        progress={"engaged": signals.engaged, **signals.values},
        spec=world.spec,
        facts=world.facts,
        **details,
    )
    snapshot = Snapshot(header, world.save(), NOT_BEGUN, {})
    header.save_ms = round((clock.monotonic() - began) * 1000, 3)
    return snapshot


NOT_BEGUN = EngineState(
    ticks=0, episodes=0, step=0, reward=0.0, last_reward=None, episode_reward=0.0, cost=0.0, elapsed=0.0,
    decisions=0, idle=0.0, last_hash="", budget=BudgetState(0, 0.0), buffer=BufferState([], [], []),
)  # fmt: skip


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


def pack(snapshot: Snapshot, level: bool | Level) -> bytes:
    """Return a snapshot as the bytes of a file; True stands for `fast`."""
    encode = msgspec.json.encode
    tape = b"" if snapshot.tape is None else msgspec.msgpack.encode(snapshot.tape)
    parts = (snapshot.world, encode(snapshot.engine), encode(snapshot.agent), tape)
    whole = b"".join(parts)
    if len(whole) > MOST_PAYLOAD:
        raise SnapshotError(f"the snapshot is too large for a file: {len(whole):,} of {MOST_PAYLOAD:,} bytes")
    chosen = choose(level, len(whole)) if isinstance(level, str) else "fast" if level else "none"
    payload, method = compress(whole, chosen)
    header = msgspec.structs.replace(
        snapshot.header,
        **dict(zip(PARTS, map(len, parts), strict=True)),
        payload_bytes=len(payload),
        payload_hash=xxh3_128_hexdigest(payload),
        compression=method,
        level=chosen,
    )
    return with_header(header, payload)


def with_header(header: SnapshotHeader, payload: bytes | memoryview) -> bytes:
    """Return the bytes of a file with that header."""
    encoded = msgspec.json.encode(header)
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
    try:
        whole = expand(payload, size, compression)
    except SnapshotError as problem:
        raise SnapshotError(f"{name} can't be read: {problem}") from None
    except ValueError as problem:
        raise damaged(name, problem) from None
    if len(whole) != size:
        raise damaged(name, f"it says it holds {size} bytes, and does not")
    return whole
