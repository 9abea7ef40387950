"""Emulators that somebody else runs: servers that are given by their addresses."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from ptp.emulators.health import Vitals
from ptp.emulators.transport import split_login
from ptp.errors import EmulatorError, UsageError


class Server:
    """One such server; nothing is known of it but what it answers."""

    def __init__(self, backend: Urls, url: str, token: str | None) -> None:
        self.url, self.token = url, token
        self._backend = backend

    def vitals(self) -> Vitals:
        """Return nothing: only its answers tell how it is."""
        return Vitals(running=True, condition="run by somebody else")

    def stop(self) -> None:
        """Let it go; it runs on."""
        self._backend.give_back(self.url)


class Urls:
    """Hands out servers, each to one place of the pool."""

    name = "urls"

    def __init__(self, urls: Sequence[str], token: str | None = None) -> None:
        for url in urls:
            split_login(url)
        if not urls or len(set(urls)) < len(urls):
            raise UsageError(f"{len(urls)} addresses with {len(set(urls))} different ones; name each server once")
        self._free = list(urls)
        self._count = len(urls)
        self._token = token
        self._lock = threading.Lock()

    def prepare(self) -> None:
        """Nothing has to be there."""

    def start(self, port: int) -> Server:
        """Hand out a server that nobody has; the one that was given back longest ago comes first."""
        with self._lock:
            if not self._free:
                raise EmulatorError(f"all {self._count} servers are in use; name more of them")
            return Server(self, self._free.pop(0), self._token)

    def give_back(self, url: str) -> None:
        """Take a server back."""
        with self._lock:
            self._free.append(url)

    def most(self) -> int:
        """Return how many servers there are."""
        return self._count

    def close(self) -> None:
        """Nothing is left."""
