"""Worlds that scripts are compiled and played for, made once."""

from __future__ import annotations

import atexit
from functools import cache
from typing import Any

from ptp.scripts import CompiledScript, Execution, Played, ScriptCompiler, Target
from ptp.scripts.execution import OnFail, play
from ptp.worlds import World, find_world, make_world


@cache
def world_of(name: str) -> World:
    """Return a world that has begun."""
    world = make_world(find_world(name))
    atexit.register(world.close)
    world.reset(1)
    return world


@cache
def target_of(name: str) -> Target:
    """Return what scripts see of a world."""
    return Target(world_of(name).view())


def compiled(text: str, world: str = "tallgrass", **options: Any) -> CompiledScript:
    """Compile a script."""
    return ScriptCompiler(target_of(world), **options).compile(text)


def commands_of(text: str, world: str = "tallgrass", most: int = 10_000) -> list[str]:
    """Return what a script gives in a world that stands still."""
    execution, state = Execution(compiled(text, world), target_of(world)), world_of(world).state(None)
    given: list[str] = []
    while len(given) < most and (command := execution.next(state).command) is not None:
        given.append(command)
    return given


def played(text: str, name: str, on_fail: OnFail = "stop") -> tuple[list[str], Played]:
    """Play a script in a fresh world; return its commands and how it went."""
    world = make_world(find_world(name))
    try:
        target, observation = Target(world.view()), world.reset(1)
        script = play(Execution(ScriptCompiler(target).compile(text), target, on_fail), world.state(observation))
        given = []
        try:
            command = next(script)
            while True:
                given.append(command)
                command = script.send(world.state(world.step(target.parse(command)).observation))
        except StopIteration as end:
            return given, end.value
    finally:
        world.close()
