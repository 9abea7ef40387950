"""What recording a Game Boy game costs against bare PyBoy with the same inputs, and how fast it replays."""

from __future__ import annotations

import io
import sys
import tempfile
import time
import warnings
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.beside import Beside, Loop
from benchmarks.common import report
from ptp.agents import Observation, make_agent
from ptp.config.tree import BY_FLAG, build
from ptp.config.tree import Agent as AgentConfig
from ptp.recording import RunDirectory
from ptp.recording.database import Database
from ptp.replay import Replay, Tape
from ptp.runner import run
from ptp.sinks import Sink
from ptp.worlds import find_world, make_world
from ptp.worlds.gameboy.commands import BUTTONS, DEFAULT_HOLD
from ptp.worlds.gameboy.profiles import BUILT_IN

FRAMES = 24


def bare(commands: list[str]) -> Loop:
    """Return PyBoy alone, as a loop over the same inputs."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pyboy import PyBoy
    rom = io.BytesIO(Path(BUILT_IN["tallgrass"]).read_bytes())
    pyboy: Any = PyBoy(rom, ram_file=io.BytesIO(bytes(0x20000)), window="null", sound_emulated=False, cgb=False,
                       log_level="CRITICAL", no_input=True)  # fmt: skip
    pyboy.set_emulation_speed(0)
    rest = iter(commands)

    def loop(ticks: int) -> None:
        for command in islice(rest, ticks):
            if command == "none":
                pyboy.tick(FRAMES, True, False)
                continue
            pyboy.button_press(command)
            pyboy.tick(DEFAULT_HOLD, False, False)
            pyboy.button_release(command)
            pyboy.tick(FRAMES - DEFAULT_HOLD, True, False)

    return loop


def recorded(
    agent: str, ticks: int, folder: str, seed: int = 1, sink: Sink | None = None
) -> tuple[RunDirectory, float]:
    """Record a run and return its directory and its seconds."""
    flags = {"--world": "tallgrass", "--agent": agent, "--max-ticks": ticks, "--tick-rate-base": 0,
             "--random-seed": seed, "--data-dir": folder, "--tick-rate-timeout": 0}  # fmt: skip
    result = run(build({BY_FLAG[flag]: value for flag, value in flags.items()}), sinks=[sink] if sink else [])
    return RunDirectory(Path(result.directory)), result.elapsed_seconds


def commands_of(directory: RunDirectory) -> list[str]:
    with Database(directory.database) as database:
        return [command for (command,) in database.rows("SELECT command FROM steps ORDER BY tick")]


def overhead(agent: str, ticks: int) -> None:
    ratios = []
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(3):
            commands = commands_of(recorded(agent, ticks, folder, seed)[0])
            assert set(commands) <= set(BUTTONS)
            beside = Beside(bare, commands)
            directory, elapsed = recorded(agent, ticks, folder, seed, beside)
            assert commands_of(directory) == commands
            ratios.append(beside.ratio(elapsed))
    report(f"gameboy_overhead_{agent}", median(ratios), 0.90, at_least=True, unit="of bare PyBoy",
           all=[round(ratio, 3) for ratio in ratios])  # fmt: skip


def state_read() -> None:
    """Read every state when its tick was just played, and again with warm caches."""
    world: Any = make_world(find_world("tallgrass"))
    world.reset(0)
    agent = make_agent("explorer", world, AgentConfig(), 1)
    cold: list[float] = []
    warm: list[float] = []
    for tick in range(2000):
        decision = agent.decide(Observation(None, world.state(None), tick, 1, tick))
        assert decision is not None
        world.env.advance(decision.commands[0])
        for spent in (cold, [], warm):
            world._data = None
            began = time.perf_counter()
            world._look()
            spent.append(time.perf_counter() - began)
    report("gameboy_state_read", median(warm) * 1e6, 6, at_least=False, unit="microseconds, warm",
           after_a_tick=round(median(cold) * 1e6, 1))  # fmt: skip


def replay(ticks: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        directory, played = recorded("explorer", ticks, folder)
        again = Replay(Tape(directory))
        began = time.perf_counter()
        for _ in again:
            pass
        seconds = time.perf_counter() - began
        again.close()
        assert again.result.equal, again.result
        report("gameboy_replay", played / seconds, 1.0, at_least=True, unit="times the speed of the run",
               ticks=again.result.ticks, equal=again.result.equal)  # fmt: skip


def main() -> None:
    ticks = int(sys.argv[1]) if len(sys.argv) > 1 else 5000
    state_read()
    for agent in ("random", "explorer"):
        overhead(agent, ticks)
    replay(4 * ticks)


if __name__ == "__main__":
    main()
