"""When key states are taken: so often that any tick is near one, so seldom that the run does not feel it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from time import thread_time

from ptp.engine import Engine
from ptp.errors import SnapshotError
from ptp.recording import Recorder
from ptp.records import Record
from ptp.sinks import RunContext, Sink
from ptp.snapshots.keys import KEYS, KeyFile, KeyMemory, KeyState, Packed, join

QUICK = 0.02  # seconds that playing from one key state to the next takes, ...
SHARE = 0.04  # ... or longer where taking one would cost the run more than this share of its time
LEAST, MOST = 16, 4096  # ticks between two key states
SLOW = 1e-4  # seconds: where a tick takes longer, and a key state less than ...
COSTLY = 5e-3  # ... so many, ...
NEAR = 50  # ... no tick is further from a key state on disk, before they are thinned out
GIGABYTE = 1e9


class KeyKeeper(Sink):
    """Takes key states into memory, and some of them onto disk."""

    inline = True
    each_tick = True

    def __init__(self, run: RunContext, engine: Engine, recorder: Recorder) -> None:
        config = run.config.snapshot
        self._run = run
        self._engine = engine
        self._recorder = recorder
        self._memory = KeyMemory(config.rewind_memory * 1_000_000)
        self._file = KeyFile(recorder.directory.path / "snapshots" / KEYS)
        self._most_disk = config.rewind_disk * GIGABYTE
        self._spacing = NEAR
        self._progress = engine.progress
        self._due = run.tick if config.rewind_memory else float("inf")
        self._last, self._spent = run.tick, thread_time()
        self._on_disk = -NEAR
        self._too_large = False

    def began(self, run: RunContext) -> None:
        """Cut off what lies beyond the tape, of a run that was killed."""
        self._file.forget_after(run.tick)
        heads = self._file.heads()
        if heads:
            self._on_disk = heads[-1].tick
            self._spacing = max(NEAR, *(after.tick - before.tick for before, after in pairwise(heads)), 0)

    def took(self, records: Sequence[Record]) -> None:
        """Take a key state, if one is due."""
        if self._progress.ticks >= self._due:
            self._take()

    def _take(self) -> None:
        engine, tick, began = self._engine, self._progress.ticks, thread_time()
        world = engine.world.save() if engine.world.facts.snapshot == "state" else b""
        key = KeyState(tick, engine.play.episode, self._run.metadata.rewinds, world, engine.save(), engine.agent.save())
        whole = join(key)
        self._set_due(tick, began)
        goes_to_disk = self._due - self._on_disk > self._spacing and self._most_disk > 0
        if goes_to_disk:
            self._on_disk = tick
        self._recorder.later(lambda: self._keep(whole.pack(), goes_to_disk))

    def _keep(self, packed: Packed, goes_to_disk: bool) -> None:
        """Keep a key state, on the recorder's second thread, once the tape that leads to it is committed."""
        self._memory.add(packed)
        if self._memory.newest(packed.head.tick) is None and not self._too_large:
            self._too_large = True
            said = f"a key state takes {len(packed.data):,} bytes, and --rewind-memory holds none; raise it"
            self._run.notice("warning", "rewind", f"{said}, or go back from those on disk")
        if goes_to_disk and self._most_disk:
            self._write(packed)

    def _set_due(self, tick: int, began: float) -> None:
        """Say when the next one is due, by what a tick takes and what taking this one took since *began*."""
        now, ticks = thread_time(), LEAST
        if tick > self._last:
            pace = max((began - self._spent) / (tick - self._last), 1e-9)
            cost = now - began
            ticks = max(round(max(QUICK, cost / SHARE) / pace), LEAST)
            ticks = min(ticks, NEAR if pace > SLOW and cost < COSTLY else MOST)
        self._due = tick + ticks
        self._last, self._spent = tick, now

    def _write(self, packed: Packed) -> None:
        try:
            self._file.add(packed)
            if self._file.size > self._most_disk:
                self._file.thin_out()
                self._spacing *= 2
        except (SnapshotError, OSError) as problem:  # the run continues
            self._most_disk = 0
            self._run.notice("warning", "rewind", f"no more key states are written: {problem}")

    def newest(self, tick: int) -> KeyState:
        """Return the newest key state at or before a tick."""
        self._recorder.flush()
        packed = self._memory.newest(tick) or self._file.newest(tick)
        if packed is None:
            raise SnapshotError(f"no key state leads to tick {tick}; choose a snapshot, or raise --rewind-memory")
        return packed.unpack()

    def rewound(self, tick: int) -> None:
        """Forget the key states of a future that was discarded."""
        self._recorder.flush()
        self._memory.forget_after(tick)
        self._file.forget_after(tick)
        self._on_disk = min(self._on_disk, tick)
        self._last, self._due, self._spent = tick, tick + LEAST, thread_time()
