"""Agents that don't look: one presses anything, one plays a list of commands, one was somebody's own loop."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import numpy as np
from gymnasium import Space

from ptp.agents.contract import Agent, AgentSetup, Decision, Observation
from ptp.errors import AgentError, ConfigError, PtpError
from ptp.worlds import WorldView


class RandomAgent(Agent):
    """Every command as likely as the next; the same seed gives the same commands."""

    name = "random"
    repeatable = True

    def __init__(self, world: WorldView, setup: AgentSetup) -> None:
        super().__init__(world, setup)
        self._space = world.action_space
        self._space.seed(setup.seed)

    def decide(self, observation: Observation) -> Decision:
        """Return one random command."""
        return Decision((self._space.sample(),))

    def save(self) -> dict[str, Any]:
        """Return the state of the random numbers; it has integers too large for most JSON readers, so as text."""
        return {"random": [json.dumps(source.bit_generator.state) for source in _generators(self._space)]}

    def load(self, state: dict[str, Any]) -> None:
        """Return to saved random numbers."""
        for source, text in zip(_generators(self._space), state["random"], strict=True):
            source.bit_generator.state = json.loads(text)


def _generators(space: Space[Any]) -> Iterator[np.random.Generator]:
    yield space.np_random
    inner = getattr(space, "spaces", ())
    for part in inner.values() if isinstance(inner, dict) else inner:
        yield from _generators(part)


class ScriptOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the script agent plays."""

    file: str | None = None
    """A file of commands, one per line."""


class ScriptAgent(Agent):
    """Plays one command per line: a name, a number, or JSON; what follows a # is a remark."""

    name = "script"
    Options: ClassVar[type[msgspec.Struct]] = ScriptOptions
    repeatable = True

    def __init__(self, world: WorldView, setup: AgentSetup) -> None:
        super().__init__(world, setup)
        file: str | None = self.options.file
        if file is None:
            raise ConfigError("the script agent needs a file of commands: --script FILE")
        self._commands = read_commands(Path(file), world)
        self._next = 0

    def decide(self, observation: Observation) -> Decision:
        """Return the next line's command."""
        self._next += 1
        return Decision(tuple(self._commands[self._next - 1 : self._next]), type="SCRIPT")

    def save(self) -> dict[str, Any]:
        """Return the place in the script."""
        return {"next": self._next}

    def load(self, state: dict[str, Any]) -> None:
        """Return to a place in the script."""
        self._next = state["next"]


def read_commands(path: Path, world: WorldView) -> list[Any]:
    """Return the commands in a file; a wrong line is named by its number."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as problem:
        raise ConfigError(f"--script {path}: {problem.strerror}; name a file that can be read") from None
    except UnicodeDecodeError:
        raise ConfigError(f"--script {path}: not UTF-8 text") from None
    commands = []
    for number, line in enumerate(lines, 1):
        word = line.partition("#")[0].strip()
        if word:
            try:
                commands.append(world.parse(word))
            except PtpError as problem:
                raise ConfigError(f"{path}:{number}: {problem}") from None
    if not commands:
        raise ConfigError(f"--script {path}: the file has no commands; write one per line")
    return commands


class LoopAgent(Agent):
    """A loop of your own, recorded by `ptp.Record`; only the loop itself can continue."""

    name = "loop"

    def decide(self, observation: Observation) -> Decision:
        """Refuse: the loop that decided is not here."""
        raise AgentError("a recorded loop can't be resumed; fork the run with an agent, such as --agent random")
