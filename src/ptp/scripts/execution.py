"""Playing a compiled script: one command at a time, each for the state that the one before led to."""

from __future__ import annotations

from collections.abc import Generator
from typing import Annotated, Any, Literal

import msgspec

from ptp.errors import ScriptFailed
from ptp.scripts.code import Instruction
from ptp.scripts.compiler import CompiledScript
from ptp.scripts.conditions import Literal as Constant
from ptp.scripts.conditions import holds, operands, show, value
from ptp.scripts.target import Target

MOST_STEPS = 100_000  # instructions between two commands; a script that needs more does nothing but count
OnFail = Literal["stop", "continue"]
Count = Annotated[int, msgspec.Meta(ge=0)]


class Failure(msgspec.Struct, frozen=True):
    """Something that the script expected, and that was not so."""

    line: int
    message: str


class Turn(msgspec.Struct, frozen=True):
    """What a script wants next, and what happened on the way there."""

    command: str | None
    """None when the script has ended."""
    checkpoints: tuple[str, ...] = ()
    """The checkpoints that were reached before the command."""
    failures: tuple[Failure, ...] = ()


class Place(msgspec.Struct):
    """Where an execution stands."""

    checksum: str
    position: Count = 0
    done: Count = 0
    """How much of the present instruction was played."""
    stack: list[Count] = []
    """Rounds of the loops it is in, and where its calls return to."""
    held: list[str] = []
    ended: bool = False


class Execution:
    """One execution of a script; it can be saved before any command, and loaded again."""

    def __init__(self, script: CompiledScript, target: Target, on_fail: OnFail = "stop") -> None:
        self._script = script
        self._code = script.instructions
        self._target = target
        self._on_fail = on_fail
        self._state: Any = None
        self._checkpoints: list[str] = []
        self._failures: list[Failure] = []
        self.place = Place(script.checksum)

    def next(self, state: Any) -> Turn:
        """Return the next command, in the state that the world is in now."""
        self._state, self._checkpoints, self._failures = state, [], []
        place, command = self.place, None
        for _ in range(MOST_STEPS):
            if place.ended or command is not None:
                break
            it = self._code[place.position]
            try:
                command = self._step(it)
            except ScriptFailed as problem:
                self._fail(it, str(problem), ends=True)
        else:
            it = self._code[place.position]
            self._fail(it, f"{MOST_STEPS:,} steps without a command; press or wait in the loop", ends=True)
        return Turn(command, tuple(self._checkpoints), tuple(self._failures))

    def _step(self, it: Instruction) -> str | None:
        """Do one instruction; return the command it gives."""
        place = self.place
        following = place.position + 1
        match it.op:
            case "press" | "play" | "wait":
                return self._play(it)
            case "hold":
                if it.text not in place.held:
                    place.held.append(it.text)
            case "release":
                if it.text in place.held:
                    place.held.remove(it.text)
            case "enter":
                place.stack.append(0)
            case "count" | "until" | "while":
                following = self._round(it)
            case "unless":
                following = following if self._met(it) else it.target
            case "jump":
                following = it.target
            case "call":
                place.stack.append(following)
                following = it.target
            case "return":
                following = place.stack.pop()
            case "checkpoint":
                self._checkpoints.append(it.text)
            case "expect":
                if not self._met(it):
                    self._fail(it, f"EXPECT {it.text} failed{self._values(it)}")
            case "end":
                place.ended, following = True, place.position
        self._jump(following)
        return None

    def _jump(self, position: int) -> None:
        self.place.position, self.place.done = position, 0

    def _play(self, it: Instruction) -> str | None:
        place, target = self.place, self._target
        if it.op == "wait":
            whole, part = it.number, target.tick_frames(it.number - place.done)
        else:
            whole, part = it.number * (it.hold or 1 if target.timing is None else 1), 1
        if place.done >= whole:
            self._jump(place.position + 1)
            return None
        if it.op == "play":
            command = it.text
        elif it.op == "wait":
            command = target.command(None, None, part, tuple(place.held))
        else:
            command = target.command(it.text, it.hold, target.press_frames(it.hold), tuple(place.held))
        place.done += part
        return command

    def _round(self, it: Instruction) -> int:
        """Return where the next round begins, or what follows the last one."""
        stack = self.place.stack
        if it.op == "count":
            over = stack[-1] >= it.number
        else:
            over = self._met(it) == (it.op == "until")
            if not over and stack[-1] >= it.number:
                not_so = "is not so" if it.op == "until" else "is still so"
                self._fail(it, f"{it.op.upper()}: {it.text} {not_so} after {it.number:,} rounds{self._values(it)}")
                over = True
        if over:
            stack.pop()
            return it.target
        stack[-1] += 1
        return self.place.position + 1

    def _met(self, it: Instruction) -> bool:
        return holds(it.condition, self) is True

    def field(self, path: str) -> Any:
        """Return a value of the present state."""
        return self._target.field(path, self._state)

    def byte(self, address: int) -> int:
        """Return a byte of the world's memory."""
        return self._target.byte(address)

    def _values(self, it: Instruction) -> str:
        """Return what a condition found."""
        found = {
            show(operand): value(operand, self)
            for operand in operands(it.condition)
            if not isinstance(operand, Constant)
        }
        known = (f"{name} is {'not known' if it is None else repr(it)}" for name, it in found.items())
        return "".join(f"{sign} {fact}" for sign, fact in zip([":", *[","] * len(found)], known, strict=False))

    def _fail(self, it: Instruction, message: str, *, ends: bool = False) -> None:
        self._failures.append(Failure(it.line, message))
        self.place.ended = self.place.ended or ends or self._on_fail == "stop"

    def save(self) -> dict[str, Any]:
        """Return the place in the script as JSON-safe data."""
        saved: dict[str, Any] = msgspec.to_builtins(self.place)
        return saved

    def load(self, saved: dict[str, Any]) -> None:
        """Return to a saved place; one of another script is refused."""
        try:
            place = msgspec.convert(saved, Place)
        except msgspec.ValidationError as problem:
            raise ScriptFailed(f"not a place in a script: {problem}; take another snapshot") from None
        if place.checksum != self._script.checksum or place.position >= len(self._code):
            raise ScriptFailed(
                f"{self._script.name} has changed since the snapshot was taken; put the old text back, or fork the run "
                "with another --script"
            )
        self.place = place


class Played(msgspec.Struct, frozen=True):
    """How an execution went."""

    checkpoints: tuple[str, ...]
    failures: tuple[Failure, ...]

    @property
    def success(self) -> bool:
        """Whether nothing failed."""
        return not self.failures


def play(execution: Execution, state: Any) -> Generator[str, Any, Played]:
    """Yield the commands of a script; each wants to be sent the state that it led to."""
    checkpoints: list[str] = []
    failures: list[Failure] = []
    while True:
        turn = execution.next(state)
        checkpoints += turn.checkpoints
        failures += turn.failures
        if turn.command is None:
            return Played(tuple(checkpoints), tuple(failures))
        state = yield turn.command
