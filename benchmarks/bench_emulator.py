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
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from statistics import median
from typing import Any

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
        self._start = io.BytesIO()
        self._pyboy.save_state(self._start)

    def play(self, keys: list[str]) -> None:
        """Press keys as ticks do."""
        for key in keys:
            self.press(key, TICK_HOLD, TICK)

    def reset(self) -> None:
        """Go back to power-on."""
        self._start.seek(0)
        self._pyboy.load_state(self._start)

    def press(self, key: str, hold: int, frames: int) -> None:
        """Hold a key for some frames of all; only the last is drawn."""
        self._pyboy.button_press(key)
        self._pyboy.tick(hold, False, False)
        self._pyboy.button_release(key)
        self._pyboy.tick(frames - hold, True, False)


def in_turns(keys: list[str], *works: Callable[[str], Any]) -> list[float]:
    """Return the median of what a key takes each of some works; they take turns, so a busy machine meets all alike."""
    rounds = [[_seconds(lambda work=work, key=key: work(key)) for work in works] for key in keys]  # type: ignore[misc]
    return [median(column) for column in zip(*rounds, strict=True)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--rom", type=Path, default=BUILT_IN["tallgrass"])
    options = parser.parse_args()
    keys = [KEYS[number % len(KEYS)] for number in range(options.rounds)]
    many = [KEYS[number % len(KEYS)] for number in range(INPUTS)]
    bare, facts = Bare(options.rom), {"rounds": options.rounds}
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder), "--rom", str(options.rom)) as url:
        with closing(HTTPConnection(url.removeprefix("http://"), timeout=120)) as client:
            _post(client, "/initialize")
            bare.reset()
            plain, press = in_turns(
                keys,
                lambda key: bare.press(key, HOLD, PRESS),
                lambda key: _post(client, "/action", action_type="press_key", keys=[key]),
            )
            (wait,) = in_turns(keys, lambda key: _post(client, "/action", action_type="wait", frames=1))
            _post(client, "/reset", seed=1)
            bare.reset()
            turns = [
                (
                    _seconds(lambda: bare.play(many)),
                    _seconds(lambda: _post(client, "/v1/step", inputs=many)),
                )
                for _ in range(5)
            ]
        alone, step = map(min, zip(*turns, strict=True))
        with connect(url.replace("http", "ws", 1) + "/ws", compression=None) as socket:
            _ask(socket, {"type": "reset", "data": {"seed": 1}})
            bare.reset()
            ticked, spoken = in_turns(
                keys,
                lambda key: bare.press(key, TICK_HOLD, TICK),
                lambda key: _ask(socket, {"type": "step", "data": {"command": key}}),
            )
    report("emulator_http", press / plain, 2.0, at_least=False, unit="times bare PyBoy for one key of 130 frames",
           server_ms=round(press * 1e3, 3), bare_ms=round(plain * 1e3, 3), **facts)  # fmt: skip
    report("emulator_http", wait * 1e3, 3.0, at_least=False, unit="ms for a wait of one frame", **facts)
    report("emulator_http", alone / step, 0.9, at_least=True, unit=f"of bare PyBoy for {INPUTS} inputs in one request",
           server_ms=round(step * 1e3, 1), bare_ms=round(alone * 1e3, 1))  # fmt: skip
    report("emulator_http", (spoken - ticked) * 1e3, 1.5, at_least=False, unit="ms over its frames for an OpenEnv step",
           server_ms=round(spoken * 1e3, 3), bare_ms=round(ticked * 1e3, 3), **facts)  # fmt: skip


def _seconds(work: Callable[[], Any]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def _post(client: HTTPConnection, path: str, **body: Any) -> bytes:
    client.request("POST", path, json.dumps(body).encode(), {"Content-Type": "application/json"})
    answer = client.getresponse()
    data = answer.read()
    assert answer.status == 200, data
    return data


def _ask(socket: Any, message: dict[str, Any]) -> None:
    socket.send(json.dumps(message))
    assert json.loads(socket.recv())["type"] == "observation"


if __name__ == "__main__":
    main()
