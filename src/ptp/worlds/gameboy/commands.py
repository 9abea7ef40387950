"""What a player can do: press one of eight buttons, for a while, or none."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, TypeAlias

from ptp.errors import BadCommand, UnknownName

BUTTONS = ("none", "a", "b", "start", "select", "up", "down", "left", "right")
DEFAULT_HOLD = 8  # frames; games look at the buttons once a frame, and a step takes 16
FRAMES_PER_SECOND = 4_194_304 / 70_224
MOST_FRAMES = 3600  # of a command with a length of its own
TIMED = re.compile(r"((?:[a-z]+\+)*[a-z]+)(?::([1-9]\d{0,3}))?/([1-9]\d{0,3})")

Press: TypeAlias = int | tuple[int, ...]
"""The number of a button in BUTTONS; that and how many frames to hold it; or that, the frames to hold it, the frames
in all, and the buttons that are down through all of them."""
Frames: TypeAlias = tuple[str | None, int, int, tuple[str, ...]]
"""The button, the frames to hold it, the frames in all, and the buttons that are down through all of them."""


class ButtonCodec:
    """Presses as text and back, exactly: `a`, `a:16`, `a:10/130` (held 10 frames of 130), `b+up:8/24`, `none/60`."""

    most = MOST_FRAMES
    rate = FRAMES_PER_SECOND

    def __init__(self, frames_per_tick: int) -> None:
        self.frames = frames_per_tick
        self.hold = hold = min(DEFAULT_HOLD, frames_per_tick)
        self._presses: dict[Any, Frames] = {0: (None, 0, frames_per_tick, ())}
        self._texts: dict[Any, str] = dict(enumerate(BUTTONS))
        for number, name in enumerate(BUTTONS[1:], 1):
            self._presses[number] = (name, hold, frames_per_tick, ())
            for frames in range(1, frames_per_tick + 1):
                self._presses[number, frames] = (name, frames, frames_per_tick, ())
                self._texts[number, frames] = f"{name}:{frames}"
        self._numbers: dict[str, Press] = {text: press for press, text in self._texts.items()}

    def resolve(self, command: Any) -> Frames:
        """Return the button to press, for how many frames of how many, and what is down meanwhile."""
        try:
            return self._presses[command]
        except (KeyError, TypeError):
            number, hold, frames, *held = self._timed(command)
            return BUTTONS[number] if number else None, hold, frames, tuple(BUTTONS[other] for other in held)

    def encode(self, command: Any) -> str:
        """Return a command as text."""
        try:
            return self._texts[command]
        except (KeyError, TypeError):
            number, hold, frames, *held = self._timed(command)
            names = "+".join(BUTTONS[each] for each in (*held, number))
            return f"{names}:{hold}/{frames}" if number else f"{names}/{frames}"

    def spell(self, button: str | None, hold: int, frames: int, held: Sequence[str]) -> str:
        """Return the command that holds a button for some frames of all, while others are down through all of them."""
        down = sorted({*held, button} if hold == frames and button else held, key=BUTTONS.index)
        if button is None or button in down:
            *down, button = down or ["none"]
            hold = frames
        names = "+".join((*down, button))
        return f"{names}/{frames}" if button == "none" else f"{names}:{hold}/{frames}"

    def length(self, command: Any) -> int:
        """Return how many frames a command takes."""
        return self.resolve(command)[2]

    def decode(self, text: str) -> Press:
        """Return the command that was encoded so."""
        try:
            return self._numbers[text]
        except KeyError:
            found = TIMED.fullmatch(text)
            names = found[1].split("+") if found else []
            if found is None or not set(names) <= set(BUTTONS):
                raise self._bad(text) from None
            *held, number = map(BUTTONS.index, names)
            return self._timed((number, int(found[2] or 0), int(found[3]), *held), text)

    def _timed(self, command: Any, text: str | None = None) -> tuple[int, ...]:
        """Return a command with a length of its own; held buttons come in order, so that it has one form."""
        whole = isinstance(command, tuple) and len(command) >= 3 and all(type(part) is int for part in command)
        if not whole:
            raise self._bad(command)
        number, hold, frames, *held = command
        buttons = [each for each in (*held, number) if 0 < each < len(BUTTONS)]
        least = 1 if number else 0
        fits = least <= hold <= (frames if number else 0) and 1 <= frames <= MOST_FRAMES
        if not fits or len(set(buttons)) < len(held) + least or held != sorted(held) or (held and not number):
            raise self._bad(text or command)
        return number, hold, frames, *held

    def parse(self, word: str) -> Press:
        """Turn what a person wrote (a button, a button and frames, or a number) into a command."""
        word = word.strip().lower()
        if word in self._numbers:
            return self._numbers[word]
        if word.isdecimal() and len(word) < 5 and int(word) < len(BUTTONS):
            return int(word)
        buttons, frames = re.split("(?=[:/])|$", word, maxsplit=1)
        for button in buttons.split("+"):
            if button not in BUTTONS:
                raise UnknownName("button", button, list(BUTTONS))
        if "/" in word:
            return self.decode(word)
        raise BadCommand(
            f"command {word!r}: {frames.lstrip(':')!r} is not a number of frames to hold it; {self._allowed()}"
        )

    def _allowed(self) -> str:
        timed = f"or :HOLD/ALL, as in a:10/130 and none/60, with at most {MOST_FRAMES} frames in all"
        return f"allowed: {', '.join(BUTTONS)}, and :1 to :{self.frames} after a button, {timed}"

    def _bad(self, command: Any) -> BadCommand:
        return BadCommand(f"command {command!r} is not one this world takes; {self._allowed()}")
