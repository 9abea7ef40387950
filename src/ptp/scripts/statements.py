"""The statements of a script, as they stand in its text."""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec
from lark import Token

from ptp.scripts.conditions import Condition

FORMS = {
    "PRESS": "PRESS BUTTON [FRAMES]",
    "MOVE": "MOVE DIRECTION [TIMES]",
    "WAIT": "WAIT FRAMES",
    "HOLD": "HOLD BUTTON",
    "RELEASE": "RELEASE BUTTON",
    "REPEAT": "REPEAT TIMES { ... }",
    "UNTIL": "UNTIL CONDITION MAX TIMES { ... }",
    "WHILE": "WHILE CONDITION MAX TIMES { ... }",
    "IF": "IF CONDITION { ... } ELSE { ... }",
    "ELSE": "} ELSE { ... }",
    "DEFINE": "DEFINE NAME(NAMES) { ... }",
    "CHECKPOINT": 'CHECKPOINT "NAME"',
    "EXPECT": "EXPECT CONDITION",
}
"""How each statement is written."""
DEEPEST = 50  # blocks in blocks, parentheses in parentheses, and routines that call routines


class Press(msgspec.Struct, gc=False):
    """PRESS BUTTON FRAMES."""

    at: Token
    button: Token
    frames: Token | None = None


class Move(msgspec.Struct, gc=False):
    """MOVE BUTTON TIMES."""

    at: Token
    button: Token
    times: Token | None = None


class Wait(msgspec.Struct, gc=False):
    """WAIT FRAMES."""

    at: Token
    frames: Token


class Hold(msgspec.Struct, gc=False):
    """HOLD BUTTON."""

    at: Token
    button: Token


class Release(msgspec.Struct, gc=False):
    """RELEASE BUTTON."""

    at: Token
    button: Token


class Repeat(msgspec.Struct, gc=False):
    """REPEAT TIMES and a block."""

    at: Token
    times: Token
    body: Block


class Loop(msgspec.Struct, gc=False):
    """UNTIL or WHILE, a condition, MAX TIMES, and a block."""

    at: Token
    condition: Condition
    most: Token | None
    body: Block


class Branch(msgspec.Struct, gc=False):
    """IF, a condition, and one block or two."""

    at: Token
    condition: Condition
    then: Block
    otherwise: Block


class Define(msgspec.Struct, gc=False):
    """DEFINE, a name, the names of its arguments, and a block."""

    at: Token
    name: Token
    names: list[Token]
    body: Block


class Call(msgspec.Struct, gc=False):
    """The name of a routine, and its arguments."""

    at: Token
    values: list[Token]


class Command(msgspec.Struct, gc=False):
    """A command of the world as it stands."""

    at: Token


class Checkpoint(msgspec.Struct, gc=False):
    """CHECKPOINT NAME."""

    at: Token
    name: Token


class Expect(msgspec.Struct, gc=False):
    """EXPECT and a condition."""

    at: Token
    condition: Condition


Statement: TypeAlias = (
    Press | Move | Wait | Hold | Release | Repeat | Loop | Branch | Define | Call | Command | Checkpoint | Expect
)
Block: TypeAlias = list[Any]
"""Statements in order; of `Any`, since msgspec would have to know the type before it is complete."""
