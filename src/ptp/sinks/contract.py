"""What every sink is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from ptp.records import Record, RunResult
from ptp.sinks.context import RunContext


class Sink:
    """Hears one run from its beginning to its end; each method may be left out.

    A sink of one's own runs on a thread beside the run. If it is too slow it loses records, and if it raises it
    hears no more; the run goes on in both cases, and says so.
    """

    inline: ClassVar[bool] = False
    """Whether it is called by the run's own thread between two ticks; then it must be quick and must not raise."""

    each_tick: bool = False
    """Whether an inline sink is called after every single tick, while the world still shows it."""

    def began(self, run: RunContext) -> None:
        """The run is about to play its first tick, here or at all."""

    def took(self, records: Sequence[Record]) -> None:
        """Some records, in order; those of one tick come together."""

    def rewound(self, tick: int) -> None:
        """The run went back: what came after *tick* did not happen."""

    def ended(self, result: RunResult) -> None:
        """The run is over."""
