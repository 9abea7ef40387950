"""How much faster many emulators are than one, beside bare PyBoy processes; lending; and starting twenty.

`python -m benchmarks.bench_pool_scaling [WORKERS [SECONDS]]`; without arguments one worker for each core.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from statistics import median

from benchmarks.chaos import free_ports
from benchmarks.common import report, seconds
from ptp.emulators import EmulatorPool
from ptp.emulators.backends import Processes
from ptp.worlds.gameboy.profiles import BUILT_IN

FRAMES = 24  # of a command
COMMANDS = 400  # of a script
SCRIPT = f"REPEAT {COMMANDS // 2} {{\n  PRESS A\n  PRESS START\n}}\n"
BARE = """
import sys, time
from pyboy import PyBoy

pyboy = PyBoy(sys.argv[1], window="null", sound_emulated=False)
pyboy.set_emulation_speed(0)
print("ready", flush=True)
sys.stdin.readline()
until, played = time.perf_counter() + float(sys.argv[2]), 0
while time.perf_counter() < until:
    for button in ("a", "start"):
        pyboy.button(button, 12)
        pyboy.tick(24, True, False)
        played += 24
print(played)
pyboy.stop(save=False)
"""


def bare_rate(number: int, file: str, length: float) -> float:
    """Return the frames per second of so many bare PyBoy processes together."""
    command = [sys.executable, "-c", BARE, file, str(length)]
    pipe = subprocess.PIPE
    children = [subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) for _ in range(number)]
    for child in children:
        assert child.stdout is not None
        assert "ready" in child.stdout.readline()
    for child in children:
        assert child.stdin is not None
        child.stdin.write("\n")
        child.stdin.flush()
    played = [int(child.communicate()[0].split()[-1]) for child in children]
    return sum(played) / length


def pool_rate(pool: EmulatorPool, length: float) -> float:
    """Return the frames per second of a pool that plays scripts without a pause."""
    tasks = 2 * pool.size
    once = seconds(lambda: pool.execute_many([SCRIPT] * tasks))
    tasks = max(tasks, round(tasks * length / once / pool.size) * pool.size)
    began = time.perf_counter()
    results = pool.execute_many([SCRIPT] * tasks)
    spent = time.perf_counter() - began
    assert all(it.success for it in results), results[0].error
    return sum(it.metadata.commands for it in results) * FRAMES / spent


def main(workers: int = os.cpu_count() or 2, length: float = 5.0) -> None:
    file = str(BUILT_IN["tallgrass"])
    with tempfile.TemporaryDirectory() as folder:
        backend = Processes("tallgrass", data_dir=folder)
        gains: list[tuple[float, float, float]] = []
        ports = free_ports(workers + 1)
        with EmulatorPool(1, ports[:1], backend) as one, EmulatorPool(workers, ports[1:], backend) as many:
            for _ in range(3):  # in turns, so that a busy machine meets all alike
                bare = bare_rate(workers, file, length) / bare_rate(1, file, length)
                pooled = pool_rate(many, length) / pool_rate(one, length)
                gains.append((pooled / bare, pooled, bare))
            lent = min(seconds(lambda: _lend(many)) / 1000 for _ in range(20))
        best = median(gain for gain, _, _ in gains)
        report("pool_scaling", best, 0.9 if workers <= 4 else 0.85, at_least=True, unit="of the gain of bare PyBoy",
               workers=workers, gains=[[round(value, 3) for value in gain] for gain in gains])  # fmt: skip
        report("pool_lending", lent * 1e6, 100, at_least=False, unit="microseconds")
        began = time.perf_counter()
        with EmulatorPool(20, free_ports(20), backend):
            started = time.perf_counter() - began
        report("pool_start_20", started, 15, at_least=False, unit="s")


def _lend(pool: EmulatorPool) -> None:
    for _ in range(1000):
        with pool.acquire_emulator():
            pass


if __name__ == "__main__":
    main(*(int(word) for word in sys.argv[1:2]), *(float(word) for word in sys.argv[2:3]))
