"""What the game server costs over the bare emulator: over HTTP, many commands at once, and over a WebSocket."""

from __future__ import annotations

import argparse
import io
import json
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import httpx
from websockets.sync.client import connect

from benchmarks.common import report
from ptp.worlds.gameboy.profiles import BUILT_IN

HOLD, PRESS, TICK, TICK_HOLD = 10, 130, 24, 8  # frames
INPUTS = 1000
KEYS = ("a", "up", "b", "right", "start", "down", "left", "b")


@contextmanager
def serving(folder: Path, *words: str) -> Iterator[str]:
    """Serve from a process of its own, as a user would."""
    command = [sys.executable, "-m", "ptp", "emulator", "serve", "--port", "0", "--json", "--data-dir", str(folder)]
    process = subprocess.Popen([*command, *words], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield json.loads("".join(iter(process.stdout.readline, "}\n")) + "}")["url"]
    finally:
        process.terminate()
        process.wait()


class Bare:
    """PyBoy by itself, which plays what the server plays."""

    def __init__(self, rom: Path) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from pyboy import PyBoy

            self._pyboy: Any = PyBoy(
                io.BytesIO(rom.read_bytes()), ram_file=io.BytesIO(bytes(1 << 17)), window="null",
                sound_emulated=False, cgb=False, log_level="CRITICAL", no_input=True,
            )  # fmt: skip
        self._pyboy.set_emulation_speed(0)

    def press(self, key: str, hold: int, frames: int) -> None:
        """Hold a key for some frames of all; only the last is drawn."""
        self._pyboy.button_press(key)
        self._pyboy.tick(hold, False, False)
        self._pyboy.button_release(key)
        self._pyboy.tick(frames - hold, True, False)

    def wait(self, frames: int) -> None:
        """Let frames pass."""
        self._pyboy.tick(frames, True, False)


def each(keys: list[str], work: Callable[[str], Any]) -> float:
    """Return the median of what each key takes."""
    times = []
    for key in keys:
        began = time.perf_counter()
        work(key)
        times.append(time.perf_counter() - began)
    return median(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--rom", type=Path, default=BUILT_IN["tallgrass"])
    options = parser.parse_args()
    keys = [KEYS[number % len(KEYS)] for number in range(options.rounds)]
    bare = Bare(options.rom)
    pressed = each(keys, lambda key: bare.press(key, HOLD, PRESS))
    waited = each(keys, lambda key: bare.wait(1))
    many = [KEYS[number % len(KEYS)] for number in range(INPUTS)]
    inputs = min(_seconds(lambda: [bare.press(key, TICK_HOLD, TICK) for key in many]) for _ in range(3))
    ticked = each(keys, lambda key: bare.press(key, TICK_HOLD, TICK))
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder), "--rom", str(options.rom)) as url:
        with httpx.Client(base_url=url, timeout=120) as client:
            client.post("/initialize", json={})
            press = each(keys, lambda key: client.post("/action", json={"action_type": "press_key", "keys": [key]}))
            wait = each(keys, lambda key: client.post("/action", json={"action_type": "wait", "frames": 1}))
            client.post("/reset", json={"seed": 1})
            step = min(_seconds(lambda: client.post("/v1/step", json={"inputs": many}).raise_for_status())
                       for _ in range(3))  # fmt: skip
        with connect(url.replace("http", "ws", 1) + "/ws", compression=None) as socket:
            _ask(socket, {"type": "reset", "data": {"seed": 1}})
            spoken = each(keys, lambda key: _ask(socket, {"type": "step", "data": {"command": key}}))
    facts = {"rounds": options.rounds}
    report("emulator_http", press / pressed, 2.0, at_least=False, unit="times bare PyBoy for one key of 130 frames",
           server_ms=round(press * 1e3, 3), bare_ms=round(pressed * 1e3, 3), **facts)  # fmt: skip
    report("emulator_http", wait * 1e3, 3.0, at_least=False, unit="ms for a wait of one frame",
           bare_ms=round(waited * 1e3, 3), **facts)  # fmt: skip
    report("emulator_http", inputs / step, 0.9, at_least=True, unit=f"of bare PyBoy for {INPUTS} inputs in one request",
           server_ms=round(step * 1e3, 1), bare_ms=round(inputs * 1e3, 1))  # fmt: skip
    report("emulator_http", (spoken - ticked) * 1e3, 1.5, at_least=False, unit="ms over its frames for an OpenEnv step",
           server_ms=round(spoken * 1e3, 3), bare_ms=round(ticked * 1e3, 3), **facts)  # fmt: skip


def _seconds(work: Callable[[], Any]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def _ask(socket: Any, message: dict[str, Any]) -> None:
    socket.send(json.dumps(message))
    assert json.loads(socket.recv())["type"] == "observation"


if __name__ == "__main__":
    main()
