"""A cartridge in an emulator, as a Gymnasium environment."""

from __future__ import annotations

import base64
import io
import warnings
import zlib
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from ptp.errors import ConfigError, WorldError
from ptp.worlds.gameboy.cartridge import RAM_BANK, Cartridge, read_file
from ptp.worlds.gameboy.commands import BUTTONS, ButtonCodec
from ptp.worlds.gameboy.ram import catch_arrays, find_ram
from ptp.worlds.gameboy.states import Memory, open_states

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # the SDL binding that PyBoy carries greets with a warning
    import pyboy.core.ram  # noqa: F401
    from pyboy import PyBoy
    from pyboy.utils import PyBoyException

Picture = np.ndarray[Any, np.dtype[np.uint8]]

HEIGHT, WIDTH = 144, 160
PICKLE = 0x80  # the first byte of every pickle since protocol 2
OLDEST_STATE = 2  # before it, states did not tell their version
MOST_RAM = 16 * RAM_BANK
MOST_STATE = 4 << 20  # bytes; the largest cartridges have states of half a megabyte
SAVED = b"PTPGB\x02"
"""What a saved world begins with: what it remembers follows, with its size, then the emulator's state."""
SAVED_BATTLE = b"PTPGB\x01"
"""The form before: of what it remembers, only the open battle."""
_MEMORY = len(SAVED) + 4


class GameBoyEnv(gymnasium.Env[Picture, Any]):
    """PyBoy without window, sound or clock on the wall; everything it does follows from its inputs.

    It must be used on the thread that made it. Nothing is read or written beside the cartridge's file.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 60}

    def __init__(self, cartridge: Cartridge, frames_per_tick: int = 24, battery: bytes | None = None) -> None:
        self.render_mode = "rgb_array"
        self.observation_space = spaces.Box(0, 255, (HEIGHT, WIDTH, 3), np.uint8)
        self.action_space = spaces.Discrete(len(BUTTONS))
        self.frames_per_tick = frames_per_tick
        self.codec = ButtonCodec(frames_per_tick)
        with catch_arrays() as arrays:
            self.pyboy = _switch_on(cartridge, battery)
        self.ram = find_ram(arrays, self.pyboy.memory)
        """The RAM as PyBoy keeps it; None where only the public interface can tell."""
        self.pixels: Picture = self.pyboy.screen.ndarray
        """The screen as PyBoy draws it, red, green, blue and alpha: it changes with every step."""
        self._cartridge = cartridge
        self._states = open_states(self.pyboy)
        self._start = self._power_on = self.save()

    def start_from(self, path: Path) -> None:
        """Begin every episode from a PyBoy state, or from a saved world, instead of power-on."""
        data = read_file(path, "start state")
        try:
            self.load(unpack(data)[1] if data.startswith((SAVED, SAVED_BATTLE)) else data)
        except WorldError as problem:
            raise ConfigError(f"{path.name}: {problem}") from None
        self._start = self.save()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Picture, dict[str, Any]]:
        """Go back to the start state; a cartridge has no dice of its own, so the seed changes nothing."""
        super().reset(seed=seed)
        self._load(self._start)
        return self.render(), {}

    def step(self, action: Any) -> tuple[Picture, float, bool, bool, dict[str, Any]]:
        """Press a button and let a tick pass; the picture is a copy."""
        self.advance(action)
        return self.render(), 0.0, False, False, {}

    def advance(self, action: Any) -> None:
        """Press a button and let a tick pass; only the last frame is drawn."""
        button, hold, frames, held = self.codec.resolve(action)
        pyboy, tick = self.pyboy, self._states.tick
        for other in held:
            pyboy.button_press(other)
        if button is not None:
            pyboy.button_press(button)
            if hold < frames:
                tick(hold, False)
                pyboy.button_release(button)
                button, frames = None, frames - hold
        tick(frames, True)
        for other in held if button is None else (button, *held):
            pyboy.button_release(other)

    def render(self) -> Picture:
        """Return a copy of the picture: red, green, blue."""
        picture = np.empty((HEIGHT, WIDTH, 3), np.uint8)
        for channel in range(3):  # one at a time is six times as fast as all three in one slice
            picture[:, :, channel] = self.pixels[:, :, channel]
        return picture

    def open_memory(self, image: bytearray) -> Memory | None:
        """Return the fastest way to bring an image of the address space up to date; None without the native part."""
        return None if self.ram is None else self._states.open_memory(image, self.ram)

    def save(self) -> bytes:
        """Return the emulator's whole state."""
        return self._states.save()

    def load(self, data: bytes) -> None:
        """Return to a PyBoy state of this cartridge; anything else is refused, and the message says why."""
        self._check(data)
        self._load(data)

    def _check(self, data: bytes) -> None:
        newest, size = self._power_on[0], len(self._power_on)
        if not data:
            raise WorldError("an empty state; take a PyBoy state of this game")
        if data[0] == PICKLE:
            raise WorldError(
                "a pickle of another tool; unpickling runs code from the file, so ptp never does; "
                "save a plain state with PyBoy"
            )
        if not OLDEST_STATE <= data[0] <= newest:
            raise WorldError(f"not a PyBoy state: version {data[0]}, this PyBoy reads {OLDEST_STATE} to {newest}")
        if data[0] == newest and len(data) != size:
            raise WorldError(
                f"{len(data)} bytes, but a state of {self._cartridge.name} has {size}; it is damaged or of another game"
            )

    def _load(self, data: bytes) -> None:
        try:
            left_over = self._states.load(data)
        except (PyBoyException, EOFError) as problem:
            raise WorldError(f"the emulator can't load it: {problem}; take a PyBoy state of this game") from None
        if left_over:
            raise WorldError("the emulator can't load all of it; take a PyBoy state of this game")
        # A button may be down in the state, or its release still waiting: both end here.
        for button in BUTTONS[1:]:
            self.pyboy.button_release(button)

    def close(self) -> None:
        """Switch the emulator off; battery RAM is not kept."""
        self.pyboy.stop(save=False)


