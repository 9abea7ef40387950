"""Jumps back and forth in one run: whichever way a tick is reached, everything is as it was on the first visit."""

from __future__ import annotations

import os
import statistics
import time
from collections import Counter
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import numpy as np
from xxhash import xxh3_64_hexdigest

from benchmarks.soak.memory import MOST_GROWTH, resident_megabytes
from benchmarks.soak.shell import Shell, Wrong
from ptp._util.clock import Clock
from ptp.recording import RunDirectory
from ptp.replay import Tape
from ptp.replay.travel import go_back, newest_key, travel
from ptp.runner.rewinding import LEAST
from ptp.runner.run import engine_of
from ptp.runs.settings import read_config
from ptp.snapshots.keys import KEYS, KeyFile, KeyMemory, KeyState, join
from ptp.worlds.spaces import describe

STAGES = (("tallgrass", "explorer", 2_000), ("CartPole-v1", "random", 400))
MEMORY = 64_000_000  # bytes of key states
SAMPLES = 40  # of the memory
DISK = 0.1  # share of the jumps that begin at a key state on disk, as after a restart


class Jumper:
    """One engine that goes to any tick of a recorded run, as a live run does, and discards nothing."""

    def __init__(self, directory: RunDirectory) -> None:
        self._tape = Tape(directory)
        self._file = KeyFile(directory.path / "snapshots" / KEYS)
        self._memory = KeyMemory(MEMORY)
        self._engine = engine_of(directory, self._tape.metadata, read_config(directory), Clock(), trusted=True)
        self._seen: dict[int, tuple[Any, ...]] = {}
        self.length = self._tape.length

    def walk(self, nowhere: Path) -> None:
        """Play the tape from its start to its end, from no state, and remember every tick."""
        for tick in range(1, self.length + 1):
            travel(self._engine, self._tape, nowhere, tick)
            self._seen[tick] = self._look()
            if tick % LEAST == 0:
                self._hold(tick)

    def _hold(self, tick: int) -> None:
        engine = self._engine
        world = engine.world.save() if engine.world.facts.snapshot == "state" else b""
        key = KeyState(tick, engine.play.episode, 0, world, engine.save(), engine.agent.save())
        self._memory.add(join(key).pack())

    def jump(self, tick: int, from_disk: bool = False) -> None:
        """Go to a tick from a key state; what is there has to be what was there before."""
        engine = self._engine
        packed = None if from_disk else self._memory.newest(tick)
        packed = packed or newest_key(self._file, self._tape, engine.world.facts, tick)
        if packed is None:
            raise Wrong(f"no key state leads to tick {tick}")
        go_back(engine, self._tape, packed.unpack(), tick)
        there = self._look()
        first = self._seen.setdefault(tick, there)
        if there != first:
            raise Wrong(f"tick {tick} is {there} now, and was {first} on the first visit")

    def _look(self) -> tuple[Any, ...]:
        engine, play = self._engine, self._engine.play
        mind = np.frombuffer(msgspec.json.encode(engine.agent.save()), np.uint8)
        agent = xxh3_64_hexdigest(np.bincount(mind, minlength=256).tobytes())  # sets are written in any order
        queue = [command for command, *_ in engine.save().buffer.queue]
        counts = (
            engine.progress.ticks,
            play.episode,
            play.step,
            play.over,
            play.episode_reward,
            engine.progress.reward,
        )
        return (*counts, play.last_hash, xxh3_64_hexdigest(self._saved()), agent, queue)

    def _saved(self) -> bytes:
        """Return the world's bytes; of one that can't save, all that it shows and its random numbers."""
        world = self._engine.world
        if world.facts.snapshot == "state":
            return world.save()
        dice = world.env.unwrapped.np_random.bit_generator.state
        return msgspec.json.encode([describe(self._engine.play.observation), describe(dice)])

    def close(self) -> None:
        """Free the world and the tape."""
        self._engine.world.close()
        self._tape.close()


def jump_about(folder: Path, times: int, seed: int, done: Counter[str]) -> list[tuple[str, str]]:
    """Jump so many times, half of them in each world, and return what a jump takes and what became of the memory."""
    return [_jump_in(Shell(folder / world), world, agent, ticks, times // 2, seed, done)
            for world, agent, ticks in STAGES]  # fmt: skip


def _jump_in(
    shell: Shell, world: str, agent: str, ticks: int, times: int, seed: int, done: Counter[str]
) -> tuple[str, str]:
    shell.folder.mkdir(parents=True)
    shell.must("run", "--world", world, "--agent", agent, "--tick-rate-base", "0", "--tick-rate-timeout", "0",
               "--max-ticks", str(ticks), "--quiet")  # fmt: skip
    (path,) = shell.records.iterdir()
    luck, samples = Random(seed), list[float]()
    with closing(Jumper(RunDirectory(path))) as jumper:
        jumper.walk(shell.folder / "nowhere")
        began = time.perf_counter()
        for number in range(times):
            jumper.jump(luck.randint(0, jumper.length), luck.random() < DISK)
            done["jumps"] += 1
            if number % max(1, times // SAMPLES) == 0:
                samples.append(resident_megabytes(os.getpid()))
        spent = (time.perf_counter() - began) / times * 1000
    growth = statistics.median(samples[-SAMPLES // 4 :]) / statistics.median(samples[SAMPLES // 4 : SAMPLES // 2])
    if growth > MOST_GROWTH:
        raise Wrong(f"{times} jumps in {world} let the memory grow to {growth:.2f} of what it was: {samples}")
    return f"a jump in {world}", f"{spent:.1f} ms, memory {growth:.3f} of what it was"
