"""A plan as a list of instructions: what is kept, and what is played."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any, Literal, TypeAlias

import msgspec

from ptp.scripts.conditions import Condition, Field, Memory, operands, show
from ptp.scripts.plan import Body, Branch, Call, Checkpoint, Expect, Grip, Key, Loop, Play, Press, Repeat, Wait
from ptp.scripts.target import Target

Operation: TypeAlias = Literal[
    "press", "play", "wait", "hold", "release", "enter", "count", "until", "while", "unless", "jump", "call", "return",
    "checkpoint", "expect", "end",
]  # fmt: skip


class Instruction(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """One step of a compiled script."""

    op: Operation
    line: int
    text: str = ""
    """A button, a command or a name."""
    number: int = 0
    """How many times, how many frames, or at most how many rounds."""
    hold: int | None = None
    """How many frames to hold the button; as the world does when left out."""
    target: int = 0
    """The instruction that follows when it is not the next one."""
    condition: Any = None


class Bounds(msgspec.Struct, frozen=True):
    """The least and the most of a figure, if nothing fails."""

    low: int
    high: int

    @property
    def exact(self) -> int | None:
        """The figure, where the script always takes the same."""
        return self.low if self.low == self.high else None


class Coder:
    """Writes the instructions of a plan, and the routines behind it."""

    def __init__(self) -> None:
        self.code: list[Instruction] = []
        self._calls: list[tuple[int, Call]] = []

    def write(self, main: Body, routines: dict[Key, Body]) -> list[Instruction]:
        """Return the instructions; only routines that are called are in them."""
        self._body(main)
        self._add("end", main[-1].line if main else 1)
        starts: dict[Key, int] = {}
        for place, call in self._calls:  # it grows while routines are written
            if call.key not in starts:
                starts[call.key] = len(self.code)
                self._body(routines[call.key])
                self._add("return", call.line)
            self.code[place] = Instruction("call", call.line, str(call.key[0]), target=starts[call.key])
        return self.code

    def _add(self, op: Operation, line: int, text: str = "", number: int = 0, **more: Any) -> int:
        self.code.append(Instruction(op, line, text, number, **more))
        return len(self.code) - 1

    def _aim(self, place: int) -> None:
        self.code[place] = msgspec.structs.replace(self.code[place], target=len(self.code))

    def _body(self, body: Body) -> None:
        for it in body:
            match it:
                case Press():
                    self.code.append(Instruction("press", it.line, it.button, it.times, it.hold))
                case Wait():
                    self.code.append(Instruction("wait", it.line, "", it.frames))
                case Play():
                    self._add("play", it.line, it.command, it.times)
                case Grip():
                    self._add("hold" if it.down else "release", it.line, it.button)
                case Checkpoint():
                    self._add("checkpoint", it.line, it.name)
                case Expect():
                    self._add("expect", it.line, show(it.condition), condition=it.condition)
                case Call():
                    self._calls.append((self._add("call", it.line), it))
                case Branch():
                    self._branch(it)
                case _:
                    self._rounds(it)

    def _branch(self, it: Branch) -> None:
        place = self._add("unless", it.line, show(it.condition), condition=it.condition)
        self._body(it.then)
        if it.otherwise:
            behind = self._add("jump", it.line)
            self._aim(place)
            place = behind
            self._body(it.otherwise)
        self._aim(place)

    def _rounds(self, it: Repeat | Loop) -> None:
        self._add("enter", it.line)
        if isinstance(it, Repeat):
            place = self._add("count", it.line, number=it.times)
        else:
            op: Operation = "until" if it.until else "while"
            place = self._add(op, it.line, show(it.condition), it.most, condition=it.condition)
        self._body(it.body)
        self._add("jump", it.line, target=place)
        self._aim(place)


Extent: TypeAlias = tuple[int, int, int, int]
"""Ticks at least and at most, frames at least and at most."""


class Measure:
    """How many ticks and frames a plan takes."""

    def __init__(self, target: Target, routines: dict[Key, Body], ranks: dict[str, int]) -> None:
        self._target = target
        self._known: dict[Key, Extent] = {}
        for key in sorted(routines, key=lambda key: ranks[key[0]]):
            self._known[key] = self.extent(routines[key])

    def extent(self, body: Body) -> Extent:
        """Return what a block takes."""
        ticks_low = ticks_high = frames_low = frames_high = 0
        for it in body:
            one, two, three, four = self._of(it)
            ticks_low += one
            ticks_high += two
            frames_low += three
            frames_high += four
        return ticks_low, ticks_high, frames_low, frames_high

    def _of(self, it: Any) -> Extent:
        target = self._target
        match it:
            case Press(_, hold, times):
                frames = target.press_frames(hold) * times
                ticks = times if target.timing else frames
                return ticks, ticks, frames, frames
            case Play(command, times):
                frames = target.command_frames(command) * times
                return times, times, frames, frames
            case Wait(frames):
                ticks = target.count_ticks(frames)
                return ticks, ticks, frames, frames
            case Repeat(times, body):
                low, high, least, most = self.extent(body)
                return low * times, high * times, least * times, most * times
            case Loop(_, _, rounds, body):
                _, high, _, most = self.extent(body)
                return 0, high * rounds, 0, most * rounds
            case Branch(_, then, otherwise):
                one, two = self.extent(then), self.extent(otherwise)
                return min(one[0], two[0]), max(one[1], two[1]), min(one[2], two[2]), max(one[3], two[3])
            case Call(key):
                return self._known[key]
        return 0, 0, 0, 0


class FailurePoint(msgspec.Struct, frozen=True):
    """A statement that can fail."""

    line: int
    condition: str


def failure_points(code: list[Instruction]) -> Iterator[FailurePoint]:
    """Return what can fail, in the order of lines, each once."""
    found = {(it.line, _failing(it)): None for it in code if it.op in ("expect", "until", "while")}
    yield from (FailurePoint(line, text) for line, text in sorted(found))


def _failing(it: Instruction) -> str:
    return f"EXPECT {it.text}" if it.op == "expect" else f"{it.op.upper()} {it.text} MAX {it.number}"


def conditions(code: list[Instruction]) -> Iterator[Condition]:
    """Return every condition."""
    yield from (it.condition for it in code if it.condition is not None)


def asked_names(code: list[Instruction]) -> tuple[str, ...]:
    """Return the names of the state that a script asks for."""
    asked = (operand for condition in conditions(code) for operand in operands(condition))
    return tuple(sorted({operand.path for operand in asked if isinstance(operand, Field)}))


def asked_addresses(code: list[Instruction]) -> tuple[int, ...]:
    """Return the addresses that a script reads."""
    asked = (operand for condition in conditions(code) for operand in operands(condition))
    return tuple(sorted({operand.address for operand in asked if isinstance(operand, Memory)}))


def size_in_memory(code: list[Instruction]) -> int:
    """Return the bytes that instructions take, without what they share with the text."""
    return sys.getsizeof(code) + sum(map(sys.getsizeof, code))
