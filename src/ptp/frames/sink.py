"""Pictures forwarded to an endpoint by HTTP, without the run ever waiting for it."""

from __future__ import annotations

import http.client
import threading
import time
from collections import deque
from urllib.parse import urlsplit

import msgspec

from ptp.errors import ConfigError
from ptp.frames.pictures import Format, encode
from ptp.frames.shots import Counts, Shot, Store
from ptp.records import Notice, Record

QUEUE = 64  # pictures that may wait for the endpoint
TIMEOUT = 5.0  # seconds that one picture may take
PATIENCE = 5.0  # seconds that the end of a run waits for the last pictures
PAUSE = 1.0  # seconds between two attempts while the endpoint is away
TYPES = {"jpeg": "image/jpeg", "png": "image/png", "webp": "image/webp"}


class SinkCounts(msgspec.Struct):
    """What became of the pictures that were to be forwarded."""

    sent: int = 0
    dropped: int = 0
    """Pictures that found the queue full, or an endpoint that was away."""
    refused: int = 0
    """Pictures that the endpoint answered with an error."""


class FrameSink:
    """Posts pictures to an endpoint in a thread of its own; the body is the file, headers tell run and tick."""

    def __init__(self, url: str, run_id: str, format: Format, quality: int) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ConfigError(f"--frame-sink {url!r} is no address; give one such as http://127.0.0.1:9000/frames")
        self._parts = parts
        self._run_id = run_id
        self._format = format
        self._quality = quality
        self._waiting: deque[Shot] = deque()
        self._changed = threading.Condition()
        self._closing = False
        self._connection: http.client.HTTPConnection | None = None
        self._away_until = 0.0
        self.counts = SinkCounts()
        self.problem: str | None = None
        """What the endpoint last did wrong."""
        self._thread = threading.Thread(target=self._run, name="frame sink", daemon=True)
        self._thread.start()

    def offer(self, shot: Shot) -> None:
        """Hand a picture over; one that finds the queue full is dropped."""
        with self._changed:
            if len(self._waiting) >= QUEUE:
                self.counts.dropped += 1
                return
            self._waiting.append(shot)
            self._changed.notify()

    def close(self) -> None:
        """Send what is waiting, but don't wait long for it."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        self._thread.join(PATIENCE)
        self.counts.dropped += len(self._waiting)

    def _run(self) -> None:
        while (shot := self._next()) is not None:
            if time.monotonic() < self._away_until:
                self.counts.dropped += 1
                continue
            try:
                self._send(shot)
            except (OSError, http.client.HTTPException) as problem:
                self._lose_connection(problem)
        if self._connection is not None:
            self._connection.close()

    def _next(self) -> Shot | None:
        with self._changed:
            while not self._waiting and not self._closing:
                self._changed.wait()
            return self._waiting.popleft() if self._waiting else None

    def _send(self, shot: Shot) -> None:
        text = isinstance(shot.picture, str)
        headers = {
            "Content-Type": "text/plain; charset=utf-8" if text else TYPES[self._format],
            "X-Ptp-Run": self._run_id,
            "X-Ptp-Tick": str(shot.tick),
            "X-Ptp-Trigger": shot.trigger.value,
        }
        connection = self._connection = self._connection or self._connect()
        path = (self._parts.path or "/") + (f"?{self._parts.query}" if self._parts.query else "")
        connection.request("POST", path, encode(shot.picture, self._format, self._quality), headers)
        answer = connection.getresponse()
        answer.read()
        if answer.status < 300:
            self.counts.sent += 1
        else:
            self.counts.refused += 1
            self.problem = f"the endpoint answered {answer.status} {answer.reason}"

    def _connect(self) -> http.client.HTTPConnection:
        secure = self._parts.scheme == "https"
        kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
        assert self._parts.hostname is not None
        return kind(self._parts.hostname, self._parts.port, timeout=TIMEOUT)

    def _lose_connection(self, problem: Exception) -> None:
        self.counts.dropped += 1
        self.problem = f"the endpoint is away: {problem}"
        self._away_until = time.monotonic() + PAUSE
        if self._connection is not None:
            self._connection.close()
            self._connection = None


class ForwardingStore:
    """Keeps pictures in another store and forwards each to an endpoint too."""

    def __init__(self, store: Store, sink: FrameSink) -> None:
        self._store = store
        self._sink = sink
        self._last: Shot | None = None
        self._told = False
        self.counts: Counts = store.counts

    def keep(self, shot: Shot) -> list[Record]:
        """Forward a picture and keep it."""
        self._last = shot
        self._sink.offer(shot)
        return self._store.keep(shot) + self._complain(shot)

    def _complain(self, shot: Shot) -> list[Record]:
        if self._told or self._sink.problem is None:
            return []
        self._told = True
        message = f"pictures can't be forwarded: {self._sink.problem}"
        return [Notice(shot.at, shot.tick, "warning", "sink_failed", message)]

    def forget_after(self, tick: int) -> None:
        """Forget what the other store has not written; what was forwarded is gone."""
        self._store.forget_after(tick)

    def close(self) -> list[Record]:
        """Close both, and tell how many pictures were forwarded."""
        self._sink.close()
        told = self._store.close()
        if self._last is not None:
            counts = self._sink.counts
            message = f"forwarded {counts.sent} pictures; {counts.dropped} dropped, {counts.refused} refused"
            lost = counts.dropped or counts.refused
            level = "warning" if lost else "info"
            told.append(Notice(self._last.at, self._last.tick, level, "sink_closed", message))  # type: ignore[arg-type]
        return told
