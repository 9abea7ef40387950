"""From text to statements; a line that can't be read is named, and reading continues behind it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, cast

import msgspec
from lark import Lark, Token, Transformer, UnexpectedCharacters, UnexpectedInput, UnexpectedToken

from ptp.errors import nearest
from ptp.scripts.conditions import AllOf, AnyOf, Comparison, Condition, Field, Literal, Memory, Not, Operand
from ptp.scripts.problems import Problem

GRAMMAR = Path(__file__).with_name("script.lark")
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
CONDITIONAL = frozenset({"UNTIL", "WHILE", "IF", "EXPECT"})
HIDDEN = re.compile(r'"[^"\n]*"|#[^\n]*')
SEPARATOR = re.compile(r"(?:;|\n|#[^\n]*)(?:\s|;|#[^\n]*)*")
OPENED = re.compile(r"[{};]")
WORD = re.compile(r"[^\W\d]\w*")


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
def _parser() -> Lark:
    grammar = GRAMMAR.read_text(encoding="utf-8")
    return Lark(
        grammar, parser="lalr", lexer="contextual", start="script", transformer=_Build(), maybe_placeholders=False
    )


class Parsed(NamedTuple):
    """The statements that could be read, and what is wrong with the other lines."""

    body: Block
    problems: list[Problem]


def parse(text: str) -> Parsed:
    """Read a script."""
    try:
        body: Any = _parser().parse(text)
    except UnexpectedInput:
        return _Recovery(text).read()
    return Parsed(body, [])


class _Recovery:
    """Reads a script with mistakes: at each it gives up the statement and continues at the end of the line."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._parser = cast(Any, _parser().parse_interactive(text))
        self._state = self._parser.parser_state
        self._place = self._parser.lexer_thread.state.line_ctr
        self.problems: list[Problem] = []

    def read(self) -> Parsed:
        while True:
            try:
                for token in self._parser.lexer_thread.lex(self._state):
                    self._parser.feed_token(token)
                break
            except UnexpectedInput as mistake:
                self._note(mistake)
                self._skip_line(mistake)
        return Parsed(self._end(), self.problems)

    def _end(self) -> Block:
        while True:
            try:
                body: Block = self._parser.feed_eof()
            except UnexpectedInput as mistake:
                opened = [token for token in self._state.value_stack if getattr(token, "type", "") == "LBRACE"]
                unfinished = not self._may_begin() and not self._takes("_SEP")
                if unfinished:
                    self._note(mistake)
                    self._give_up()
                elif opened:
                    self._add(opened[-1], "this { is never closed", "write } on a line of its own behind the block")
                    self._feed("RBRACE", "}")
                else:
                    raise
            else:
                return body

    def _skip_line(self, mistake: UnexpectedInput) -> None:
        start = mistake.pos_in_stream
        assert start is not None
        at_end = isinstance(mistake, UnexpectedToken) and mistake.token.type == "_SEP"
        end = start if at_end else self._text.find("\n", start)
        end = len(self._text) if end < 0 else end
        skipped = HIDDEN.sub("", self._text[start:end])
        self._give_up()
        self._balance(skipped.count("{") - skipped.count("}"))
        reached = self._place.char_pos
        if at_end and self._takes("_SEP"):
            self._feed("_SEP", "\n")
        elif not at_end:
            if not self._takes("_SEP"):
                found = SEPARATOR.match(self._text, end)
                end = found.end() if found else end
            if end > reached:
                self._place.feed(Token("_SEP", self._text[reached:end]))

    def _give_up(self) -> None:
        """Forget what was read of a statement."""
        while not self._may_begin() and not self._takes("_SEP"):
            self._state.state_stack.pop()
            self._state.value_stack.pop()

    def _balance(self, opened: int) -> None:
        """Open or close as many blocks as the line that was skipped."""
        if opened > 0 and not self._may_begin():
            self._feed("_SEP", "\n")
        for _ in range(opened):
            self._feed("IF", "IF")  # an ELSE may follow the block
            self._feed("NUMBER", "1")
            self._feed("LBRACE", "{")
        for _ in range(-opened):
            if self._takes("RBRACE"):
                self._feed("RBRACE", "}")

    def _may_begin(self) -> bool:
        return self._takes("PRESS")

    def _takes(self, kind: str) -> bool:
        return kind in self._parser.choices() and kind in self._parser.accepts()

    def _feed(self, kind: str, text: str) -> None:
        place = self._place
        self._parser.feed_token(Token(kind, text, line=place.line, column=place.column))

    def _add(self, token: Token, message: str, suggestion: str) -> None:
        assert token.line is not None
        assert token.column is not None
        self.problems.append(Problem(token.line, token.column, max(1, len(token)), message, suggestion))

    def _note(self, mistake: UnexpectedInput) -> None:
        found, position = self._found(mistake)
        line = self._text[self._text.rfind("\n", 0, position) + 1 : position]
        statement = OPENED.split(line)[-1]
        first = WORD.search(statement)
        word = first[0].upper() if first and not statement[: first.start()].strip() else ""
        if first and word and word not in FORMS and not statement[first.end() :].strip():
            column = len(line) - len(statement) + first.start() + 1
            self._add(Token("NAME", first[0], line=found.line, column=column), *_unknown(first[0]))
        elif not word and found.type == "NAME":
            self._add(found, *_unknown(found))
        else:
            self._add(found, *_explain(found, word))

    def _found(self, mistake: UnexpectedInput) -> tuple[Token, int]:
        """Return what stood where something else was expected, which is nothing at the end of a line, and its place."""
        if isinstance(mistake, UnexpectedCharacters):
            position = cast(int, mistake.pos_in_stream)
            return Token("LETTER", mistake.char, line=mistake.line, column=mistake.column), position
        assert isinstance(mistake, UnexpectedToken)
        token, position = mistake.token, mistake.token.start_pos or 0
        if token.type not in ("_SEP", "$END", "_ELSE"):
            return token, position
        if token.type == "_SEP":
            return Token("END", "", line=token.line, column=token.column), position
        position = len(self._text) if token.type == "$END" else (token.end_pos or 0) - len("ELSE")
        line, column = self._text.count("\n", 0, position) + 1, position - self._text.rfind("\n", 0, position)
        return Token(token.type, "ELSE" if token.type == "_ELSE" else "", line=line, column=column), position


def _unknown(word: str) -> tuple[str, str]:
    near = nearest(word.upper(), list(FORMS))
    return f"no statement named {str(word)!r}", f"did you mean {near}?" if near else f"statements: {', '.join(FORMS)}"


def _explain(found: Token, word: str) -> tuple[str, str]:
    form = FORMS.get(word)
    hint = f"write {form}" if form else "write one statement per line"
    if found == "=" and word in CONDITIONAL:
        return "= can't compare", "write == for equal"
    if found == '"':
        return "this text has no closing quote", 'end it with " on the same line'
    if found == "}" and not form:
        return "this } closes nothing", "remove it, or open a block with {"
    if found.upper() == "ELSE":
        return "ELSE has no IF before it", "write it behind the } of an IF"
    if not found:
        return f"{word} is not complete" if form else "the line is not complete", hint
    return f"unexpected {str(found)!r}", hint


def tokens(text: str) -> Iterator[Token]:
    """Return every token of a script that can be read, line ends with their comments included."""
    parser: Any = _parser().parse_interactive(text)
    for token in parser.lexer_thread.lex(parser.parser_state):
        parser.feed_token(token)
        yield token
