"""The grammar of the language, and what it makes of a text."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from lark import Lark, Token, Transformer

from ptp.scripts.conditions import AllOf, AnyOf, Comparison, Condition, Field, Literal, Memory, Not, Operand
from ptp.scripts.statements import (
    Block,
    Branch,
    Call,
    Checkpoint,
    Command,
    Define,
    Expect,
    Hold,
    Loop,
    Move,
    Press,
    Release,
    Repeat,
    Wait,
)

GRAMMAR = Path(__file__).with_name("script.lark")


def _make(kind: Callable[..., Any]) -> Any:
    return staticmethod(lambda parts: kind(*parts))


class _Build(Transformer[Token, Block]):
    """Makes statements while the text is read."""

    script = block = names = values = staticmethod(lambda parts: parts)
    press, move, wait = _make(Press), _make(Move), _make(Wait)
    hold, release, repeat = _make(Hold), _make(Release), _make(Repeat)
    define, call, command = _make(Define), _make(Call), _make(Command)
    checkpoint, expect = _make(Checkpoint), _make(Expect)

    def loop(self, parts: list[Any]) -> Loop:
        return Loop(parts[0], parts[1], parts[2] if len(parts) == 4 else None, parts[-1])

    def branch(self, parts: list[Any]) -> Branch:
        otherwise = parts[3] if len(parts) == 4 else []
        return Branch(parts[0], parts[1], parts[2], [otherwise] if isinstance(otherwise, Branch) else otherwise)

    def any_of(self, parts: list[Condition]) -> Condition:
        return parts[0] if len(parts) == 1 else AnyOf(parts)

    def all_of(self, parts: list[Condition]) -> Condition:
        return parts[0] if len(parts) == 1 else AllOf(parts)

    def negated(self, parts: list[Condition]) -> Condition:
        return Not(parts[0])

    def comparison(self, parts: list[Any]) -> Condition:
        left, sign, right = parts
        return Comparison(str(sign), left, right, sign)

    def field(self, parts: list[Token]) -> Operand:
        return Field(str(parts[0]), parts[0])

    def literal(self, parts: list[Token]) -> Operand:
        return Literal(value_of(parts[0]), parts[0])

    def memory(self, parts: list[Token]) -> Operand:
        return Memory(value_of(parts[0]), parts[0])


def value_of(token: str) -> Any:
    """Return what a number or a text in quotes stands for."""
    if token[0] == '"':
        return token[1:-1]
    lowered = token.lower()
    if "x" in lowered:
        return int(lowered, 16)
    return float(token) if "." in token else int(token)


@cache
def make_parser() -> Lark:
    """Return what reads scripts, made once."""
    grammar = GRAMMAR.read_text(encoding="utf-8")
    return Lark(
        grammar, parser="lalr", lexer="contextual", start="script", transformer=_Build(), maybe_placeholders=False
    )
