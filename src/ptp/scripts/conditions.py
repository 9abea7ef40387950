"""What a script can ask of the state: comparisons, AND, OR, NOT.

A value that the world can't tell now is neither equal nor unequal to anything: what depends on it is not met, and its
opposite is not met either.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol, TypeAlias

import msgspec

from ptp.errors import ScriptFailed


class Field(msgspec.Struct, tag="field"):
    """A name of the state, such as `map`, `battle.enemy.hp` or `party.0.level`."""

    path: str
    at: Any = None
    """Where it stands in the text."""


class Memory(msgspec.Struct, tag="memory"):
    """A byte of the machine's memory."""

    address: Any
    at: Any = None


class Literal(msgspec.Struct, tag="literal"):
    """A number or a text."""

    value: Any
    at: Any = None


class Comparison(msgspec.Struct, tag="comparison"):
    """Two values and a sign between them."""

    sign: str
    left: Any
    right: Any
    at: Any = None


class Not(msgspec.Struct, tag="not"):
    """The opposite."""

    part: Any


class AllOf(msgspec.Struct, tag="and"):
    """Conditions joined by AND."""

    parts: list[Any]


class AnyOf(msgspec.Struct, tag="or"):
    """Conditions joined by OR."""

    parts: list[Any]


Operand: TypeAlias = Field | Memory | Literal
Condition: TypeAlias = Operand | Comparison | Not | AllOf | AnyOf
SIGNS: Mapping[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class Scene(Protocol):
    """What conditions are asked of."""

    def field(self, path: str) -> Any:
        """Return a value of the state; None when it can't be read now."""

    def byte(self, address: int) -> int:
        """Return a byte of memory."""


def holds(condition: Condition, scene: Scene) -> bool | None:
    """Return whether a condition is met; None when that can't be known now."""
    match condition:
        case Comparison():
            return _compare(condition, value(condition.left, scene), value(condition.right, scene))
        case Not(part):
            met = holds(part, scene)
            return None if met is None else not met
        case AllOf(parts):
            answers = [holds(part, scene) for part in parts]
            return False if False in answers else None if None in answers else True
        case AnyOf(parts):
            answers = [holds(part, scene) for part in parts]
            return True if True in answers else None if None in answers else False
        case _:
            found = value(condition, scene)
            return None if found is None else bool(found)


def value(operand: Operand, scene: Scene) -> Any:
    """Return what an operand stands for now."""
    match operand:
        case Field(path):
            return scene.field(path)
        case Memory(address):
            return scene.byte(address)
        case Literal(known):
            return known


def _compare(asked: Comparison, left: Any, right: Any) -> bool | None:
    if left is None or right is None:
        return None
    try:
        return bool(SIGNS[asked.sign](left, right))
    except (TypeError, ValueError):
        raise ScriptFailed(f"{show(asked)} can't be compared: {left!r} and {right!r} have no order") from None


def show(condition: Condition, inner: bool = False) -> str:
    """Return a condition as it is written."""
    match condition:
        case Comparison(sign, left, right):
            return f"{show(left)} {sign} {show(right)}"
        case Not(part):
            return f"NOT {show(part, True)}"
        case AllOf(parts) | AnyOf(parts):
            word = " AND " if isinstance(condition, AllOf) else " OR "
            text = word.join(show(part, True) for part in parts)
            return f"({text})" if inner else text
        case Field(path):
            return path
        case Memory(address):
            return f"[0x{address:X}]"
        case Literal(known):
            return f'"{known}"' if isinstance(known, str) else str(known)


def operands(condition: Condition) -> Iterator[Operand]:
    """Return every operand of a condition, from left to right."""
    match condition:
        case Comparison(_, left, right):
            yield left
            yield right
        case Not(part):
            yield from operands(part)
        case AllOf(parts) | AnyOf(parts):
            for part in parts:
                yield from operands(part)
        case _:
            yield condition
