"""What live runs tell, passed on to many: one connection to each run, any number of listeners.

Each listener has a mailbox with the newest state, the newest picture and the actions since it last looked. One who
reads slowly gets fewer pictures and states, never an older one, and nobody waits for anybody.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from typing import Any

import msgspec

from ptp._util.clock import iso
from ptp.recording import RunDirectory
from ptp.records import DecisionMade
from ptp.runner.control import connect
from ptp.runner.live import Now
from ptp.runs.actions import event_name
from ptp.runs.answers import Action
from ptp.runs.answers.streams import LiveActions, LiveEnd, LiveState
from ptp.runs.titles import title_of

BEAT = 1 / 30  # seconds between two messages to a listener, at least
PER_LISTENER = 0.0005  # seconds that each listener adds to it
MOST_LINE = 32 << 20  # bytes of one line of a run
MOST_ACTIONS = 200  # batches of actions that may wait for a slow listener
LINGER = 5.0  # seconds that a run is listened to after the last listener has left
ALIVE = 15.0  # seconds after which a silent stream sends a comment, so that nothing between closes it

_encode = msgspec.json.Encoder().encode


class _Incoming(msgspec.Struct):
    """A line of a live run; state and picture are passed on as they are."""

    now: Now
    records: list[dict[str, Any]] = []
    lost: int = 0
    state: msgspec.Raw = msgspec.Raw()
    frame: msgspec.Raw = msgspec.Raw()


_decode = msgspec.json.Decoder(_Incoming).decode


class Listener:
    """One client's mailbox."""

    def __init__(self) -> None:
        self._newest: dict[str, bytes] = {}
        self._actions: deque[bytes] = deque(maxlen=MOST_ACTIONS)
        self._filled = asyncio.Event()
        self._ended = False

    def put(self, event: str, message: bytes) -> None:
        """Leave a message; a newer state or picture takes the place of the one before."""
        if event == "actions":
            self._actions.append(message)
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
            waiting = [*self._actions, *self._newest.values()]
            self._actions.clear()
            self._newest.clear()
            yield b"".join(waiting)
            if self._ended:
                return


class Channel:
    """The connection to one live run, and those who listen to it."""

    def __init__(self, directory: RunDirectory) -> None:
        self._directory = directory
        self.listeners: set[Listener] = set()
        self._state = msgspec.Raw(b"null")
        self._last: dict[str, bytes] = {}
        self._records: list[dict[str, Any]] = []
        self._now: Now | None = None
        self._frame: msgspec.Raw | None = None
        self._lost = 0
        self._rates: deque[tuple[float, int]] = deque()
        self._changed = asyncio.Event()
        self.ended = False

    def add(self, listener: Listener) -> None:
        """Let a listener have how things stand now, and what comes."""
        self.listeners.add(listener)
        for event, message in self._last.items():
            listener.put(event, message)

    async def run(self) -> None:
        """Pass on what the run tells, until it ends or nobody listens any more."""
        try:
            reader = asyncio.create_task(self._read())
            sender = asyncio.create_task(self._send())
            idle = asyncio.create_task(self._wait_for_silence())
            await asyncio.wait({reader, idle}, return_when=asyncio.FIRST_COMPLETED)
            for task in (reader, sender, idle):
                task.cancel()
            await asyncio.gather(reader, sender, idle, return_exceptions=True)
            self._flush()
        finally:
            self.ended = True
            for listener in self.listeners:
                listener.end(not_live())

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
            while line := await reader.readline():
                if line.strip():
                    self._take(_decode(line))
        finally:
            writer.close()

    def _take(self, line: _Incoming) -> None:
        self._now = line.now
        self._state = line.state if line.state else self._state
        self._frame = line.frame if line.frame else self._frame
        self._records += line.records
        self._lost += line.lost
        self._changed.set()

    async def _send(self) -> None:
        while True:
            await self._changed.wait()
            self._changed.clear()
            self._flush()
            await asyncio.sleep(BEAT + PER_LISTENER * len(self.listeners))

    def _flush(self) -> None:
        if self._now is None:
            return
        records, lost, frame = self._records, self._lost, self._frame
        self._records, self._lost, self._frame = [], 0, None
        state = _encode(LiveState(self._now, self._rate(self._now), self._state))
        self._pass_on("state", _message("state", state))
        if frame is not None:
            self._pass_on("frame", _message("frame", bytes(frame)))
        if records or lost:
            message = _message("actions", _encode(as_actions(records, self._now, lost)))
            for listener in self.listeners:
                listener.put("actions", message)

    def _pass_on(self, event: str, message: bytes) -> None:
        self._last[event] = message
        for listener in self.listeners:
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
        self._channels: dict[str, tuple[Channel, asyncio.Task[None]]] = {}

    @property
    def listeners(self) -> int:
        """How many listen now."""
        return sum(len(channel.listeners) for channel, _ in self._channels.values())

    async def listen(self, directory: RunDirectory, seconds: float | None = None) -> AsyncIterator[bytes]:
        """Return what a live run tells as server-sent events, for so many seconds or until it ends."""
        channel = self._channel(directory)
        listener = Listener()
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

    def _channel(self, directory: RunDirectory) -> Channel:
        known = self._channels.get(directory.run_id)
        if known is not None and not known[0].ended:
            return known[0]
        channel = Channel(directory)
        self._channels[directory.run_id] = (channel, asyncio.create_task(channel.run()))
        return channel

    async def close(self) -> None:
        """End every channel."""
        for _, task in self._channels.values():
            task.cancel()
        await asyncio.gather(*(task for _, task in self._channels.values()), return_exceptions=True)


def not_live() -> bytes:
    """Return the stream of a run that nobody plays."""
    return _message("end", _encode(LiveEnd(live=False)))


def _message(event: str, data: bytes) -> bytes:
    return b"event: " + event.encode() + b"\ndata: " + data + b"\n\n"


def as_actions(records: list[dict[str, Any]], now: Now, lost: int) -> LiveActions:
    """Return what a live run told as lines of the action log."""
    told = LiveActions([], [], [], [], lost)
    at = iso(now.at)
    for record in records:
        kind = record["record"]
        if kind == "Step":
            context = {"tick": record["tick"], "episode": record["episode"], "reward": record["reward"]}
            told.actions.append(Action(at, record["command"].upper(), context, None, None, None))
        elif kind == "Happened":
            event = record["event"]
            told.titles.append((record["tick"], event["event"], title_of(event["event"], event)))
            facts = {name: value for name, value in event.items() if name != "event"}
            context = {"tick": record["tick"], **facts}
            told.actions.append(Action(iso(record["at"]), event_name(event["event"]), context, None, None, None))
        elif kind == "DecisionMade":
            told.decisions.append(_decision(record))
        elif kind == "Notice":
            told.notices.append({name: record[name] for name in ("tick", "level", "kind", "message")})
    return told


def _decision(record: dict[str, Any]) -> DecisionMade:
    facts = {name: record.get(name) for name in DecisionMade.__struct_fields__}
    context = None if record["context"] is None else msgspec.json.decode(record["context"])
    return msgspec.convert({**facts, "record": "DecisionMade", "context": context}, DecisionMade)
