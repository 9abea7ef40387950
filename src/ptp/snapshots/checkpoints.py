"""Checkpoints: states of games in a folder of their own, found by tag, place, game and time, and loaded fast."""

from __future__ import annotations

import builtins
import time
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from statistics import median, quantiles
from typing import Any
from uuid import UUID

import msgspec

from ptp._util.clock import iso
from ptp._util.ids import uuid7
from ptp.errors import SnapshotError
from ptp.snapshots.compression import Level, check_level
from ptp.snapshots.snapshot import KEEP, Snapshot, SnapshotHeader, check_world, of_world, read_file
from ptp.snapshots.store import CACHE_BYTES, SnapshotStore, check_tags
from ptp.snapshots.tape import play_there
from ptp.worlds import World

LAST = 1000  # measurements that figures are made of


class Timing(msgspec.Struct, frozen=True):
    """How long something took, over the last thousand times; None where it was never done."""

    count: int
    median_ms: float | None
    p95_ms: float | None


class CheckpointStats(msgspec.Struct, frozen=True):
    """What a store holds, and how fast it was."""

    checkpoints: int
    bytes: int
    """What their files take."""
    cached_bytes: int
    hits: int
    misses: int
    hit_rate: float | None
    """The share of loads that were answered from memory; None before the first."""
    save: Timing
    load: Timing
    """Loads from disk."""
    validate: Timing


