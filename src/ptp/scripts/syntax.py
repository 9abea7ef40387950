"""From text to statements; a line that can't be read is named, and reading continues behind it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from lark import Token, UnexpectedInput

from ptp.scripts.grammar import make_parser
from ptp.scripts.problems import Problem
from ptp.scripts.recovery import Recovery
from ptp.scripts.statements import DEEPEST, Block

NESTED = re.compile(r'"[^"\n]*"|#[^\n]*|[{}()]')
STEPS = {"{": 1, "(": 1, "}": -1, ")": -1}


class Parsed(NamedTuple):
    """The statements that could be read, and what is wrong with the other lines."""

    body: Block
    problems: list[Problem]


def parse(text: str) -> Parsed:
    """Read a script."""
    deepest = _too_deep(text)
    if deepest is not None:
        return Parsed([], [deepest])
    try:
        body: Any = make_parser().parse(text)
    except UnexpectedInput:
        recovery = Recovery(text)
        return Parsed(recovery.read(), recovery.problems)
    return Parsed(body, [])


def _too_deep(text: str) -> Problem | None:
    """Return the place where blocks or parentheses stand deeper than anything that can be played."""
    depth = 0
    for found in NESTED.finditer(text) if text.count("{") + text.count("(") > DEEPEST else ():
        depth = max(0, depth + STEPS.get(found[0], 0))
        if depth > DEEPEST:
            line, column = text.count("\n", 0, found.start()) + 1, found.start() - text.rfind("\n", 0, found.start())
            return Problem(
                line, column, 1, f"this stands {depth} deep", "use fewer blocks and parentheses in each other"
            )
    return None


def tokens(text: str) -> Iterator[Token]:
    """Return every token of a script that can be read, line ends with their comments included."""
    parser: Any = make_parser().parse_interactive(text)
    for token in parser.lexer_thread.lex(parser.parser_state):
        parser.feed_token(token)
        yield token
