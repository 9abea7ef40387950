"""What live runs send, passed on to many: one connection to each run, any number of listeners.

Each listener has a mailbox with the newest state, the newest picture and the records since it last looked. One who
reads slowly gets fewer pictures and states, never an older one, and nobody waits for anybody.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence

import msgspec
from msgspec import Struct

from ptp.recording import RunDirectory
from ptp.records import Record, WorldFacts
from ptp.runner.control import connect
from ptp.runner.protocol import Frame, Now
from ptp.runs.actions import Action, as_actions

BEAT = 1 / 30  # seconds between two messages to a listener, at least
PER_LISTENER = 0.0005  # seconds that each listener adds to it
MOST_LINE = 32 << 20  # bytes of one line of a run
MOST_BATCHES = 200  # batches of records that may wait for a slow listener
LINGER = 5.0  # seconds that a run is listened to after the last listener has left
ALIVE = 15.0  # seconds after which a silent stream sends a comment, so that nothing between closes it
BATCHES = frozenset({"records", "actions"})  # of which none replaces the one before

_encode = msgspec.json.Encoder().encode


class LiveState(Struct, frozen=True):
    """How a live run stands: the data of the event `state`."""

    now: Now
    """Tick, time, pace and the like."""
    rate: float | None
    """Ticks per second over the last second."""
    state: msgspec.Raw
    """The world's state."""


class LiveRecords(Struct, frozen=True):
    """What happened since: the data of the event `records`."""

    records: list[Record]
    """Steps, decisions, events and notices as the engine made them; steps and decisions without their state."""
    lost: int
    """Records that came too fast to be passed on; the database has them."""


class LiveActions(Struct, frozen=True):
    """What happened since, as lines of the action log: the data of the event `actions`."""

    actions: list[Action]
    lost: int
    """Records that came too fast to be passed on; the database has them."""


class LiveEnd(Struct, frozen=True):
    """The run is played no longer: the data of the event `end`."""

    live: bool
    """Always false."""


EVENTS: dict[str, type[Struct]] = {
    "state": LiveState,
    "frame": Frame,
    "records": LiveRecords,
    "actions": LiveActions,
    "end": LiveEnd,
}


class Line(Struct):
    """What a live run sends at once; state and picture are passed on as they are."""

    now: Now
    records: list[Record] = []
    lost: int = 0
    state: msgspec.Raw = msgspec.Raw()
    frame: msgspec.Raw = msgspec.Raw()


_decode = msgspec.json.Decoder(Line).decode


async def cancel(tasks: Sequence[asyncio.Task[None]]) -> None:
    """End tasks, and wait until they have ended."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


class Listener:
    """One client's mailbox."""

    def __init__(self, events: frozenset[str]) -> None:
        self.events = events
        self._newest: dict[str, bytes] = {}
        self._batches: deque[bytes] = deque(maxlen=MOST_BATCHES)
        self._filled = asyncio.Event()
        self._ended = False

    def put(self, event: str, message: bytes) -> None:
        """Leave a message; a newer state or picture takes the place of the one before."""
        if event in BATCHES:
            self._batches.append(message)
        else:
            self._newest[event] = message
        self._filled.set()

    def end(self, message: bytes) -> None:
        """Leave the last message."""
        self._ended = True
        self.put("end", message)

    async def messages(self) -> AsyncIterator[bytes]:
        """Return what comes, until the run ends."""
        while True:
            try:
                await asyncio.wait_for(self._filled.wait(), ALIVE)
            except TimeoutError:
                yield b": still here\n\n"
                continue
            self._filled.clear()
            waiting = [*self._batches, *self._newest.values()]
            self._batches.clear()
            self._newest.clear()
            yield b"".join(waiting)
            if self._ended:
                return


