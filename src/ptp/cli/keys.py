"""The keys of `ptp watch`: what each asks of the run, and what came of it."""

from __future__ import annotations

import os
import re
import select
import sys
import termios
import time
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise

from ptp.cli.view import View
from ptp.errors import PtpError
from ptp.runner.control import ask
from ptp.runner.protocol import Status
from ptp.runs import Run

LEFT = "left arrow"
HELP = {
    "space": "pause or resume",
    "s": "play one tick, then pause",
    "←": "hold to go back, ever faster",
    "b": "go back to the last snapshot; again at once: one further (also r)",
    "n": "take a snapshot",
    "+ -": "play twice or half as fast",
    "?": "show or hide this help",
    "q": "quit; the run continues",
}
KEY = re.compile(r"(\x1b[\[O]D)|\x1b[\[O][0-9;]*.|(.)", re.DOTALL)  # the left arrow, another sequence, a key
TAPPED, REPEATED = 0.75, 0.25  # seconds of silence after which a key is let go; terminals repeat it only after a while
REST = 0.03  # seconds in which the rest of an escape sequence comes
DOUBLES = 1.0  # seconds after which a step back is twice as long
MOST = 1024  # ticks in a step back
AGAIN = 2.0  # seconds within which a second `b` goes one further
FASTEST = 1000  # ticks per second; twice as fast as more is unlimited


class GoingBack:
    """Takes a run back while a key is held; the run is paused meanwhile, and plays on afterwards."""

    def __init__(self, run: Run) -> None:
        now = ask(run.directory, Status()).now
        assert now is not None
        self._run, self._resumes = run, not now.paused
        self._tick = run.pause().tick
        self._began = self._last = time.monotonic()
        self._steps = 0
        self._problem = ""

    def step(self) -> str:
        """Go back once more, the further the longer the key is held; after a problem, no more."""
        held = time.monotonic() - self._began
        ticks = min(self._tick, MOST, 2 ** int(held / DOUBLES))
        self._steps += 1
        try:
            if ticks and not self._problem:
                self._tick = self._run.rewind(ticks).tick
        except PtpError as problem:
            self._problem = str(problem)
        self._last = time.monotonic()
        reached = f"going back, tick {self._tick:,}" if self._tick else "this is the start of the run"
        return self._problem or reached

    @property
    def is_over(self) -> bool:
        """Whether the terminal has been silent for longer than a key that is held lets it be."""
        return time.monotonic() - self._last > (REPEATED if self._steps > 1 else TAPPED)

    def end(self) -> str:
        """Let the run play on, unless it was paused before."""
        if self._resumes:
            self._run.unpause()
        return self._problem or f"went back to tick {self._tick:,}"


class Keys:
    """Acts on keys; what a run refuses is shown, and nothing ends by it."""

    def __init__(self, run: Run, view: View) -> None:
        self._run, self._view = run, view
        self._went_back = 0.0
        self._deeper = 1
        self._going: GoingBack | None = None

    def press(self, key: str) -> bool:
        """Do what a key asks for; False when the user wants to leave."""
        if key in {"q", "Q", "\x1b"}:
            return False
        if key != LEFT:
            self.let_go()
        actions = {LEFT: self._rewind, " ": self._pause, "s": self._step, "b": self._back, "r": self._back,
                   "n": self._snapshot, "+": self._faster, "=": self._faster, "-": self._slower,
                   "?": self._help}  # fmt: skip
        if key in actions:
            self._do(actions[key])
        return True

    def _do(self, action: Callable[[], str]) -> None:
        try:
            self._view.message = action()
        except PtpError as problem:
            self._view.message = str(problem)

    def look(self) -> None:
        """See whether the key that was held has been let go."""
        if self._going is not None and self._going.is_over:
            self.let_go()

    def let_go(self) -> None:
        """Let a run that goes back play on."""
        going, self._going, self._view.goes_back = self._going, None, False
        if going is not None:
            self._do(going.end)

    def _rewind(self) -> str:
        self._going = self._going or GoingBack(self._run)
        self._view.goes_back = True
        return self._going.step()

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


def next_keys(patience: float) -> list[str]:
    """Return the keys that were pressed meanwhile: a left arrow that repeats once, and no other escape sequence."""
    data = b""
    while select.select([sys.stdin], [], [], REST if data else patience)[0]:
        data += os.read(sys.stdin.fileno(), 4096)
        if not data.endswith((b"\x1b", b"\x1b[", b"\x1bO")):  # of a sequence, the rest comes at once
            break
    found = KEY.findall(data.decode("utf-8", "ignore"))
    keys = [LEFT if arrow else key for arrow, key in found if arrow or key]
    return [key for before, key in pairwise(["", *keys]) if (before, key) != (LEFT, LEFT)]
