"""How fast ticks follow each other."""

from __future__ import annotations

from collections import deque

from ptp._util.clock import Clock
from ptp.config import RunConfig

RECENT = 10  # decisions over which the latency is averaged


class Pace:
    """Keeps the tick rate: base or battle, slower when the agent is, half when the budget is spent."""

    def __init__(self, config: RunConfig, clock: Clock) -> None:
        self.configure(config)
        self._clock = clock
        self._latencies: deque[float] = deque(maxlen=RECENT)
        self._next = clock.monotonic()

    def configure(self, config: RunConfig) -> None:
        """Take over new rates; as fast as possible is meant for battles too, unless they were given a rate."""
        self.base, self.adaptive = config.tick_rate.normal, config.tick_rate.adaptive
        self.engaged = config.tick_rate.battle if self.base or "tick_rate.battle" in config.given else 0
        self.interval = config.agent.step_interval_ms / 1000
        self.limited = bool(self.base or self.engaged or self.adaptive or self.interval)

    def heard(self, latency_ms: float) -> None:
        """Remember how long a decision took."""
        self._latencies.append(latency_ms)

    def target(self, engaged: bool, over_budget: bool) -> float:
        """Return the ticks per second to keep now; 0 is as fast as possible."""
        rate = self._wanted(engaged, over_budget)
        if not self.interval:
            return rate
        return min(rate or 1 / self.interval, 1 / self.interval)

    def _wanted(self, engaged: bool, over_budget: bool) -> float:
        rate: float = self.engaged if engaged and self.engaged else self.base
        if not self.adaptive:
            return rate
        if over_budget:
            return self.base * 0.5
        latency = sum(self._latencies) / len(self._latencies) if self._latencies else 0.0
        if latency <= 0:
            return rate
        return min(rate, 1000 / latency) if rate else 1000 / latency

    def wait(self, rate: float) -> None:
        """Sleep until the next tick is due; a late tick is not made up for by a burst."""
        now = self._clock.monotonic()
        if not rate:
            self._next = now
            return
        if self._next > now:
            self._clock.sleep(self._next - now)
            now = self._clock.monotonic()
        self._next = max(self._next, now - 1 / rate) + 1 / rate