class Channel:
    """The connection to one live run, and those who listen to it."""

    def __init__(self, directory: RunDirectory, facts: WorldFacts) -> None:
        self._directory = directory
        self._facts = facts
        self.listeners: set[Listener] = set()
        self._last: dict[str, bytes] = {}
        self._waiting: Line | None = None
        self._state = msgspec.Raw(b"null")
        self._rates: deque[tuple[float, int]] = deque()
        self._changed = asyncio.Event()
        self.task = asyncio.create_task(self._run())

    def add(self, listener: Listener) -> None:
        """Let a listener have how things stand now, and what comes."""
        self.listeners.add(listener)
        for event in self._last.keys() & listener.events:
            listener.put(event, self._last[event])

    async def _run(self) -> None:
        """Pass on what the run sends, until it ends or nobody listens any more."""
        last = b""  # closed from here, the stream breaks off: the run itself may well continue
        tasks = [asyncio.create_task(work()) for work in (self._read, self._send, self._wait_for_silence)]
        try:
            try:
                await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
                last = not_live()
            finally:
                await cancel(tasks)
            self._flush()
        finally:
            for listener in self.listeners:
                listener.end(last)

    async def _wait_for_silence(self) -> None:
        silent = 0.0
        while silent < LINGER:
            await asyncio.sleep(1)
            silent = 0.0 if self.listeners else silent + 1

    async def _read(self) -> None:
        connection = await asyncio.to_thread(connect, self._directory)
        connection.setblocking(False)
        reader, writer = await asyncio.open_connection(sock=connection, limit=MOST_LINE)
        try:
            writer.write(b'{"verb": "watch"}\n')
            await writer.drain()
            while text := await reader.readline():
                if text.strip():
                    self._take(_decode(text))
        finally:
            writer.close()

    def _take(self, line: Line) -> None:
        before = self._waiting
        if before is not None:
            line.records = before.records + line.records
            line.lost += before.lost
            line.frame = line.frame or before.frame
        self._state = line.state or self._state
        self._waiting = line
        self._changed.set()

    async def _send(self) -> None:
        while True:
            await self._changed.wait()
            self._changed.clear()
            self._flush()
            await asyncio.sleep(BEAT + PER_LISTENER * len(self.listeners))

    def _flush(self) -> None:
        line, self._waiting = self._waiting, None
        if line is None:
            return
        self._pass_on("state", lambda: LiveState(line.now, self._rate(line.now), self._state))
        if line.frame:
            self._pass_on("frame", lambda: line.frame)
        if line.records or line.lost:
            self._pass_on("records", lambda: LiveRecords(line.records, line.lost))
            self._pass_on("actions", lambda: LiveActions(as_actions(line.records, line.now.at, self._facts), line.lost))

    def _pass_on(self, event: str, make: Callable[[], Struct | msgspec.Raw]) -> None:
        """Leave a message, written once, with everybody who wants its kind; the last state and picture are kept."""
        wanting = [listener for listener in self.listeners if event in listener.events]
        if event in BATCHES and not wanting:
            return
        message = _message(event, make())
        if event not in BATCHES:
            self._last[event] = message
        for listener in wanting:
            listener.put(event, message)

    def _rate(self, now: Now) -> float | None:
        """Return ticks per second over the last second."""
        if now.paused:
            self._rates.clear()
            return 0.0
        if self._rates and self._rates[-1][1] > now.tick:
            self._rates.clear()  # the run went back
        self._rates.append((now.at, now.tick))
        while len(self._rates) > 2 and now.at - self._rates[1][0] > 1:
            self._rates.popleft()
        began, tick = self._rates[0]
        return round((now.tick - tick) / (now.at - began), 2) if now.at - began > 0.1 else None


class Hub:
    """The channels of all live runs that somebody listens to."""

    def __init__(self) -> None:
        self._channels: dict[str, Channel] = {}

    @property
    def listeners(self) -> int:
        """How many listen now."""
        return sum(len(channel.listeners) for channel in self._channels.values())

    async def listen(
        self, directory: RunDirectory, facts: WorldFacts, events: frozenset[str], seconds: float | None = None
    ) -> AsyncIterator[bytes]:
        """Return what a live run sends as server-sent events, for so many seconds or until it ends."""
        channel = self._channels.get(directory.run_id)
        if channel is None or channel.task.done():
            channel = self._channels[directory.run_id] = Channel(directory, facts)
        listener = Listener(events)
        channel.add(listener)
        loop = asyncio.get_running_loop()
        timer = None if seconds is None else loop.call_later(seconds, listener.end, b": time is up\n\n")
        try:
            async for message in listener.messages():
                yield message
        finally:
            if timer is not None:
                timer.cancel()
            channel.listeners.discard(listener)

    async def close(self) -> None:
        """End every channel and the streams of those who listen."""
        await cancel([channel.task for channel in self._channels.values()])


def not_live() -> bytes:
    """Return the stream of a run that is not live."""
    return _message("end", LiveEnd(live=False))


def _message(event: str, data: Struct | msgspec.Raw) -> bytes:
    return b"event: " + event.encode() + b"\ndata: " + _encode(data) + b"\n\n"
