"""Trouble for a pool: emulators that are killed, stopped, or whose answers are damaged on their way."""

from __future__ import annotations

import os
import random
import signal
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from ptp.emulators.backends import Processes
from ptp.emulators.backends.processes import Process
from ptp.emulators.health import Vitals
from ptp.emulators.pool import EmulatorPool

SCRIPT = """WAIT {wait}
REPEAT {rounds} {{
  PRESS START
  PRESS A {presses}
  MOVE {direction} 2
}}
CHECKPOINT "half"
PRESS B 2
CHECKPOINT "end"
"""


def scripts(number: int, rounds: int = 6) -> list[str]:
    """Return different scripts."""
    directions = ("UP", "DOWN", "LEFT", "RIGHT")
    return [
        SCRIPT.format(wait=30 + it % 97, rounds=rounds, presses=1 + it % 4, direction=directions[it % 4])
        for it in range(number)
    ]


def free_ports(number: int) -> list[int]:
    """Return ports on which nobody listens."""
    sockets = [socket.socket() for _ in range(number)]
    try:
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()


class Damager:
    """A proxy before an emulator; when told, it changes one letter of the next long answer."""

    def __init__(self, port: int) -> None:
        self.damaged = 0
        self.wanted = 0
        self._port = port
        self._open: set[socket.socket] = set()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            try:
                server = socket.create_connection(("127.0.0.1", self._port))
            except OSError:
                client.close()
                continue
            self._open |= {client, server}
            for pair, damages in (((client, server), False), ((server, client), True)):
                thread = threading.Thread(target=self._pass, args=(*pair, damages))
                self._threads.append(thread)
                thread.start()

    def _pass(self, source: socket.socket, target: socket.socket, damages: bool) -> None:
        with suppress(OSError):
            while data := source.recv(1 << 16):
                if damages and self.wanted > self.damaged and len(data) > 400:
                    self.damaged += 1
                    place = len(data) - 120
                    data = data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]
                target.sendall(data)
        for end in (source, target):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """End the proxy, its connections and its threads."""
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for each in list(self._open):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()
        for each in self._open:
            each.close()


class Damaged:
    """An emulator behind such a proxy."""

    token = None

    def __init__(self, running: Process) -> None:
        self.running = running
        self.damager = Damager(int(running.url.rpartition(":")[2]))
        self.url = self.damager.url

    def vitals(self) -> Vitals:
        """Return how the process is."""
        return self.running.vitals()

    def stop(self) -> None:
        """End both."""
        self.running.stop()
        self.damager.close()


class Troubled(Processes):
    """Processes, all of them behind proxies."""

    def __init__(self, world: str, data_dir: Path) -> None:
        super().__init__(world, data_dir=data_dir)
        self.started: list[Damaged] = []

    def start(self, port: int) -> Damaged:  # type: ignore[override] # the same contract
        """Start an emulator behind a proxy."""
        made = Damaged(super().start(port))
        self.started.append(made)
        return made


@dataclass
class Trouble:
    """What was done to a pool."""

    killed: int = 0
    stopped: int = 0
    damaged: int = 0

    @property
    def total(self) -> int:
        """How often it was troubled."""
        return self.killed + self.stopped + self.damaged


@contextmanager
def trouble(pool: EmulatorPool, backend: Troubled, every: float, most: int | None = None) -> Iterator[Trouble]:
    """Kill, stop or damage one emulator that serves after the other, for as long as the block takes."""
    done, over, dice = Trouble(), threading.Event(), random.Random(1)

    def work() -> None:
        while not over.wait(every) and (most is None or done.total < most):
            serving = {it.url for it in pool.status().members if it.level != "failed"}
            victims = [it for it in backend.started if it.url in serving and it.running.process.poll() is None]
            if victims:
                _harm(dice.choice(victims), done)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield done
    finally:
        over.set()
        thread.join()


def _harm(victim: Damaged, done: Trouble) -> None:
    """Do the next kind of harm."""
    pid = victim.running.process.pid
    with suppress(ProcessLookupError):
        match done.total % 3:
            case 0:
                os.kill(pid, signal.SIGKILL)
                done.killed += 1
            case 1:
                os.kill(pid, signal.SIGSTOP)
                done.stopped += 1
            case _:
                victim.damager.wanted += 1
                done.damaged += 1


def leftovers(backend: Troubled, threads_before: int) -> list[str]:
    """Return what a closed pool has left behind: processes, ports and threads."""
    pids = [it.running.process.pid for it in backend.started]
    left = [f"process {pid}" for pid in pids if psutil.pid_exists(pid)]
    for url in {it.running.url for it in backend.started}:
        with socket.socket() as probe:
            probe.settimeout(1)
            if probe.connect_ex(("127.0.0.1", int(url.rpartition(":")[2]))) == 0:
                left.append(url)
    until = time.monotonic() + 10
    while threading.active_count() > threads_before and time.monotonic() < until:
        time.sleep(0.05)
    left += [thread.name for thread in threading.enumerate()][threads_before:]
    return left
