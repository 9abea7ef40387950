"""What a player can do: press one of eight buttons, for a while, or none."""

from __future__ import annotations

from typing import Any, TypeAlias

from ptp.errors import BadCommand, UnknownName

BUTTONS = ("none", "a", "b", "start", "select", "up", "down", "left", "right")
DEFAULT_HOLD = 8  # frames; games look at the buttons once a frame, and a step takes 16

Press: TypeAlias = int | tuple[int, int]
"""The number of a button in BUTTONS, or that and how many frames to hold it."""


class ButtonCodec:
    """Presses as text (`a`, `a:16`) and back, exactly."""

    def __init__(self, frames_per_tick: int) -> None:
        self._frames = frames_per_tick
        hold = min(DEFAULT_HOLD, frames_per_tick)
        self._presses: dict[Any, tuple[str | None, int]] = {0: (None, 0)}
        self._texts: dict[Any, str] = dict(enumerate(BUTTONS))
        for number, name in enumerate(BUTTONS[1:], 1):
            self._presses[number] = (name, hold)
            for frames in range(1, frames_per_tick + 1):
                self._presses[number, frames] = (name, frames)
                self._texts[number, frames] = f"{name}:{frames}"
        self._numbers: dict[str, Press] = {text: press for press, text in self._texts.items()}

    def resolve(self, command: Any) -> tuple[str | None, int]:
        """Return the button to press, and for how many frames."""
        try:
            return self._presses[command]
        except (KeyError, TypeError):
            raise self._bad(command) from None

    def encode(self, command: Any) -> str:
        """Return a command as text."""
        try:
            return self._texts[command]
        except (KeyError, TypeError):
            raise self._bad(command) from None

    def decode(self, text: str) -> Press:
        """Return the command that was encoded so."""
        try:
            return self._numbers[text]
        except KeyError:
            raise self._bad(text) from None

    def parse(self, word: str) -> Press:
        """Turn what a person wrote (a button, a button and frames, or a number) into a command."""
        word = word.strip().lower()
        if word in self._numbers:
            return self._numbers[word]
        if word.isdecimal() and int(word) < len(BUTTONS):
            return int(word)
        button, _, frames = word.partition(":")
        if button not in BUTTONS:
            raise UnknownName("button", button, list(BUTTONS))
        raise BadCommand(f"command {word!r}: {frames!r} is not a number of frames to hold it; {self._allowed()}")

    def _allowed(self) -> str:
        return f"allowed: {', '.join(BUTTONS)}, and :1 to :{self._frames} after a button"

    def _bad(self, command: Any) -> BadCommand:
        return BadCommand(f"command {command!r} is not one this world takes; {self._allowed()}")
