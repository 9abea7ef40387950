"""Two runs that play all the time: their memory must not grow."""

from __future__ import annotations

import os
import statistics
import time
from pathlib import Path

from benchmarks.soak.shell import Shell, Wrong

MOST_GROWTH = 1.10
ENOUGH = 12  # samples below which nothing can be said
EVERY = 5.0  # seconds between two samples


class LongRun:
    """A run that goes on beside everything else."""

    def __init__(self, folder: Path, world: str, agent: str, rate: int) -> None:
        folder.mkdir()
        self.world = world
        self.shell = Shell(folder)
        self._process = self.shell.begin(
            "run", "--world", world, "--agent", agent, "--tick-rate-base", str(rate), "--tick-rate-battle", str(rate),
            "--tick-rate-timeout", "0", "--snapshot-disk", "1000", "--quiet",
        )  # fmt: skip
        self._samples: list[float] = []
        self._sampled = 0.0

    def look(self) -> None:
        """Read its memory now and then; a run that has ended by itself is wrong."""
        if self._process.poll() is not None:
            raise Wrong(f"the long run in {self.world} has ended by itself: {self.shell.complaint().strip()}")
        if time.monotonic() - self._sampled >= EVERY:
            self._sampled = time.monotonic()
            self._samples.append(resident_megabytes(self._process.pid))

    def end(self) -> tuple[str, int]:
        """Stop it and return its id and exit code."""
        self._process.terminate()
        code = self._process.wait(60)
        (path,) = self.shell.records.iterdir()
        return path.name, code

    def kill(self) -> None:
        """End it in any case."""
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()

    def growth(self) -> float | None:
        """Return the memory of the last quarter against that of the second; None when it was too short to tell."""
        quarter = len(self._samples) // 4
        if len(self._samples) < ENOUGH:
            return None
        return statistics.median(self._samples[-quarter:]) / statistics.median(self._samples[quarter : 2 * quarter])

    def check(self) -> str:
        """Return its memory in words."""
        growth = self.growth()
        if growth is not None and growth > MOST_GROWTH:
            raise Wrong(f"the memory of {self.world} has grown to {growth:.2f} of what it was: {self._samples}")
        told = "too short to tell" if growth is None else f"{growth:.3f} of what it was"
        return f"{self._samples[-1]:.0f} MB, {told}" if self._samples else told


def begin_long_runs(folder: Path) -> list[LongRun]:
    """Begin a cartridge and an environment, both at a pace that leaves room for others."""
    return [
        LongRun(folder / "long-1", "tallgrass", "explorer", 30),
        LongRun(folder / "long-2", "CliffWalking-v1", "random", 500),
    ]


def resident_megabytes(process: int) -> float:
    """Return the memory that a process holds."""
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6
