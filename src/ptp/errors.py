"""One tree of errors; the command line prints the message and exits with the code::

PtpError                    1  something failed
├── UsageError              2  the command line or a file it names is wrong
│   ├── UnknownName            no flag, verb, world, agent or run of that name
│   ├── ConfigError            a setting can't have that value
│   └── ScriptError            a button script is wrong; it lists every mistake with its place
├── WorldError                 a world can't be made or can't do what was asked
│   └── BadCommand             a command the world does not know
├── AgentError                 an agent failed to decide
│   └── NoAnswer               a language model can't be asked, or gave nothing that can be used
├── PromptDiffers              an agent that is played again asks its model something else
├── ScriptFailed               a button script met something that it can't continue from
├── SnapshotError              a snapshot is damaged, missing, or of another world
├── RecordingError             the run directory can't be written
│   └── RunLocked              another process owns the run directory
├── RunUnreadable              a run directory or its database is damaged
├── CentralError               the central database can't be reached or used
├── EmulatorError              a game server, or what runs it, failed
│   ├── ServerUnreachable      nothing answers at its address
│   ├── ServerTimeout          it did not answer in time
│   ├── ServerRefused          it answered with an error
│   ├── BadAnswer              it answered something else than a game server does
│   ├── GameLost               its game is not the one that was being played
│   └── CircuitOpen            it failed too often, and is not asked for a while
└── ReplayDiverged             a replay differs from its tape
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class PtpError(Exception):
    """The root of every error ptp raises on purpose."""

    exit_code = 1


class UsageError(PtpError):
    """The command line, or a file it names, is wrong."""

    exit_code = 2


class UnknownName(UsageError):
    """Nothing of that name is known."""

    def __init__(self, kind: str, name: str, known: list[str], remedy: str = "") -> None:
        near = nearest(name, known)
        hint = f"did you mean {near!r}?" if near else remedy or f"known: {', '.join(sorted(known)[:12])}"
        super().__init__(f"no {kind} named {name!r}; {hint}")
        self.nearest = near


class ConfigError(UsageError):
    """A setting can't have that value."""


class ScriptError(UsageError):
    """A button script is wrong."""

    def __init__(self, message: str, problems: Sequence[Any] = ()) -> None:
        super().__init__(message)
        self.problems = tuple(problems)
        """Every mistake, with line and column."""


class WorldError(PtpError):
    """A world can't be made, or can't do what was asked of it."""


class BadCommand(WorldError):
    """A command the world does not know."""


class PromptDiffers(PtpError):
    """An agent that is played again asks its model something else than it did."""

    def __init__(self, tick: int, diff: list[str]) -> None:
        super().__init__(f"the prompt after tick {tick} is not the recorded one")
        self.diff = diff


class AgentError(PtpError):
    """An agent failed to decide."""


class NoAnswer(AgentError):
    """A language model can't be asked, or gave nothing that can be used."""


class ScriptFailed(PtpError):
    """A button script met something that it can't continue from."""


class RecordingError(PtpError):
    """The run directory can't be written."""


class RunLocked(RecordingError):
    """Another process owns the run directory."""


class SnapshotError(PtpError):
    """A snapshot is damaged, missing, or of another world."""


class RunUnreadable(PtpError):
    """A run directory, or its database, is missing or damaged."""


class CentralError(PtpError):
    """The central database can't be reached, or can't be used as it is."""


class EmulatorError(PtpError):
    """A game server, or what runs it, failed."""


class ServerUnreachable(EmulatorError):
    """Nothing answers at the address of a game server."""


class ServerTimeout(EmulatorError):
    """A game server did not answer in time."""


class ServerRefused(EmulatorError):
    """A game server answered with an error."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class BadAnswer(EmulatorError):
    """A game server answered something else than a game server does."""


class GameLost(EmulatorError):
    """The game on a server is not the one that was being played."""


class CircuitOpen(EmulatorError):
    """A game server failed too often, and is not asked for a while."""


class ReplayDiverged(PtpError):
    """A replay differs from its tape."""


def nearest(name: str, known: list[str]) -> str | None:
    """Return the shortest known name that begins so, or the one most like it; dashes in front don't count."""
    import difflib

    bare = {each.lower().lstrip("-"): each for each in reversed(known)}
    wanted = name.lower().lstrip("-")
    longer = sorted((each for each in bare if wanted and each.startswith(wanted)), key=len)
    near = longer or difflib.get_close_matches(wanted, bare, n=1, cutoff=0.5)
    return bare[near[0]] if near else None
