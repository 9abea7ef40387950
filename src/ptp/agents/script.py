"""An agent that plays a list of commands from a file, then has finished."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import msgspec

from ptp.agents.contract import Agent, AgentSetup, Decision, Observation
from ptp.errors import ConfigError, PtpError
from ptp.worlds import WorldView


class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the script agent plays."""

    file: str | None = None
    """A file of commands, one per line."""


class ScriptAgent(Agent):
    """Plays one command per line: a name, a number, or JSON; what follows a # is a remark."""

    name = "script"
    Options: ClassVar[type[msgspec.Struct]] = Options
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
