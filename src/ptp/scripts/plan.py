"""What a script does, with the arguments of every call filled in: the form that is optimised and measured."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import msgspec
from lark import Token

from ptp.scripts import statements
from ptp.scripts.checks import MOST_TIMES, Checker
from ptp.scripts.conditions import AllOf, AnyOf, Comparison, Condition, Field, Literal, Memory, Not
from ptp.scripts.grammar import value_of
from ptp.scripts.target import MOST_WAIT, Target

MOST_PARTS = 20_000  # different calls, each of which becomes code of its own


class Press(msgspec.Struct, gc=False):
    """Press a button some times, each a tick."""

    button: str
    hold: int | None
    times: int
    line: int


class Play(msgspec.Struct, gc=False):
    """Give the world a command as it stands, some times."""

    command: str
    times: int
    line: int


class Wait(msgspec.Struct, gc=False):
    """Let frames pass."""

    frames: int
    line: int


class Grip(msgspec.Struct, gc=False):
    """Hold a button from now on, or release it."""

    button: str
    down: bool
    line: int


class Repeat(msgspec.Struct, gc=False):
    """Run a block some times."""

    times: int
    body: list[Any]
    line: int


class Loop(msgspec.Struct, gc=False):
    """Run a block until a condition is met, or while it is; at most so many times."""

    condition: Condition
    until: bool
    most: int
    body: list[Any]
    line: int


class Branch(msgspec.Struct, gc=False):
    """Run one of two blocks."""

    condition: Condition
    then: list[Any]
    otherwise: list[Any]
    line: int


Key: TypeAlias = tuple[Any, ...]
"""A routine and the arguments it is called with."""


class Call(msgspec.Struct, gc=False):
    """Run a routine."""

    key: Key
    line: int


class Checkpoint(msgspec.Struct, gc=False):
    """Note that the script came here."""

    name: str
    line: int


class Expect(msgspec.Struct, gc=False):
    """Fail unless a condition is met."""

    condition: Condition
    line: int


Body: TypeAlias = list[Any]
Values: TypeAlias = Mapping[str, Any]
Nested: TypeAlias = statements.Repeat | statements.Loop | statements.Branch


class Planner:
    """Fills in arguments: each routine once for every set of arguments that it is called with."""

    def __init__(self, target: Target, checker: Checker) -> None:
        self._target = target
        self._checker = checker
        self._waiting: list[tuple[Key, Token]] = []
        self.routines: dict[Key, Body] = {}

    def plan(self, body: statements.Block) -> Body:
        """Return a whole script; its routines follow in `routines`."""
        main = self._body(body, {})
        while self._waiting and not self._checker.failed:
            key, at = self._waiting.pop()
            define = self._checker.routines[key[0]]
            self.routines[key] = self._body(define.body, dict(zip(map(str.lower, define.names), key[1:], strict=True)))
            if len(self.routines) > MOST_PARTS:
                self._checker.add(at, f"more than {MOST_PARTS:,} different calls", "use fewer arguments")
        return main

    def _body(self, body: statements.Block, values: Values) -> Body:
        planned: Body = []
        for it in body:
            line = it.at.line
            match it:
                case statements.Press():
                    planned.append(Press(self._button(it.button, values), self._held(it, values), 1, line))
                case statements.Wait():
                    planned.append(Wait(self._number(it.frames, values, 0, MOST_WAIT), line))
                case statements.Move():
                    planned.append(self._move(it, values))
                case statements.Command():
                    planned.append(
                        Play(str(it.at).lower() if it.at.type == "TIMED" else self._button(it.at, {}), 1, line)
                    )
                case statements.Hold() | statements.Release():
                    button = self._button(it.button, values)
                    planned.append(Grip(button, isinstance(it, statements.Hold), line))
                case statements.Checkpoint():
                    planned.append(Checkpoint(value_of(it.name), line))
                case statements.Expect():
                    planned.append(Expect(fill(it.condition, values), line))
                case statements.Call():
                    planned.append(self._call(it, values))
                case statements.Define():
                    pass
                case _:
                    planned.append(self._block(it, values))
        return planned

    def _block(
        self, it: statements.Repeat | statements.Loop | statements.Branch, values: Values
    ) -> Repeat | Loop | Branch:
        line = it.at.line or 0
        if isinstance(it, statements.Repeat):
            return Repeat(self._number(it.times, values, 0, MOST_TIMES), self._body(it.body, values), line)
        condition = fill(it.condition, values)
        if isinstance(it, statements.Branch):
            return Branch(condition, self._body(it.then, values), self._body(it.otherwise, values), line)
        assert it.most is not None
        most = self._number(it.most, values, 1, MOST_TIMES)
        return Loop(condition, it.at.upper() == "UNTIL", most, self._body(it.body, values), line)

    def _held(self, it: statements.Press, values: Values) -> int | None:
        return None if it.frames is None else self._number(it.frames, values, 1, self._target.longest_press)

    def _move(self, it: statements.Move, values: Values) -> Press:
        button = self._button(it.button, values)
        if it.button.lower() in values and button not in self._target.directions:
            self._checker.direction(it.button, f"{it.button} = {button}")
        times = 1 if it.times is None else self._number(it.times, values, 0, MOST_TIMES)
        return Press(button, None, times, it.at.line or 0)

    def _call(self, it: statements.Call, values: Values) -> Call:
        filled = (values.get(token.lower(), token) if token.type == "NAME" else value_of(token) for token in it.values)
        key = (it.at.lower(), *(str(value) if isinstance(value, Token) else value for value in filled))
        if key not in self.routines:
            self.routines[key] = []
            self._waiting.append((key, it.at))
        return Call(key, it.at.line or 0)

    def _button(self, token: Token, values: Values) -> str:
        value = values.get(token.lower()) if token.type == "NAME" else None
        text = str(value_of(token) if token.type == "STRING" else token) if value is None else str(value)
        found = self._target.button(text)
        if found is None:
            takes = ", ".join(self._target.buttons) or "numbers or JSON in quotes"
            self._checker.add(token, f"{token} = {value!r} is not a button", f"{self._target.world} takes {takes}")
        return found or text

    def _number(self, token: Token, values: Values, least: int, most: int) -> int:
        value = values.get(token.lower()) if token.type == "NAME" else value_of(token)
        if isinstance(value, int) and least <= value <= most:
            return value
        self._checker.add(token, f"{token} = {value!r} is not a number in range", f"call it with {least} to {most:,}")
        return least


def fill(condition: Condition, values: Values) -> Condition:
    """Return a condition with the arguments of a routine filled in, and without places in the text."""
    match condition:
        case Comparison(sign, left, right):
            return Comparison(sign, fill(left, values), fill(right, values))
        case Not(part):
            return Not(fill(part, values))
        case AllOf(parts):
            return AllOf([fill(part, values) for part in parts])
        case AnyOf(parts):
            return AnyOf([fill(part, values) for part in parts])
        case Field(path):
            given = values.get(path.lower())
            return Field(path) if given is None else Literal(given)
        case Memory(address):
            return Memory(address)
        case Literal(value):
            return Literal(value)
