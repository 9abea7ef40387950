"""What a pool needs of whoever runs its emulators."""

from __future__ import annotations

from typing import Protocol

from ptp.emulators.health import Vitals


class Running(Protocol):
    """An emulator that was started."""

    @property
    def url(self) -> str:
        """Where it answers."""
        ...

    @property
    def token(self) -> str | None:
        """What every request has to send; None when none is needed."""
        ...

    def vitals(self) -> Vitals:
        """Return how it is, without asking it over HTTP."""
        ...

    def stop(self) -> None:
        """End it, also one that is stuck, and free what it had."""
        ...


class Backend(Protocol):
    """Starts emulators; used by many threads at once."""

    @property
    def name(self) -> str:
        """What status and metrics call it."""
        ...

    def prepare(self) -> None:
        """Make sure that emulators can be started; otherwise say in one line what is missing."""
        ...

    def start(self, port: int) -> Running:
        """Start an emulator on a port, or on another one if that is taken; it may not answer yet."""
        ...

    def most(self) -> int | None:
        """Return how many emulators there can be; None for any number."""
        ...

    def close(self) -> None:
        """Let go of what is needed to start emulators; those that were started have ended."""
        ...
