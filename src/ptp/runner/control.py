"""Steering a live run: a Unix socket in its directory, one JSON line per request and per answer."""

from __future__ import annotations

import json
import os
import socket
import threading
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from ptp._util.clock import Clock, SystemClock
from ptp.errors import PtpError
from ptp.recording import RunDirectory
from ptp.runner.live import LiveFeed

SOCKET = "control.sock"
MOST_REQUEST = 64 << 10  # bytes
PATIENCE = 60.0  # seconds a client waits for the run to come round


class NotRunning(PtpError):
    """The run has no process that could be steered."""


class Request:
    """What a client wants, and the answer it waits for."""

    def __init__(self, verb: str, arguments: dict[str, Any]) -> None:
        self.verb = verb
        self.arguments = arguments
        self.answer: dict[str, Any] | None = None
        self.answered = threading.Event()

    def reply(self, answer: dict[str, Any]) -> None:
        """Let the client have its answer."""
        self.answer = answer
        self.answered.set()


class ControlServer:
    """Takes requests on threads of its own; the run answers them between two ticks.

    Two verbs do not wait for it: `watch` is answered with line after line of what happens, for as long as the client
    listens, and `picture` with a picture from memory.
    """

    def __init__(self, directory: Path, clock: Clock, live: LiveFeed) -> None:
        self.waiting: deque[Request] = deque()
        self._live = live
        self._clock = clock
        self._path = directory / SOCKET
        self._path.unlink(missing_ok=True)
        self._socket = socket.socket(socket.AF_UNIX)
        _with_short_path(self._path, self._socket.bind)
        os.chmod(self._path, 0o600)
        self._socket.listen()
        threading.Thread(target=self._accept, name="control", daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return  # the socket was closed: the run has ended
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection, connection.makefile("rb") as lines:
            connection.settimeout(PATIENCE)
            try:
                request = _read(lines.readline(MOST_REQUEST))
                if request is not None and request.verb == "watch":
                    self._wake()
                    self._live.serve(connection)
                else:
                    connection.sendall(msgspec.json.encode(self._answer(request)) + b"\n")
            except OSError:
                return  # the client has gone; what it asked for is done all the same

    def _answer(self, request: Request | None) -> dict[str, Any]:
        if request is None:
            return {"error": "a request is one line of JSON with a verb"}
        if request.verb == "picture":
            return self._picture(request.arguments.get("tick"))
        self.waiting.append(request)
        self._wake()
        if not request.answered.wait(PATIENCE):
            return {"error": f"the run did not come round to it within {PATIENCE:.0f} s"}
        assert request.answer is not None
        return request.answer

    def _picture(self, tick: object) -> dict[str, Any]:
        """Answer with the picture of a tick, or of the newest before it, that is still in memory."""
        frame = self._live.held(tick) if isinstance(tick, int) else None
        if frame is None:
            return {"error": f"no picture of tick {tick}, or before it, is held in memory"}
        return msgspec.structs.asdict(frame)

    def _wake(self) -> None:
        if isinstance(self._clock, SystemClock):
            self._clock.wake()

    def close(self) -> None:
        """Take no more requests; those that wait or watch are told that the run has ended."""
        self._live.close()
        self._socket.close()
        self._path.unlink(missing_ok=True)
        while self.waiting:
            self.waiting.popleft().reply({"error": "the run has ended"})


def _read(line: bytes) -> Request | None:
    try:
        arguments = json.loads(line)
        return Request(str(arguments.pop("verb")), arguments)
    except (ValueError, KeyError, AttributeError):
        return None


def ask(directory: RunDirectory, verb: str, patience: float = PATIENCE + 5, **arguments: Any) -> dict[str, Any]:
    """Ask a live run to do something, and return its answer; one that is silent for so many seconds is not running."""
    with connect(directory) as connection:
        connection.settimeout(patience)
        try:
            connection.sendall(json.dumps({"verb": verb, **arguments}).encode() + b"\n")
            with connection.makefile("rb") as lines:
                answer: dict[str, Any] = json.loads(lines.readline() or b'{"error": "the run has ended"}')
        except OSError:
            raise not_running(directory) from None
    if "error" in answer:
        raise PtpError(answer["error"])
    return answer


def watch(directory: RunDirectory) -> Iterator[dict[str, Any]]:
    """Return what a live run tells, line by line, until it ends; `ptp.runner.live.Line` says what a line holds."""
    with connect(directory) as connection:
        connection.settimeout(PATIENCE)
        try:
            connection.sendall(b'{"verb": "watch"}\n')
            with connection.makefile("rb") as lines:
                for line in lines:
                    if line.strip():
                        yield json.loads(line)
        except OSError:
            return  # the run has gone without a farewell


def not_running(directory: RunDirectory) -> NotRunning:
    """Return the error of a run that nobody plays, with the verb that goes on with it."""
    return NotRunning(f"run {directory.run_id} is not running; go on with it by `ptp resume {directory.run_id}`")


def connect(directory: RunDirectory) -> socket.socket:
    """Return a connection to a live run, for one who speaks to it in a way of their own."""
    connection = socket.socket(socket.AF_UNIX)
    try:
        _with_short_path(directory.path / SOCKET, connection.connect)
    except OSError:
        connection.close()
        raise not_running(directory) from None
    return connection


def _with_short_path(path: Path, use: Callable[[str], None]) -> None:
    """Call *use* with a path to the socket that is short enough for the kernel, however deep the folder lies."""
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        use(f"/proc/self/fd/{folder}/{path.name}" if os.path.isdir("/proc/self/fd") else str(path))
    finally:
        os.close(folder)
