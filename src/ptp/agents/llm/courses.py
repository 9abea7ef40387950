"""What a model decided on and the agent carries out, one command at a time: a plan, a walk, or a script."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ptp.agents.contract import Observation
from ptp.errors import ScriptFailed, UsageError
from ptp.scripts import Execution, ScriptCompiler, Target
from ptp.worlds import WorldView

PATIENCE = 3  # moves in a row after which the place is the same, before a walk is given up


class Turn(NamedTuple):
    """The next command, or what is to be said at the end."""

    command: str | None
    news: str = ""
    checkpoints: tuple[str, ...] = ()


class Plan:
    """Moves in order; each may say what has to be so after it."""

    kind = "plan"
    expects_change = True

    def __init__(self, target: Target, moves: Sequence[str], expect: Sequence[str] = (), at: int = 0) -> None:
        self._target = target
        self._moves = list(moves)
        self._expect = list(expect)
        self._checks = [ScriptCompiler(target).compile(f"EXPECT {it}") if it else None for it in expect]
        for move in moves:
            target.parse(move)
        self._at = at

    def next(self, observation: Observation) -> Turn:
        """Return the next move, or that all were made, or that one did not do what was expected of it."""
        check = self._checks[self._at - 1] if 0 < self._at <= len(self._checks) else None
        if check is not None:
            failures = Execution(check, self._target).next(observation.state).failures
            if failures:
                return Turn(None, f"Surprise after {self._moves[self._at - 1]!r}: {failures[0].message}.")
        if self._at == len(self._moves):
            return Turn(None, f"All {self._at} moves of the plan were made.")
        self._at += 1
        return Turn(self._moves[self._at - 1])

    @property
    def left(self) -> list[str]:
        """What is still to be done."""
        return self._moves[self._at :]

    def save(self) -> dict[str, Any]:
        """Return it as JSON-safe data."""
        return {"kind": self.kind, "moves": self._moves, "expect": self._expect, "at": self._at}


class Walk:
    """The way to a place, found anew before every step."""

    kind = "walk"
    expects_change = False

    def __init__(self, world: WorldView, x: int, y: int, steps: int = 0, idle: int = 0, way: int | None = None) -> None:
        self._world = world
        self._place = (x, y)
        self._steps = steps
        self._idle = idle
        self._way = way

    def next(self, observation: Observation) -> Turn:
        """Return the next step, or how the walk ended."""
        assert self._world.way_to is not None
        x, y = self._place
        way = self._world.way_to(x, y)
        if way is None:
            return Turn(None, f"No way to ({x}, {y}) is known after {self._steps} steps.")
        if not way:
            return Turn(None, f"Arrived at ({x}, {y}) after {self._steps} steps.")
        self._idle = self._idle + 1 if len(way) == self._way else 0
        self._way = len(way)
        if self._idle > PATIENCE:
            return Turn(None, f"Something is in the way to ({x}, {y}): {PATIENCE} steps led nowhere.")
        self._steps += 1
        return Turn(way[0])

    @property
    def left(self) -> list[str]:
        """What is still to be done."""
        return [f"walk to ({self._place[0]}, {self._place[1]})"]

    def save(self) -> dict[str, Any]:
        """Return it as JSON-safe data."""
        x, y = self._place
        return {"kind": self.kind, "x": x, "y": y, "steps": self._steps, "idle": self._idle, "way": self._way}


class Program:
    """A script in the button language."""

    kind = "script"
    expects_change = False

    def __init__(self, target: Target, text: str, place: dict[str, Any] | None = None) -> None:
        self._text = text
        self._execution = Execution(ScriptCompiler(target).compile(text), target)
        if place is not None:
            self._execution.load(place)

    def next(self, observation: Observation) -> Turn:
        """Return the next command of the script, or how it ended."""
        turn = self._execution.next(observation.state)
        if turn.command is not None:
            return Turn(turn.command, checkpoints=turn.checkpoints)
        if turn.failures:
            return Turn(None, f"The script failed in line {turn.failures[-1].line}: {turn.failures[-1].message}.")
        return Turn(None, "The script was played to its end.", turn.checkpoints)

    @property
    def left(self) -> list[str]:
        """What is still to be done."""
        return ["rest of the script"]

    def save(self) -> dict[str, Any]:
        """Return it as JSON-safe data."""
        return {"kind": self.kind, "text": self._text, "place": self._execution.save()}


Course = Plan | Walk | Program


def load_course(saved: dict[str, Any], world: WorldView, target: Target) -> Course:
    """Return a course as it was saved."""
    rest = {name: value for name, value in saved.items() if name != "kind"}
    match saved["kind"]:
        case "plan":
            return Plan(target, **rest)
        case "walk":
            return Walk(world, **rest)
        case "script":
            return Program(target, **rest)
    raise ScriptFailed(f"{saved['kind']!r} is not a course; take another snapshot")


def make_course(name: str, given: dict[str, Any], world: WorldView, target: Target, moves: int) -> Course:
    """Return what a tool of a model starts; arguments that can't be used are a `PtpError`."""
    if name == "act":
        wanted = given["moves"]
        if not wanted or len(wanted) > moves:
            raise UsageError(f"{len(wanted)} moves; plan 1 to {moves}")
        return Plan(target, wanted, given.get("expect") or ())
    if name == "go_to":
        return Walk(world, given["x"], given["y"])
    return Program(target, given["script"])
