"""Steering a live run: a Unix socket in its directory."""

from __future__ import annotations

import os
import socket
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import msgspec

from ptp._util.clock import Clock
from ptp._util.files import UNFINISHED
from ptp.errors import PtpError
from ptp.recording import RunDirectory
from ptp.runner.live import LiveFeed
from ptp.runner.protocol import Answer, Line, Picture, Request, Watch, read_answer, read_line, read_request, write

SOCKET = "control.sock"
MOST_REQUEST = 64 << 10  # bytes
PATIENCE = 60.0  # seconds a client waits for an answer


class NotRunning(PtpError):
    """The run has no process that could be steered."""


class Asked:
    """A request, and the answer that its client waits for."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.answer: Answer | None = None
        self.answered = threading.Event()

    def reply(self, answer: Answer) -> None:
        """Let the client have its answer."""
        self.answer = answer
        self.answered.set()


class ControlServer:
    """Takes requests on threads of its own; the run answers them between two ticks.

    Two do not wait for it: `Watch` is answered with line after line of what happens, for as long as the client
    listens, and `Picture` with a picture from memory.
    """

    def __init__(self, directory: Path, clock: Clock, live: LiveFeed) -> None:
        self.waiting: deque[Asked] = deque()
        self._live = live
        self._clock = clock
        self._path = directory / SOCKET
        self._socket = socket.socket(socket.AF_UNIX)
        unfinished = directory / f".{SOCKET}{UNFINISHED}"  # who sees the socket by its name is answered
        unfinished.unlink(missing_ok=True)
        with_short_path(unfinished, self._socket.bind)
        os.chmod(unfinished, 0o600)
        self._socket.listen()
        os.replace(unfinished, self._path)
        threading.Thread(target=self._accept, name="control", daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return  # the socket was closed: the run has ended
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        # The client may have gone; what it asked for is done all the same.
        with suppress(OSError), connection, connection.makefile("rb") as lines:
            connection.settimeout(PATIENCE)
            try:
                request: Request = read_request(lines.readline(MOST_REQUEST))
            except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as problem:
                connection.sendall(write(Answer(error=f"not a request: {problem}")) + b"\n")
                return
            if isinstance(request, Watch):
                self._clock.wake()
                self._live.serve(connection)
            else:
                connection.sendall(write(self._answer(request)) + b"\n")

    def _answer(self, request: Request) -> Answer:
        if isinstance(request, Picture):
            frame = self._live.held(request.tick)
            missing = f"no picture of tick {request.tick}, or before it, is in memory"
            return Answer(error=missing) if frame is None else Answer(frame=frame)
        asked = Asked(request)
        self.waiting.append(asked)
        self._clock.wake()
        if not asked.answered.wait(PATIENCE):
            return Answer(error=f"the run did not answer within {PATIENCE:.0f} s")
        assert asked.answer is not None
        return asked.answer

    def close(self) -> None:
        """Take no more requests; those that wait or watch hear that the run has ended."""
        self._live.close()
        self._socket.close()
        self._path.unlink(missing_ok=True)
        while self.waiting:
            self.waiting.popleft().reply(Answer(error="the run has ended"))


def ask(directory: RunDirectory, request: Request, patience: float = PATIENCE + 5) -> Answer:
    """Ask a live run to do something, and return its answer; one that is silent for so many seconds is not running."""
    with connect(directory) as connection:
        connection.settimeout(patience)
        try:
            connection.sendall(write(request) + b"\n")
            with connection.makefile("rb") as lines:
                answer = read_answer(lines.readline() or b'{"error": "the run has ended"}')
        except OSError:
            raise not_running(directory) from None
        except msgspec.DecodeError as problem:
            raise PtpError(f"run {directory.run_id} answered {problem}; it may be of another version of ptp") from None
    if answer.error is not None:
        raise PtpError(answer.error)
    return answer


def watch(directory: RunDirectory) -> Iterator[Line]:
    """Return what a live run reports, line by line, until it ends."""
    with connect(directory) as connection:
        connection.settimeout(PATIENCE)
        try:
            connection.sendall(write(Watch()) + b"\n")
            with connection.makefile("rb") as lines:
                for line in lines:
                    if line.strip():
                        yield read_line(line)
        except OSError:
            return  # the run was killed


def not_running(directory: RunDirectory) -> NotRunning:
    """Return the error of a run that nobody plays, with the verb that resumes it."""
    return NotRunning(f"run {directory.run_id} is not running; resume it with `ptp resume {directory.run_id}`")


def connect(directory: RunDirectory) -> socket.socket:
    """Return a connection to a live run, for one who speaks to it in a way of their own."""
    connection = socket.socket(socket.AF_UNIX)
    try:
        with_short_path(directory.path / SOCKET, connection.connect)
    except OSError:
        connection.close()
        raise not_running(directory) from None
    return connection


def with_short_path(path: Path, use: Callable[[str], None]) -> None:
    """Call *use* with a path to the socket that is short enough for the kernel, however deep the folder lies."""
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        use(f"/proc/self/fd/{folder}/{path.name}" if os.path.isdir("/proc/self/fd") else str(path))
    finally:
        os.close(folder)
