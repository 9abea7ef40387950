"""The keys of `ptp watch`: what each asks of the run, and what came of it."""

from __future__ import annotations

import os
import select
import sys
import termios
import time
import tty
from collections.abc import Iterator
from contextlib import contextmanager

from ptp.cli.view import View
from ptp.errors import PtpError
from ptp.runs import Run

HELP = {
    "space": "pause or resume",
    "s": "play one tick, then pause",
    "b": "go back to the last snapshot; again at once: one further (also r)",
    "n": "take a snapshot",
    "+ -": "play twice or half as fast",
    "?": "show or hide this help",
    "q": "quit; the run continues",
}
AGAIN = 2.0  # seconds within which a second `b` goes one further
FASTEST = 1000  # ticks per second; twice as fast as more is unlimited


class Keys:
    """Acts on keys; what a run refuses is shown, and nothing ends by it."""

    def __init__(self, run: Run, view: View) -> None:
        self._run, self._view = run, view
        self._went_back = 0.0
        self._deeper = 1

    def press(self, key: str) -> bool:
        """Do what a key asks for; False when the user wants to leave."""
        if key in {"q", "Q", "\x1b"}:
            return False
        actions = {" ": self._pause, "s": self._step, "b": self._back, "r": self._back, "n": self._snapshot,
                   "+": self._faster, "=": self._faster, "-": self._slower, "?": self._help}  # fmt: skip
        if key in actions:
            try:
                self._view.message = actions[key]()
            except PtpError as problem:
                self._view.message = str(problem)
        return True

    def _pause(self) -> str:
        if self._view.paused:
            return f"resumed at tick {self._run.unpause().tick:,}"
        return f"paused at tick {self._run.pause().tick:,}"

    def _step(self) -> str:
        self._run.step()
        return "one tick"

    def _back(self) -> str:
        self._deeper = 2 if time.monotonic() - self._went_back < AGAIN else 1
        tick = self._run.rollback(self._deeper).tick
        self._went_back = time.monotonic()
        return f"went back to tick {tick:,}"

    def _snapshot(self) -> str:
        header = self._run.snapshot()
        return f"took snapshot {header.snapshot_id[:13]} at tick {header.tick:,}"

    def _faster(self) -> str:
        return self._pace(2.0)

    def _slower(self) -> str:
        return self._pace(0.5)

    def _pace(self, factor: float) -> str:
        rates = self._run.config.tick_rate
        if not rates.normal and factor > 1:
            return "the run is as fast as it can be"
        base = max(1, round((rates.normal or self._view.pace) * factor))
        battle = max(1, round(rates.battle * factor)) if rates.battle else 0
        if base > FASTEST:
            base = battle = 0
        self._run.set(tick_rate_base=base, tick_rate_battle=battle)
        return (
            f"{base:,} ticks per second" + (f", {battle:,} in battles" if battle != base else "")
            if base
            else ("as fast as it can be")
        )

    def _help(self) -> str:
        self._view.help = None if self._view.help else HELP
        return ""


@contextmanager
def reading_keys() -> Iterator[bool]:
    """Let single keys be read while entered; False where nobody can press one."""
    if not sys.stdin.isatty():
        yield False
        return
    before = termios.tcgetattr(sys.stdin)
    tty.setcbreak(sys.stdin)
    try:
        yield True
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


def next_keys(patience: float) -> str:
    """Return the keys that were pressed meanwhile; an escape sequence, such as an arrow, is none of them."""
    if not select.select([sys.stdin], [], [], patience)[0]:
        return ""
    keys = os.read(sys.stdin.fileno(), 64).decode("utf-8", "ignore")
    return keys if len(keys) == 1 or not keys.startswith("\x1b") else ""
