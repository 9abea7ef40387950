"""Following a recorded game with an emulator of one's own, frame by frame, and holding its states against memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from ptp.recording import RunDirectory
from ptp.recording.database import Database
from ptp.replay import Tape
from ptp.worlds import make_world
from tests.contract.second_reader import Image, SecondReader

DEFAULT_HOLD = 8


@dataclass(slots=True)
class Followed:
    """What was seen of one game."""

    ticks: int = 0
    places: int = 0
    changing: int = 0
    """Ticks that ended while a map was being loaded."""
    fights: int = 0
    wrong: list[str] = field(default_factory=list)

    def compare(self, reader: SecondReader, memory: Any, state: dict[str, Any]) -> None:
        """Hold the state of a tick against the memory at its end."""
        self.ticks += 1
        self.changing += reader.begun and reader.loading
        self.places += state["coordinates"] is not None
        self.fights += state["battle"] is not None and state["battle"]["enemy"] is not None
        self.wrong += [f"tick {self.ticks}: {each}" for each in reader.wrong(Image.of(memory), state)]


def follow_run(path: Path) -> Followed:
    """Play the tape of a recorded Game Boy run again and check the state of its every tick."""
    directory, followed, reader = RunDirectory(path), Followed(), SecondReader()
    with closing(Tape(directory)) as tape:
        spec = tape.world
    frames = int(spec.options.get("frames_per_tick", 24))
    world = make_world(spec)
    world.reset(None)
    pyboy = world.env.pyboy  # type: ignore[attr-defined]
    state: dict[str, Any] = {}
    for command, written in _tape(directory):
        button, _, hold = command.partition(":")
        for _ in press(pyboy, button, min(int(hold or DEFAULT_HOLD), frames), frames):
            reader.follow(pyboy.memory)
        state = msgspec.json.decode(written) if written else state
        followed.compare(reader, pyboy.memory, state)
    world.close()
    return followed


def press(pyboy: Any, button: str | None, hold: int, frames: int) -> Iterator[int]:
    """Hold a button as a tick does, and stop after every frame."""
    pressed = button not in (None, "none")
    if pressed:
        pyboy.button_press(button)
    for frame in range(1, frames + 1):
        pyboy.tick(1, False, False)
        yield frame
        if pressed and frame == hold:
            pyboy.button_release(button)


def _tape(directory: RunDirectory) -> Iterator[tuple[str, str | None]]:
    with Database(directory.database) as database:
        first = database.row("SELECT state FROM episode_starts ORDER BY episode LIMIT 1")[0]
        for command, state in database.rows("SELECT command, state FROM steps ORDER BY tick"):
            yield command, state or first
            first = None


def slowed(commands: list[str], frames: int) -> list[str]:
    """Return the commands that play ticks of 24 frames in ticks of fewer."""
    script = []
    for command in commands:
        button, _, hold = command.partition(":")
        pressed = int(hold or DEFAULT_HOLD) // frames
        script += [button] * pressed + ["none"] * (24 // frames - pressed)
    return script
