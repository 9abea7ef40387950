"""What may be spent per hour, per day or per run."""

from __future__ import annotations

from ptp._util.clock import Clock
from ptp.config.tree import TickRate
from ptp.engine.state import BudgetState

PERIODS = {"hourly": 3600, "daily": 86400}


class Budget:
    """Counts dollars within the present period; hours begin at :00 and days at midnight, in UTC."""

    def __init__(self, config: TickRate, clock: Clock) -> None:
        self.mode = config.budget
        self.limit = config.budget_limit
        self._clock = clock
        self._period = self._present()
        self.spent = 0.0

    def _present(self) -> int:
        return int(self._clock.time() // PERIODS[self.mode]) if self.mode in PERIODS else 0

    def spend(self, cost: float) -> None:
        """Count *cost* in the present period."""
        self._turn()
        self.spent += cost

    def exceeded(self) -> bool:
        """Whether more than the limit is spent in the present period."""
        if self.limit is None:
            return False
        self._turn()
        return self.spent > self.limit

    def _turn(self) -> None:
        period = self._present()
        if period != self._period:
            self._period, self.spent = period, 0.0

    def save(self) -> BudgetState:
        """Return period and spending."""
        return BudgetState(self._period, self.spent)

    def load(self, state: BudgetState) -> None:
        """Return to a saved period and spending."""
        self._period, self.spent = state.period, state.spent
