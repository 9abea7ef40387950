"""What a script is written for: the buttons of a world, its frames, and what can be asked of its state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from ptp.errors import PtpError, ScriptFailed
from ptp.worlds import WorldView
from ptp.worlds.knowledge import knowledge_of

IDLE = ("none", "noop", "wait")
"""What worlds call the command that does nothing."""
DIRECTIONS = frozenset({"up", "down", "left", "right", "north", "south", "east", "west"})
MOST_WAIT = 216_000  # frames, an hour of them on a Game Boy


class Target:
    """A world as scripts see it."""

    def __init__(self, view: WorldView) -> None:
        self._view = view
        self._short = knowledge_of(view.facts.family).state_names
        self.world = view.facts.name
        self.buttons = view.facts.commands
        self.idle = next((name for name in IDLE if name in self.buttons), None)
        self.directions = tuple(name for name in self.buttons if name in DIRECTIONS)
        self.timing = view.timing
        self.has_memory = view.memory is not None
        self.names = frozenset({*self._short, *view.state_fields, *view.facts.signals})
        frames = None if self.timing is None else (self.timing.hold, self.timing.frames)
        self.key = (self.world, self.buttons, str(view.action_space), frames, tuple(sorted(self.names)))
        """What scripts are compiled for: two worlds with the same key take the same compiled script."""
        self.command = lru_cache(1024)(self._command)

    @property
    def longest_press(self) -> int:
        """The most frames that PRESS can hold a button."""
        return MOST_WAIT if self.timing is None else self.timing.most - self.timing.frames + self.timing.hold

    def button(self, text: str) -> str | None:
        """Return what the world calls a button as it was written; None for one that it does not have."""
        if text.lower() in self.buttons:
            return text.lower()
        if not self.takes(text):
            return None
        if not self.buttons:
            return text
        name = self._view.facts.name_command(self._view.encode(self._view.parse(text)))
        return name if name in self.buttons else None

    def takes(self, text: str) -> bool:
        """Whether the world takes a command as it was written."""
        try:
            self._view.parse(text)
        except PtpError:
            return False
        return True

    def refusal(self, text: str) -> tuple[str, str]:
        """Return why the world does not take a command, and what it takes."""
        try:
            self._view.parse(text)
        except PtpError as problem:
            message, _, remedy = str(problem).partition("; ")
            return message, remedy
        raise AssertionError(text)

    def parse(self, command: str) -> Any:
        """Return the world's own form of a command."""
        return self._view.parse(command)

    def press_frames(self, hold: int | None) -> int:
        """Return how many frames a press takes in all: the default gap follows what is held."""
        if self.timing is None:
            return hold or 1
        return self.timing.frames if hold is None else hold + self.timing.frames - self.timing.hold

    def command_frames(self, command: str) -> int:
        """Return how many frames a command takes."""
        return 1 if self.timing is None else self.timing.length(self._view.parse(command))

    def count_ticks(self, frames: int) -> int:
        """Return how many ticks a wait takes."""
        return frames if self.timing is None else -(-frames // self.timing.most)

    def tick_frames(self, left: int) -> int:
        """Return how many frames of a wait the next tick takes."""
        return 1 if self.timing is None else min(left, self.timing.most)

    def _command(self, button: str | None, hold: int | None, frames: int, held: tuple[str, ...]) -> str:
        """Return the command that presses a button, or none, for one tick of so many frames."""
        if button == self.idle:
            button = None
        if self.timing is None:
            command = button or (held[-1] if held else self.idle)
            if command is None:
                raise ScriptFailed(f"WAIT holds no button here, and {self.world} has no command that does nothing")
            return command
        if button is not None and hold is None and not held:
            return button
        return self.timing.spell(button, self.timing.hold if hold is None else hold, frames, held)

    def field(self, path: str, state: Any) -> Any:
        """Return a value of a state, or a signal of the world; None when it can't be read now."""
        name, _, rest = path.partition(".")
        short = self._short.get(name.lower())
        if short is not None:
            name, _, rest = (f"{short}.{rest}" if rest else short).partition(".")
        if name == "signals":
            return _inside(self._view.signals(), rest, path)
        if name in self._view.state_fields:
            return _inside(state, f"{name}.{rest}" if rest else name, path)
        return self._view.signals().values.get(name)

    def byte(self, address: int) -> int:
        """Return a byte of memory."""
        assert self._view.memory is not None
        return self._view.memory(address, address + 1)[0]


def _inside(value: Any, path: str, whole: str) -> Any:
    for name in path.split("."):
        if value is None:
            return None
        if isinstance(value, Mapping) and name in value:
            value = value[name]
        elif isinstance(value, Sequence) and not isinstance(value, str) and name.isdecimal():
            value = value[int(name)] if int(name) < len(value) else None
        elif name in getattr(value, "__struct_fields__", ()):
            value = getattr(value, name)
        else:
            raise ScriptFailed(f"{whole}: {name!r} is not in {_describe(value)}")
    return value


def _describe(value: Any) -> str:
    names = list(value) if isinstance(value, Mapping) else list(getattr(value, "__struct_fields__", ()))
    return f"what is there: {', '.join(map(str, names))}" if names else f"{value!r}"
