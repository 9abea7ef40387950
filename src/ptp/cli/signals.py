"""Ctrl-C and SIGTERM end a verb alike: what is under way unwinds, and cleans up after itself."""

from __future__ import annotations

import signal
import sys
import threading
from contextlib import AbstractContextManager, nullcontext
from types import FrameType, TracebackType
from typing import Any

AGAIN = 0.005  # seconds until a signal that was swallowed is sent again


class Terminated(KeyboardInterrupt):
    """SIGTERM, which ends a verb as Ctrl-C does."""


def hearing() -> AbstractContextManager[object]:
    """Return what hears signals while entered; only the main thread can."""
    return _Ears() if threading.current_thread() is threading.main_thread() else nullcontext()


class _Ears:
    """Raises at SIGTERM, and sends a signal again whose error was swallowed.

    An emulator's compiled code prints errors that are raised inside it, and continues; a signal mostly comes there.
    """

    def __enter__(self) -> None:
        self._missed = signal.SIGINT
        self._hooks = sys.excepthook, sys.unraisablehook
        self._old = {number: signal.signal(number, self._hear) for number in (signal.SIGTERM, signal.SIGALRM)}
        sys.excepthook, sys.unraisablehook = self._printed, self._swallowed

    def __exit__(self, *problem: object) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)
        sys.excepthook, sys.unraisablehook = self._hooks
        for number, handler in self._old.items():
            signal.signal(number, handler or signal.SIG_DFL)

    def _hear(self, number: int, frame: FrameType | None) -> None:
        if number == signal.SIGTERM:
            raise Terminated
        signal.raise_signal(self._missed)

    def _printed(self, kind: type[BaseException], problem: BaseException, trace: TracebackType | None) -> None:
        if not issubclass(kind, KeyboardInterrupt):
            self._hooks[0](kind, problem, trace)

    def _swallowed(self, caught: Any) -> None:
        if not issubclass(caught.exc_type, KeyboardInterrupt):
            self._hooks[1](caught)
            return
        self._missed = signal.SIGTERM if issubclass(caught.exc_type, Terminated) else signal.SIGINT
        signal.setitimer(signal.ITIMER_REAL, AGAIN)
