"""Steering a live run: a Unix socket in its directory, one JSON line per request and per answer."""

from __future__ import annotations

import json
import os
import socket
import threading
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ptp._util.clock import Clock, SystemClock
from ptp.errors import PtpError
from ptp.recording import RunDirectory

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
    """Takes requests on threads of its own; the run answers them between two ticks."""

    def __init__(self, directory: Path, clock: Clock) -> None:
        self.waiting: deque[Request] = deque()
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
                connection.sendall(json.dumps(self._answer(lines.readline(MOST_REQUEST))).encode() + b"\n")
            except OSError:
                return  # the client has gone; what it asked for is done all the same

    def _answer(self, line: bytes) -> dict[str, Any]:
        try:
            arguments = json.loads(line)
            request = Request(str(arguments.pop("verb")), arguments)
        except (ValueError, KeyError, AttributeError):
            return {"error": "a request is one line of JSON with a verb"}
        self.waiting.append(request)
        if isinstance(self._clock, SystemClock):
            self._clock.wake()
        if not request.answered.wait(PATIENCE):
            return {"error": f"the run did not come round to it within {PATIENCE:.0f} s"}
        assert request.answer is not None
        return request.answer

    def close(self) -> None:
        """Take no more requests; those that wait are told that the run has ended."""
        self._socket.close()
        self._path.unlink(missing_ok=True)
        while self.waiting:
            self.waiting.popleft().reply({"error": "the run has ended"})


def ask(directory: RunDirectory, verb: str, **arguments: Any) -> dict[str, Any]:
    """Ask a live run to do something, and return its answer."""
    connection = socket.socket(socket.AF_UNIX)
    with connection:
        connection.settimeout(PATIENCE + 5)
        try:
            _with_short_path(directory.path / SOCKET, connection.connect)
            connection.sendall(json.dumps({"verb": verb, **arguments}).encode() + b"\n")
            with connection.makefile("rb") as lines:
                answer: dict[str, Any] = json.loads(lines.readline() or b'{"error": "the run has ended"}')
        except OSError:
            message = f"run {directory.run_id} is not running; go on with it by `ptp resume {directory.run_id}`"
            raise NotRunning(message) from None
    if "error" in answer:
        raise PtpError(answer["error"])
    return answer


def _with_short_path(path: Path, use: Callable[[str], None]) -> None:
    """Call *use* with a path to the socket that is short enough for the kernel, however deep the folder lies."""
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        use(f"/proc/self/fd/{folder}/{path.name}" if os.path.isdir("/proc/self/fd") else str(path))
    finally:
        os.close(folder)
