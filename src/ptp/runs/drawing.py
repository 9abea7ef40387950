"""Drawing any tick of a run from its tape, here or in a process of its own.

A world is played once at a time; states along the way are remembered, so that ticks nearby come quickly.
"""

from __future__ import annotations

import atexit
import signal
from collections import OrderedDict
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from functools import lru_cache
from multiprocessing import get_context, resource_tracker
from pathlib import Path
from threading import Lock

import msgspec

from ptp.errors import PtpError, RunUnreadable, SnapshotError, WorldError
from ptp.frames.pictures import encode
from ptp.recording import RunDirectory
from ptp.recording.database import TAPELESS
from ptp.replay import Tape
from ptp.replay.travel import newest_key
from ptp.snapshots import SnapshotStore
from ptp.snapshots.keys import KEYS, KeyFile
from ptp.snapshots.snapshot import check_world
from ptp.snapshots.tape import command_of, compare, hash_of
from ptp.worlds import World, make_world

PICTURES = 2_000  # pictures that the server remembers
STATES = 64 << 20  # bytes of states that the worker remembers
STRIDE = 50  # ticks between two remembered states
FAR = 1_000  # ticks after which a remembered state is no help
MEDIA = {"jpeg": "image/jpeg", "png": "image/png", "webp": "image/webp", "text": "text/plain; charset=utf-8"}


class Drawn(msgspec.Struct, frozen=True):
    """A picture as a file."""

    media_type: str
    data: bytes
    tick: int | None = None
    """The tick that it shows, where that may differ from the requested one."""


Draw = Callable[[Path, int, int], Drawn]
"""Returns the picture of a run after a tick; the number of its rewinds excludes ticks that were rolled back."""


def draw_here(path: Path, rewinds: int, tick: int) -> Drawn:
    """Draw in this process, which needs no worker that could import a script again."""
    with _drawing:
        return _draw(path, tick)


class Painter:
    """Gives the picture of any tick; it remembers the newest ones and asks a worker for the others."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._pool: ProcessPoolExecutor | None = None
        self.draw: Draw = lru_cache(PICTURES)(self._ask)

    def _ask(self, path: Path, rewinds: int, tick: int) -> Drawn:
        try:
            with self._lock, _interrupts_held():
                if self._pool is None:
                    self._pool = ProcessPoolExecutor(1, mp_context=get_context("spawn"))
                drawn = self._pool.submit(_draw, path, tick)
            return drawn.result(timeout=120)
        except BrokenProcessPool:
            with self._lock:
                self._pool = None
            raise WorldError(f"tick {tick} can't be drawn: the world ended its process; try again") from None

    def close(self) -> None:
        """End the worker."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Let a worker that is started here inherit deaf ears for Ctrl-C: who started it ends it."""
    resource_tracker.ensure_running()  # starting it would open the ears again
    old = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, old)


class _Projector:
    def __init__(self, directory: RunDirectory) -> None:
        self.path = directory.path
        self._tape = Tape(directory)
        if not self._tape.length and self._tape.schema in TAPELESS:
            about = f"run {directory.run_id} has schema {self._tape.schema}, which keeps no tape"
            raise RunUnreadable(f"{about}; only the pictures that it kept can be shown")
        self.rewinds = self._tape.metadata.rewinds
        self._store = SnapshotStore(directory.path / "snapshots")
        self._keys = KeyFile(directory.path / "snapshots" / KEYS)
        self.world: World = make_world(
            self._tape.world, self._tape.metadata.facts.render_mode, trusted=self._tape.is_trusted
        )
        self._saves = self.world.facts.snapshot == "state"
        self._states: OrderedDict[int, tuple[bytes, int]] = OrderedDict()
        self._tick = -1
        self._episode = 0

    def go_to(self, tick: int) -> None:
        follows = 0 <= self._tick <= tick
        if not (follows and tick < self._tick + 2 * STRIDE) and not self._jump(tick) and not follows:
            self._begin(tick)
        for step in self._tape.steps(self._tick + 1):
            if step.tick > tick:
                break
            if step.episode != self._episode:
                self._reset(step.episode)
            outcome = self.world.step(command_of(self.world, step.tick, step.command))
            self._tick = -1  # nowhere, if the tape can't be followed
            compare(step.tick, step.state_hash, hash_of(self.world, outcome))
            self._tick = step.tick
            if self._saves and step.tick % STRIDE == 0 and step.tick not in self._states:
                self._remember(step.tick, self.world.save(), self._episode)

    def _jump(self, tick: int) -> bool:
        """Go to a state near before the tick, that is remembered or a key state, if there is one further on."""
        start = max((known for known in self._states if known <= tick), default=-1)
        key = newest_key(self._keys, self._tape, self.world.facts, tick) if self._saves else None
        if key is not None and key.head.tick > start:
            with suppress(SnapshotError):  # it can't be read
                self._remember(key.head.tick, key.unpack().world, key.head.episode)
                start = key.head.tick
        if tick - start >= FAR or start <= (self._tick if self._tick <= tick else -1):
            return False
        data, self._episode = self._states[start]
        self.world.load(data)
        self._tick = start
        return True

    def _remember(self, tick: int, state: bytes, episode: int) -> None:
        self._states[tick] = (state, episode)
        while sum(len(data) for data, _ in self._states.values()) > STATES:
            self._states.popitem(last=False)

    def _begin(self, tick: int) -> None:
        """Begin at the newest snapshot before the tick, or at the start of its episode."""
        self._tick = -1
        first = self._tape.seeded_start(tick) if tick else 1
        self._reset(next((step.episode for step in self._tape.steps(first)), 1))
        self._tick = first - 1
        for header in self._store.headers() if self._saves else ():
            if first - 1 < header.tick <= tick and self._tape.is_current(header):
                try:
                    check_world(header, self.world.facts)
                    self.world.load(self._store.load(header).world)
                except SnapshotError:
                    continue  # `ptp snapshot verify` names it; an older one, or the tape alone, serves
                self._tick, self._episode = header.tick, header.episode
                return

    def _reset(self, episode: int) -> None:
        self.world.reset(*self._tape.start(episode))
        self._episode = episode

    def close(self) -> None:
        self.world.close()
        self._tape.close()


_projector: _Projector | None = None  # one world at a time, of the worker process or of this one
_drawing = Lock()


def _draw(path: Path, tick: int) -> Drawn:
    """Return the picture after a tick; runs in the worker."""
    global _projector
    directory = RunDirectory(path)
    if _projector is None or (_projector.path, _projector.rewinds) != (path, directory.read_metadata().rewinds):
        _forget()
        _projector = _Projector(directory)
    try:
        _projector.go_to(tick)
    except PtpError:
        _forget()
        raise
    picture = _projector.world.frame()
    if picture is None:
        raise WorldError(f"world {_projector.world.spec.name!r} has no picture")
    return Drawn(MEDIA["text" if isinstance(picture, str) else "png"], encode(picture, "png", 0))


@atexit.register  # an emulator that is freed after Python's own parts prints errors that mean nothing
def _forget() -> None:
    global _projector
    if _projector is not None:
        _projector.close()
        _projector = None
