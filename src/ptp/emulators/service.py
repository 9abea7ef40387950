"""A pool that lives in a process of its own: its folder, the requests it takes on a socket, and asking it."""

from __future__ import annotations

import fcntl
import logging
import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
from msgspec import Meta, Struct

from ptp._util.clock import iso
from ptp._util.files import UNFINISHED, write_atomic
from ptp.emulators.results import ExecutionResult, Task
from ptp.emulators.status import PoolStatus
from ptp.errors import PtpError, UsageError
from ptp.runner.control import with_short_path

if TYPE_CHECKING:
    from ptp.emulators.pool import EmulatorPool

FOLDER = "pool"
STATE, SOCKET, LOCK, LOG = "pool.json", "control.sock", "lock", "pool.log"
MOST_REQUEST = 64 << 20  # bytes
PATIENCE = 3600.0  # seconds in which an answer is awaited: many scripts take long
log = logging.getLogger("ptp.pool")


class Started(Struct, frozen=True, kw_only=True):
    """What the state file of a pool says."""

    pid: int
    started_at: str
    world: str
    backend: str
    choice: str


class Status(Struct, frozen=True, tag="status", tag_field="verb"):
    """How is the pool?"""


class Scale(Struct, frozen=True, tag="scale", tag_field="verb"):
    """Grow or shrink."""

    size: Annotated[int, Meta(ge=1)]


class Exec(Struct, frozen=True, tag="exec", tag_field="verb"):
    """Do tasks."""

    tasks: list[Task]


class Stop(Struct, frozen=True, tag="stop", tag_field="verb"):
    """End the pool."""


class Answer(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the pool says."""

    error: str | None = None
    started: Started | None = None
    status: PoolStatus | None = None
    results: list[ExecutionResult] = []


Request = Status | Scale | Exec | Stop
_read_request = msgspec.json.Decoder(Request).decode
_read_answer = msgspec.json.Decoder(Answer).decode


class NoPool(PtpError):
    """No pool runs for a data directory."""


# -- the pool's own side ---------------------------------------------------------------------------------------


@contextmanager
def owned(data_dir: Path) -> Iterator[Path]:
    """Have the folder of the pool for as long as the block takes; there is one pool for a data directory."""
    folder = data_dir / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / LOCK).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise UsageError(f"a pool runs already for {data_dir}; end it with `ptp pool stop`") from None
        _forget(folder)  # what a pool that was killed has left
        try:
            yield folder
        finally:
            _forget(folder)


def _forget(folder: Path) -> None:
    for name in (STATE, SOCKET):
        (folder / name).unlink(missing_ok=True)


class PoolServer:
    """Answers requests on a socket, each on a thread of its own, until one of them is to stop."""

    def __init__(self, folder: Path, pool: EmulatorPool, world: str, choice: str) -> None:
        self._pool = pool
        self._over = threading.Event()
        self._started = Started(
            pid=os.getpid(), started_at=iso(time.time()), world=world, backend=pool.backend.name, choice=choice
        )
        self._socket = socket.socket(socket.AF_UNIX)
        unfinished = folder / f".{SOCKET}{UNFINISHED}"  # who sees the socket by its name is answered
        unfinished.unlink(missing_ok=True)
        with_short_path(unfinished, self._socket.bind)
        os.chmod(unfinished, 0o600)
        self._socket.listen()
        os.replace(unfinished, folder / SOCKET)
        write_atomic(folder / STATE, msgspec.json.encode(self._started))
        threading.Thread(target=self._accept, name="pool-control", daemon=True).start()

    def serve(self) -> None:
        """Return when somebody has asked the pool to stop."""
        try:
            self._over.wait()
        finally:
            self._socket.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return  # the socket was closed: the pool ends
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with suppress(OSError), connection, connection.makefile("rb") as lines:  # the client may have gone
            answer, is_last = self._answer(lines.readline(MOST_REQUEST))
            connection.sendall(msgspec.json.encode(answer) + b"\n")
            if is_last:
                self._over.set()

    def _answer(self, line: bytes) -> tuple[Answer, bool]:
        try:
            request = _read_request(line)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as problem:
            return Answer(error=f"not a request: {problem}"), False
        results: list[ExecutionResult] = []
        try:
            if isinstance(request, Scale):
                self._pool.scale(request.size)
            elif isinstance(request, Exec):
                results = self._pool.execute_many(request.tasks)
        except PtpError as problem:
            return Answer(error=str(problem)), False
        except Exception as problem:
            log.exception("a request failed")
            return Answer(error=f"the pool could not do it: {problem!r}; see its log"), False
        answer = Answer(started=self._started, status=self._pool.status(), results=results)
        return answer, isinstance(request, Stop)


# -- asking it -------------------------------------------------------------------------------------------------


def ask(data_dir: Path, request: Request, patience: float = PATIENCE) -> Answer:
    """Ask the pool of a data directory, and return its answer."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(patience)
        try:
            with_short_path(data_dir / FOLDER / SOCKET, connection.connect)
            connection.sendall(msgspec.json.encode(request) + b"\n")
            with connection.makefile("rb") as lines:
                line = lines.readline()
        except TimeoutError:
            raise PtpError(f"the pool of {data_dir} is silent for {patience:g} s; see `ptp pool stop`") from None
        except OSError:
            line = b""
    if not line:
        raise NoPool(f"no pool runs for {data_dir}; start one with `ptp pool start`")
    try:
        answer = _read_answer(line)
    except msgspec.DecodeError as problem:
        raise PtpError(f"the pool of {data_dir} answered {problem}; it may be of another version of ptp") from None
    if answer.error is not None:
        raise PtpError(answer.error)
    return answer


def read_started(data_dir: Path) -> Started | None:
    """Return what the state file says; None without a pool."""
    with suppress(FileNotFoundError):
        return msgspec.json.decode((data_dir / FOLDER / STATE).read_bytes(), type=Started)
    return None


def is_running(data_dir: Path) -> bool:
    """Whether a process has the pool of a data directory."""
    try:
        with (data_dir / FOLDER / LOCK).open() as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return False
