"""Commands that wait between the agent and the world."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import msgspec

from ptp.config.tree import Command as CommandConfig
from ptp.engine.state import BufferState


class Queued(msgspec.Struct, gc=False):
    """One waiting command: what it is for, since when, and which decision wanted it."""

    command: Any
    context: str
    since: float
    decision: int
    doubted: bool = False
    """Whether it was warned about."""


class Dropped(NamedTuple):
    """Why a command was not applied."""

    queued: Queued
    kind: str
    message: str


class Buffer:
    """A bounded queue; what a decision wants beyond its size waits outside until there is room."""

    def __init__(self, config: CommandConfig) -> None:
        self.configure(config)
        self.queue: deque[Queued] = deque()
        self._outside: deque[Queued] = deque()
        self.history: deque[tuple[int, str]] = deque(maxlen=config.rollback_history)

    def configure(self, config: CommandConfig) -> None:
        """Take over new settings; the history keeps its length."""
        self.size = config.buffer_size
        self.timeout = config.timeout
        self.stale = config.stale_threshold
        self.validate = config.validate
        self.remove_invalid = config.remove_invalid

    def skip(self, seconds: float) -> None:
        """Let a pause not count as waiting."""
        for queued in self.queue:
            queued.since += seconds

    def __len__(self) -> int:
        return len(self.queue) + len(self._outside)

    def offer(self, commands: tuple[Any, ...], context: str, decision: int, now: float) -> None:
        """Queue a decision's commands, which were meant for a context."""
        if len(commands) == 1 and not self._outside and len(self.queue) < self.size:
            self.queue.append(Queued(commands[0], context, now, decision))
            return
        self._outside.extend(Queued(command, context, now, decision) for command in commands)
        self._fill(now)

    def _fill(self, now: float) -> None:
        while self._outside and len(self.queue) < self.size:
            queued = self._outside.popleft()
            queued.since = now
            self.queue.append(queued)

    def take(self, now: float) -> tuple[Queued | None, Sequence[Dropped]]:
        """Return the next command to apply, and those that were dropped on the way to it."""
        if not self._outside and now - self.queue[0].since <= self.timeout:
            return self.queue.popleft(), ()
        dropped: list[Dropped] = []
        while self.queue:
            queued = self.queue.popleft()
            if self._outside:
                self._fill(now)
            waited = now - queued.since
            if waited > self.timeout:
                dropped.append(Dropped(queued, "command_timeout", f"Command timed out: it waited {waited:.1f} s"))
            else:
                return queued, dropped
        return None, dropped

    def take_again(self, text: str, encode: Callable[[Any], str]) -> Queued | None:
        """Return the command that was applied next; those before it were dropped, and without it all were."""
        while self.queue:
            queued = self.queue.popleft()
            if self._outside:
                self._fill(queued.since)
            if encode(queued.command) == text:
                return queued
        return None

    def doubt(self, context: str) -> tuple[list[Dropped], list[str]]:
        """Return the commands that were removed since they are meant for another context, and warnings of the others.

        The whole queue is looked at; a command that stays is warned about once.
        """
        removed, warnings = [], []
        for queued in [*self.queue, *self._outside]:
            if queued.context == context or queued.doubted:
                continue
            queued.doubted = True
            message = f"Command may be invalid: it is meant for {queued.context!r}, now {context!r}"
            if self.remove_invalid:
                removed.append(Dropped(queued, "command_invalid", message))
            else:
                warnings.append(message)
        if removed:
            self.queue = deque(queued for queued in self.queue if not queued.doubted)
            self._outside = deque(queued for queued in self._outside if not queued.doubted)
        return removed, warnings

    def save(self, encode: Callable[[Any], str], now: float) -> BufferState:
        """Return the waiting commands and the history."""
        queue = [(encode(item.command), item.context, now - item.since, item.decision) for item in self.queue]
        outside: list[tuple[str, str, int] | str] = [
            (encode(item.command), item.context, item.decision) for item in self._outside
        ]
        return BufferState(queue, outside, list(self.history))

    def load(self, state: BufferState, decode: Callable[[str], Any], now: float) -> None:
        """Return to saved commands; each has waited as long as it had then."""
        self.clear()
        for text, context, waited, decision in state.queue:
            self.queue.append(Queued(decode(text), context, now - waited, decision))
        for item in state.outside:
            text, context, decision = (item, "", -1) if isinstance(item, str) else item
            self._outside.append(Queued(decode(text), context, now, decision))
        self.history.clear()
        self.history.extend(state.history)

    def clear(self) -> list[Queued]:
        """Forget every waiting command and return them."""
        waiting = [*self.queue, *self._outside]
        self.queue.clear()
        self._outside.clear()
        return waiting
