"""Pictures forwarded to an endpoint by HTTP, without the run ever waiting for it."""

from __future__ import annotations

import http.client
import time
from urllib.parse import urlsplit

from ptp.errors import ConfigError
from ptp.frames.pictures import Format, encode
from ptp.frames.shots import BackgroundLane, Shot, Store
from ptp.records import Level, Notice, Record

QUEUE = 64  # pictures that may wait for the endpoint
TIMEOUT = 5.0  # seconds that one picture may take
PATIENCE = 5.0  # seconds that the end of a run waits for the last pictures
PAUSE = 1.0  # seconds between two attempts while the endpoint is away


class ForwardingStore(Store):
    """Keeps pictures in another store and posts each to an endpoint too; the body is the file, headers say whose."""

    def __init__(self, store: Store, url: str, run_id: str, format: Format, quality: int) -> None:
        super().__init__()
        self._url = urlsplit(url)
        if self._url.scheme not in ("http", "https") or not self._url.hostname:
            raise ConfigError(f"--frame-sink {url!r} is no address; give one such as http://127.0.0.1:9000/frames")
        self.counts = store.counts
        self._store = store
        self._run_id = run_id
        self._format = format
        self._quality = quality
        self._last: Shot | None = None
        self._sent = self._dropped = self._refused = 0
        self._connection: http.client.HTTPConnection | None = None
        self._away_until = 0.0
        self._lane = BackgroundLane(self._forward, patient=False, size=QUEUE)

    def keep(self, shot: Shot) -> list[Record]:
        """Forward a picture and keep it; one that finds the queue full is not forwarded."""
        self._last = shot
        if not self._lane.put(shot):
            self._dropped += 1
        return self._store.keep(shot) + self._lane.done()

    def forget_after(self, tick: int) -> None:
        """Forget what the other store has not written; what was forwarded is gone."""
        self._store.forget_after(tick)

    def close(self) -> list[Record]:
        """Close both without waiting long for the endpoint, and tell how many pictures were forwarded."""
        told = self._lane.close(PATIENCE) + self._store.close()
        self._disconnect()
        if self._last is not None:
            dropped = self._dropped + self._lane.waiting
            message = f"forwarded {self._sent} pictures; {dropped} dropped, {self._refused} refused"
            level: Level = "warning" if dropped or self._refused else "info"
            told.append(Notice(self._last.at, self._last.tick, level, "sink_closed", message))
        return told

    def _forward(self, shot: Shot) -> list[Record]:
        """Post a picture, on the lane's thread; an endpoint that is away is not tried again for a while."""
        if time.monotonic() < self._away_until:
            self._dropped += 1
            return []
        try:
            answer = self._post(shot)
        except (OSError, http.client.HTTPException) as problem:
            self._dropped += 1
            self._away_until = time.monotonic() + PAUSE
            self._disconnect()
            return self._complain(shot, f"the endpoint is away: {problem}")
        if answer.status < 300:
            self._sent += 1
            return []
        self._refused += 1
        return self._complain(shot, f"the endpoint answered {answer.status} {answer.reason}")

    def _complain(self, shot: Shot, problem: str) -> list[Record]:
        return self._tell(shot, "sink_failed", f"pictures can't be forwarded: {problem}")

    def _post(self, shot: Shot) -> http.client.HTTPResponse:
        headers = {
            "Content-Type": "text/plain; charset=utf-8" if isinstance(shot.picture, str) else f"image/{self._format}",
            "X-Ptp-Run": self._run_id,
            "X-Ptp-Tick": str(shot.tick),
            "X-Ptp-Trigger": shot.trigger.value,
        }
        if self._connection is None:
            kind = http.client.HTTPSConnection if self._url.scheme == "https" else http.client.HTTPConnection
            self._connection = kind(self._url.hostname or "", self._url.port, timeout=TIMEOUT)
        path = (self._url.path or "/") + (f"?{self._url.query}" if self._url.query else "")
        self._connection.request("POST", path, encode(shot.picture, self._format, self._quality), headers)
        answer = self._connection.getresponse()
        answer.read()
        return answer

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
