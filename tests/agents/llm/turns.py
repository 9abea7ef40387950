"""Processes in which many agents wait for their turn; nothing here loads what speaks to models."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path
from typing import Any

from ptp.agents.llm.limiter import Limiter

PROCESSES, AGENTS, CALLS = 4, 25, 3  # 100 agents, 300 calls


class FileClock:
    """A clock that all processes share, and that one of them turns."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def time(self) -> float:
        """Return the present second."""
        return float(self._path.read_text() or 0)

    def sleep(self, seconds: float) -> None:
        """Wait for a moment, in which the clock may be turned."""
        time.sleep(0.03)


def set_clock(path: Path, now: float) -> None:
    """Turn the clock of all processes."""
    path.with_suffix(".new").write_text(str(now))
    os.replace(path.with_suffix(".new"), path)


def call_often(folder: str, together: Any) -> None:
    """Let the agents of a process make their calls, once all processes are there."""
    clock: Any = FileClock(Path(folder, "clock"))
    done = 0

    def agent() -> None:
        nonlocal done
        limiter = Limiter(Path(folder), "local", 100, clock=clock)
        for _ in range(CALLS):
            limiter.acquire()
        done += 1

    threads = [threading.Thread(target=agent) for _ in range(AGENTS)]
    together.wait(120)
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert done == AGENTS
