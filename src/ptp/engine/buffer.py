"""Commands that wait between the agent and the world."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec

from ptp.config.tree import Command as CommandConfig


class Queued(msgspec.Struct, gc=False):
    """One waiting command: what it is for, since when, and which decision wanted it."""

    command: Any
    context: str
    since: float
    decision: int


class Dropped(NamedTuple):
    """Why a command was not applied."""

    queued: Queued
    kind: str
    message: str


class Buffer:
    """A bounded queue; what a decision wants beyond its size waits outside until there is room."""

    def __init__(self, config: CommandConfig) -> None:
        self.configure(config)
        self._queue: deque[Queued] = deque()
        self._outside: deque[Any] = deque()
        self._meant: tuple[str, int] = ("", 0)
        self.history: deque[tuple[int, str]] = deque(maxlen=config.rollback_history)

    def configure(self, config: CommandConfig) -> None:
        """Take over new settings; the history keeps its length."""
        self.size = config.buffer_size
        self.timeout = config.timeout
        self.stale = config.stale_threshold
        self.validate = config.validate

    def skip(self, seconds: float) -> None:
        """Let a pause not count as waiting."""
        for queued in self._queue:
            queued.since += seconds

    def __len__(self) -> int:
        return len(self._queue) + len(self._outside)

    def offer(self, commands: tuple[Any, ...], context: str, decision: int, now: float) -> None:
        """Queue a decision's commands, which were meant for a context."""
        if len(commands) == 1 and not self._queue:
            self._queue.append(Queued(commands[0], context, now, decision))
            return
        self._meant = (context, decision)
        self._outside.extend(commands)
        self._fill(now)

    def _fill(self, now: float) -> None:
        context, decision = self._meant
        while self._outside and len(self._queue) < self.size:
            self._queue.append(Queued(self._outside.popleft(), context, now, decision))

    def take(self, now: float, context: str) -> tuple[Queued | None, list[Dropped]]:
        """Return the next command to apply, and those that were dropped on the way to it."""
        dropped: list[Dropped] = []
        while self._queue:
            queued = self._queue.popleft()
            if self._outside:
                self._fill(now)
            waited = now - queued.since
            if waited > self.timeout:
                dropped.append(Dropped(queued, "command_timeout", f"dropped a command that waited {waited:.1f} s"))
            elif self.validate and queued.context != context:
                message = f"dropped a command meant for {queued.context!r}, now {context!r}"
                dropped.append(Dropped(queued, "command_invalid", message))
            else:
                return queued, dropped
        return None, dropped

    def save(self, encode: Callable[[Any], str], now: float) -> dict[str, Any]:
        """Return the waiting commands and the history as JSON-safe data."""
        queue = [[encode(item.command), item.context, now - item.since, item.decision] for item in self._queue]
        outside = [encode(command) for command in self._outside]
        return {"queue": queue, "outside": outside, "meant": list(self._meant), "history": list(self.history)}

    def load(self, state: dict[str, Any], decode: Callable[[str], Any], now: float) -> None:
        """Return to saved commands; each has waited as long as it had then."""
        self.clear()
        for text, context, waited, decision in state["queue"]:
            self._queue.append(Queued(decode(text), context, now - waited, decision))
        self._outside.extend(decode(text) for text in state["outside"])
        context, decision = state["meant"]
        self._meant = (context, decision)
        self.history.clear()
        self.history.extend((tick, text) for tick, text in state["history"])

    def clear(self) -> list[Queued]:
        """Forget every waiting command and return them."""
        context, decision = self._meant
        waiting = [*self._queue, *(Queued(command, context, 0.0, decision) for command in self._outside)]
        self._queue.clear()
        self._outside.clear()
        return waiting
