"""The agent that plays a script: commands one per line, or a program in the button language."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import msgspec

from ptp.agents.contract import Agent, AgentSetup, Decision, Observation, Remark
from ptp.errors import ConfigError
from ptp.scripts import Execution, ScriptCompiler, Target, Turn
from ptp.scripts.execution import OnFail
from ptp.worlds import WorldView


class ScriptOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the script agent plays."""

    file: str | None = None
    """A script: one command per line, or a program in the button language."""
    on_fail: OnFail = "stop"
    """What follows a failed EXPECT, or a loop that reached its MAX: the end, or the next statement."""


class ScriptAgent(Agent):
    """Plays a script: one command per line (a name, a number, or JSON), or a program in the button language."""

    name = "script"
    Options: ClassVar[type[msgspec.Struct]] = ScriptOptions
    repeatable = True

    def __init__(self, world: WorldView, setup: AgentSetup) -> None:
        super().__init__(world, setup)
        if self.options.file is None:
            raise ConfigError("the script agent needs a script: --script FILE")
        target = Target(world)
        script = ScriptCompiler(target).compile_file(Path(self.options.file))
        self._parse = target.parse
        self._execution = Execution(script, target, self.options.on_fail)

    def decide(self, observation: Observation) -> Decision:
        """Return the next command of the script."""
        turn = self._execution.next(observation.state)
        commands = () if turn.command is None else (self._parse(turn.command),)
        if not turn.checkpoints and not turn.failures:
            return Decision(commands, type="SCRIPT")
        remarks = tuple(Remark("error", "script_failed", f"line {it.line}: {it.message}") for it in turn.failures)
        return Decision(commands, "SCRIPT", _ending(turn), checkpoints=turn.checkpoints, remarks=remarks)

    def save(self) -> dict[str, Any]:
        """Return the place in the script."""
        return self._execution.save()

    def load(self, state: dict[str, Any]) -> None:
        """Return to a place in the script."""
        self._execution.load(state)


def _ending(turn: Turn) -> str | None:
    """Return why a script ended before its end."""
    if turn.command is not None or not turn.failures:
        return None
    last = turn.failures[-1]
    return f"the script failed in line {last.line}: {last.message}"
