"""What a live run sends to those who watch it: the records of every tick, and some thirty pictures a second.

Nothing is written as text and no picture is compressed on the run's own thread. One who reads too slowly loses the
oldest records and learns how many; the run never waits.
"""

from __future__ import annotations

import base64
import socket
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from ptp._util.attempt import attempt
from ptp.frames.pictures import FrameRing, Picture, encode
from ptp.records import DecisionMade, Record, Step
from ptp.runner.protocol import Frame, Line, Now, write
from ptp.sinks import RunContext, Sink

MOST_RECORDS = 2_000  # records that may wait for one watcher
FRAME_EVERY = 1 / 30  # seconds between two pictures, at least
DRAW_SHARE = 25  # drawing may take one part in so many of the run's time
GATHER = 0.033  # seconds in which records are gathered into one line
HEARTBEAT = 5.0  # seconds after which a silent line shows whether the watcher is still there


class LiveFeed(Sink):
    """Hands what happens to every watcher; with none it costs one look."""

    inline = True

    def __init__(self, run: RunContext, ring: FrameRing) -> None:
        self._run = run
        self._ring = ring
        self._mailboxes: tuple[Mailbox, ...] = ()  # replaced as a whole, so that the run reads it without a lock
        self._changing = threading.Lock()
        self._frame_due = 0.0
        self._shown: tuple[int, bool, int] | None = None
        self._draws = run.play.world.facts.render_mode is not None
        self._closed = False

    def took(self, records: Sequence[Record]) -> None:
        """Tell what the last ticks brought."""
        mailboxes = self._mailboxes
        if not mailboxes:
            return
        paused = self._run.paused
        shown = (self._run.tick, paused, len(mailboxes))
        if not records and shown == self._shown:
            return
        picture = self._picture(urgent=paused or (shown != self._shown and not records))
        self._shown = shown
        now, state = self.now(), self._run.play.state
        for mailbox in mailboxes:
            mailbox.put(now, records, state, picture)

    def rewound(self, tick: int) -> None:
        """Tell that the run went back."""
        if self._run.rewound is not None:
            self.took([self._run.rewound])

    def now(self) -> Now:
        """Return the status of the run."""
        run, play, progress = self._run, self._run.play, self._run.play.progress
        target, queued = (0.0, 0) if run.engine is None else (run.engine.target_rate(), len(run.engine.buffer))
        return Now(run.clock.time(), progress.ticks, play.episode, run.paused, progress.reward, progress.cost,
                   progress.elapsed, target, play.context, queued)  # fmt: skip

    def _picture(self, urgent: bool) -> tuple[int, Picture] | None:
        began = time.monotonic()
        if not self._draws or (began < self._frame_due and not urgent):
            return None
        picture = attempt(self._run.play.world.raw_frame)
        if isinstance(picture, Exception):  # reported once, and the run continues
            self._run.notice("warning", "live", f"the world can't draw a picture for those who watch: {picture!r}")
            self._draws = False
            return None
        now = time.monotonic()
        self._frame_due = began + max(FRAME_EVERY, DRAW_SHARE * (now - began))
        return None if picture is None else (self._run.tick, picture)

    def held(self, tick: int) -> Frame | None:
        """Return the picture of a tick, or of the newest before it, that is in memory; on any thread."""
        found = self._ring.at(tick)
        return None if found is None else _frame(*found)

    def close(self) -> None:
        """Let every watcher read the rest and hear that the run has ended."""
        with self._changing:
            self._closed = True
            for mailbox in self._mailboxes:
                mailbox.close()

    def serve(self, connection: socket.socket) -> None:
        """Send to one watcher what happens, until the run or the watcher ends."""
        mailbox = Mailbox()
        with self._changing:
            if self._closed:
                mailbox.close()
            self._mailboxes = (*self._mailboxes, mailbox)
            self._shown, self._frame_due = None, 0.0
        try:
            for line in mailbox.lines():
                connection.sendall(line)
        except OSError:
            return  # the watcher has gone
        finally:
            with self._changing:
                self._mailboxes = tuple(other for other in self._mailboxes if other is not mailbox)


class Mailbox:
    """What waits for one watcher: records up to a bound, and the newest state and picture."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._filled = threading.Event()
        self._records: deque[Record] = deque()
        self._now: Now | None = None
        self._state: Any = None
        self._sent_state: Any = None
        self._picture: tuple[int, Picture] | None = None
        self._lost = 0
        self._closed = False

    def put(self, now: Now, records: Sequence[Record], state: Any, picture: tuple[int, Picture] | None) -> None:
        """Leave what one tick brought."""
        with self._lock:
            self._now, self._state = now, state
            self._picture = picture or self._picture
            self._records.extend(records)
            while len(self._records) > MOST_RECORDS:
                self._records.popleft()
                self._lost += 1
        self._filled.set()

    def close(self) -> None:
        """Say that nothing more comes."""
        self._closed = True
        self._filled.set()

    def lines(self) -> Iterator[bytes]:
        """Return what comes, as lines of JSON; an empty one now and then, while nothing does."""
        while True:
            if not self._filled.wait(HEARTBEAT):
                yield b"\n"
                continue
            self._filled.clear()
            line = self._take()
            if line is not None:
                yield write(line) + b"\n"
            if self._closed and not self._records:
                return
            time.sleep(GATHER)

    def _take(self) -> Line | None:
        with self._lock:
            if self._now is None:
                return None
            now, state, picture, lost = self._now, self._state, self._picture, self._lost
            records = list(self._records)
            self._records.clear()
            self._now, self._picture, self._lost = None, None, 0
        changed = state is not self._sent_state
        self._sent_state = state
        frame = None if picture is None else _frame(*picture)
        # A line has the newest state, and the database has them all.
        lighter = [
            msgspec.structs.replace(record, state=None) if isinstance(record, Step | DecisionMade) else record
            for record in records
        ]
        return Line(now, lighter, lost, state if changed else msgspec.UNSET, frame)


def _frame(tick: int, picture: Picture) -> Frame:
    if isinstance(picture, str):
        return Frame(tick, "text", picture)
    return Frame(tick, "png", base64.b64encode(encode(picture, "png", 0)).decode())