class CheckpointManager:
    """Checkpoints in a folder; threads and processes may share it.

    *compression* is fast, balanced, small, none, or auto, which takes the smallest result that is had in 10 ms;
    with *validate* each file is read back after it was written.
    """

    def __init__(
        self,
        folder: str | Path,
        *,
        compression: Level = "auto",
        cache_bytes: int = CACHE_BYTES,
        validate: bool = False,
    ) -> None:
        self.folder = Path(folder)
        self.compression = check_level(compression)
        self._validate = validate
        self._store = SnapshotStore(self.folder.resolve(), cache_bytes)
        self._times: dict[str, deque[float]] = {name: deque(maxlen=LAST) for name in ("save", "load", "validate")}
        self._counts = dict.fromkeys(self._times, 0)
        self._hits = self._misses = 0

    def save(
        self,
        state: World | Snapshot | str | Path,
        name: str | None = None,
        *,
        tags: Sequence[str] = (),
        description: str | None = None,
        compression: Level | None = None,
    ) -> str:
        """Keep a world as it is now, a snapshot, or the file of one, and return its `checkpoint_id`."""
        try:
            self.folder.parent.mkdir(parents=True, exist_ok=True)
        except OSError as problem:
            raise SnapshotError(f"{self.folder} can't be made: {problem.strerror}; choose another folder") from None
        with self._timed("save"):
            snapshot = self._snapshot_of(state, name, tuple(dict.fromkeys(tags)), description)
            header = self._store.save(snapshot, compression or self.compression)
        if self._validate:
            with self._timed("validate"):
                self._store.fetch(header.snapshot_id)
        return header.checkpoint_id

    def _snapshot_of(
        self, state: World | Snapshot | str | Path, name: str | None, tags: tuple[str, ...], description: str | None
    ) -> Snapshot:
        check_tags(*tags)
        if isinstance(state, World):
            return of_world(state, name=name, tags=tags, message=description)
        taken = state if isinstance(state, Snapshot) else read_file(Path(state))
        if not taken.world and taken.tape is None:
            raise SnapshotError(
                f"the snapshot of {taken.header.world!r} has neither a state nor a tape; "
                "write one with `ptp snapshot export`, and save that file"
            )
        now = time.time()
        said: dict[str, Any] = {"snapshot_id": uuid7(now), "created_at": iso(now), "name": name, "tags": tags}
        header = msgspec.structs.replace(taken.header, **said, message=description or taken.header.message)
        return msgspec.structs.replace(taken, header=header)

    def load(self, checkpoint_id: str) -> Snapshot:
        """Return a checkpoint, from memory if it was loaded lately; a damaged file is refused."""
        key = _id(checkpoint_id)
        found = self._store.cached(key)
        if found is not None:
            self._hits += 1
            return found
        self._misses += 1
        with self._timed("load"):
            return self._store.fetch(key)

    def restore(self, checkpoint_id: str, world: World) -> Any:
        """Put a world back to a checkpoint, and return what is seen there; one that can't load is played there."""
        snapshot = self.load(checkpoint_id)
        check_world(snapshot.header, world.facts)
        if world.facts.snapshot == "state":
            world.load(snapshot.world)
            return world.observe()
        if snapshot.tape is None:
            raise SnapshotError(f"checkpoint {checkpoint_id} has no tape that leads {world.facts.name!r} there")
        return play_there(world, snapshot.tape)

    def preload(self, *checkpoint_ids: str, tags: Sequence[str] = ()) -> Future[builtins.list[str]]:
        """Load checkpoints into memory beside whatever is done now; the result is what went wrong, a line each."""
        keys = [_id(key) for key in checkpoint_ids]

        def load_all() -> builtins.list[str]:
            wanted = dict.fromkeys([*keys, *(header.snapshot_id for header in self.list(tags=tags) if tags)])
            problems = []
            for key in wanted:
                try:
                    if self._store.cached(key) is None:
                        self._store.fetch(key)
                except SnapshotError as problem:
                    problems.append(str(problem))
            return problems

        worker = ThreadPoolExecutor(1, "preload")
        loading = worker.submit(load_all)
        worker.shutdown(wait=False)
        return loading

    def tag(self, checkpoint_id: str, *tags: str) -> tuple[str, ...]:
        """Add tags and return those that it has then; one tagged `keep` is never pruned."""
        return self._store.tag(_id(checkpoint_id), add=tags).tags

    def untag(self, checkpoint_id: str, *tags: str) -> tuple[str, ...]:
        """Remove tags and return those that are left."""
        return self._store.tag(_id(checkpoint_id), remove=tags).tags

    def delete(self, checkpoint_id: str) -> int:
        """Remove a checkpoint and return its size on disk."""
        size = self._store.delete(_id(checkpoint_id))
        if not size:
            raise SnapshotError(f"no checkpoint {checkpoint_id} in {self.folder}; see `CheckpointManager.list`")
        return size

    def verify(self) -> tuple[builtins.list[str], builtins.list[str]]:
        """Unpack every file; return the ids of those that are intact, and what is wrong with the others."""
        headers, problems = self._store.readable()
        good = []
        for header in headers:
            try:
                with self._timed("validate"):
                    self._store.read(header)
                good.append(header.snapshot_id)
            except SnapshotError as problem:
                if self._store.path(header.snapshot_id).exists():  # else somebody has removed it meanwhile
                    problems.append(str(problem))
        return good, problems

    def prune(self, keep: int) -> builtins.list[str]:
        """Remove all but the newest *keep* checkpoints and those tagged `keep`; return the ids of those removed."""
        if keep < 0:
            raise SnapshotError(f"can't keep {keep} checkpoints; give 0 or more")
        old = [header.snapshot_id for header in self.list()[keep:] if KEEP not in header.tags]
        return [key for key in old if self._store.delete(key)]

    def stats(self) -> CheckpointStats:
        """Return what the store holds, how often memory answered, and how long things took."""
        files = self._store.sizes()
        loads = self._hits + self._misses
        return CheckpointStats(
            len(files), sum(files), self._store.cached_bytes, self._hits, self._misses,
            round(self._hits / loads, 4) if loads else None,
            *(self._timing(name) for name in ("save", "load", "validate")),
        )  # fmt: skip

    def _timing(self, name: str) -> Timing:
        taken = [*self._times[name]]
        if not taken:
            return Timing(0, None, None)
        p95 = quantiles(taken, n=20, method="inclusive")[-1] if len(taken) > 1 else taken[0]
        return Timing(self._counts[name], round(median(taken), 3), round(p95, 3))

    @contextmanager
    def _timed(self, name: str) -> Iterator[None]:
        began = time.perf_counter()
        yield
        self._times[name].append((time.perf_counter() - began) * 1000)
        self._counts[name] += 1

    def list(
        self,
        *,
        tags: Sequence[str] = (),
        location: str | None = None,
        game: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> builtins.list[SnapshotHeader]:
        """Return the checkpoints with all these tags, in that place of that game and time, newest first."""
        found = [
            header for header in self._store.headers()
            if set(tags) <= set(header.tags)
            and (location is None or location.casefold() in header.location.casefold())
            and (game is None or game in (header.world, header.world_version))
            and (since is None or _when(header) >= since.timestamp())
            and (until is None or _when(header) <= until.timestamp())
        ]  # fmt: skip
        return sorted(found, key=lambda header: (header.created_at, header.snapshot_id), reverse=True)


def _when(header: SnapshotHeader) -> float:
    return datetime.fromisoformat(header.created_at).timestamp()


def _id(text: str) -> str:
    try:
        return str(UUID(text))
    except (ValueError, AttributeError, TypeError):
        raise SnapshotError(f"{text!r} is no checkpoint_id, which is a UUID; see `CheckpointManager.list`") from None
