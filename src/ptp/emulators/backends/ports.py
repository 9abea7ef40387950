"""Ports for emulators: the wanted one, or the next that nobody has."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress

from ptp.errors import EmulatorError

HOST = "127.0.0.1"
TRIES = 200  # ports, with the wanted one


class Ports:
    """Hands out ports that are free on this machine, each to one emulator; used by many threads."""

    def __init__(self) -> None:
        self._taken: set[int] = set()
        self._lock = threading.Lock()

    def take(self, wanted: int) -> int:
        """Return a port on which nobody listens, until it is given back."""
        with self._lock:
            for port in range(wanted, min(wanted + TRIES, 65536)):
                if port not in self._taken and _is_free(port):
                    self._taken.add(port)
                    return port
        raise EmulatorError(f"none of {TRIES} ports from {wanted} on is free; choose other --ports")

    def give_back(self, port: int) -> None:
        """Let another emulator have a port."""
        with self._lock:
            self._taken.discard(port)


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        with suppress(OSError):
            probe.bind((HOST, port))
            return True
    return False
