"""The newest state of a game, for as long as it can't have changed."""

from __future__ import annotations

import threading
from typing import Generic, TypeVar

from ptp._util.clock import Clock

T = TypeVar("T")


class StateCache(Generic[T]):
    """Holds one state; an input clears it, and it is never older than *max_age* seconds."""

    def __init__(self, max_age: float = 1.0, clock: Clock | None = None) -> None:
        self.max_age = max_age
        self._now = (clock or Clock()).monotonic
        self._lock = threading.Lock()
        self._held: tuple[T, float] | None = None
        self._generation = 0
        self.hits = self.misses = 0

    def get(self) -> T | None:
        """Return the state, unless it may be stale."""
        with self._lock:
            if self._held is not None and self._now() - self._held[1] <= self.max_age:
                self.hits += 1
                return self._held[0]
            self.misses += 1
            return None

    def clear(self) -> int:
        """Forget the state; what is asked for from now on has the number that is returned."""
        with self._lock:
            self._held = None
            self._generation += 1
            return self._generation

    @property
    def generation(self) -> int:
        """The number of times the state was cleared."""
        return self._generation

    def put(self, state: T, generation: int) -> None:
        """Hold a state that was asked for in a generation; one of an older generation is stale already."""
        with self._lock:
            if generation == self._generation:
                self._held = (state, self._now())