def pack(memory: bytes, state: bytes) -> bytes:
    """Return a saved world."""
    return SAVED + len(memory).to_bytes(4, "little") + memory + state


def unpack(data: bytes) -> tuple[bytes, bytes]:
    """Return what a saved world remembers, as JSON, and the emulator's state."""
    if not data.startswith((SAVED, SAVED_BATTLE)):
        raise WorldError(f"not a saved Game Boy world: it begins with {data[: len(SAVED)]!r}")
    end = _MEMORY + int.from_bytes(data[len(SAVED) : _MEMORY], "little")
    memory = data[_MEMORY:end]
    return b'{"battle":%b}' % memory if data.startswith(SAVED_BATTLE) else memory, data[end:]


def to_text(data: bytes) -> str:
    """Return a state as text, a tenth as long as the state."""
    return base64.b64encode(zlib.compress(data, 1)).decode()


def from_text(text: Any) -> bytes:
    """Return the state that became such a text; anything else is refused."""
    try:
        unpacking = zlib.decompressobj()
        data = unpacking.decompress(base64.b64decode(text, validate=True), MOST_STATE)
    except (TypeError, ValueError, zlib.error) as problem:
        raise WorldError(f"not a state as text: {problem}; take another snapshot") from None
    if not unpacking.eof:
        raise WorldError("a state as text breaks off, or is too large; take another snapshot")
    return data


def _switch_on(cartridge: Cartridge, battery: bytes | None) -> Any:
    try:
        # Files, not paths: with a path PyBoy looks for saves beside the cartridge.
        pyboy = PyBoy(
            io.BytesIO(cartridge.data),
            ram_file=io.BytesIO((battery or b"").ljust(MOST_RAM, b"\0")),
            window="null",
            sound_emulated=False,
            cgb=False,
            log_level="CRITICAL",
            no_input=True,
        )
    except (PyBoyException, KeyError) as problem:
        raise WorldError(f"{cartridge.name}: the emulator can't run it: {problem}; try another cartridge") from None
    pyboy.set_emulation_speed(0)
    if cartridge.has_clock:
        pyboy.rtc_lock_experimental(True)  # the time of day would make every run differ
    return pyboy
