"""Whether a run's memory stays flat: after 1,000,000 ticks against after 50,000, in the same run."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.common import play, report
from ptp.records import Record
from ptp.runner.services import resident_megabytes
from ptp.sinks import RunContext, Sink


class Gauge(Sink):
    """Reads the memory ten times a second."""

    inline = True

    def __init__(self) -> None:
        self.readings: list[tuple[int, float]] = []

    def began(self, run: RunContext) -> None:
        self._progress = run.play.progress
        self._looked = 0.0

    def took(self, records: Sequence[Record]) -> None:
        if self._progress.elapsed - self._looked < 0.1:
            return
        self._looked = self._progress.elapsed
        memory = resident_megabytes()
        assert memory is not None, "this system does not tell the memory of a process"
        self.readings.append((self._progress.ticks, memory))


def main() -> None:
    gauge = Gauge()
    play(sink=gauge, world="CliffWalking-v1", max_ticks=1_000_000)
    early = next(memory for ticks, memory in gauge.readings if ticks >= 50_000)
    late = gauge.readings[-1][1]
    report("memory", late / early, 1.10, at_least=False, unit="of the memory after 50,000 ticks",
           early_mb=round(early, 1), late_mb=round(late, 1))  # fmt: skip


if __name__ == "__main__":
    main()
