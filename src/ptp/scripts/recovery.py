"""Reading a script with mistakes, so that all of them are found at once."""

from __future__ import annotations

import re
from typing import Any, cast

from lark import Token, UnexpectedCharacters, UnexpectedInput, UnexpectedToken
from lark.parsers.lalr_analysis import Shift

from ptp.errors import nearest
from ptp.scripts.grammar import make_parser
from ptp.scripts.problems import Problem
from ptp.scripts.statements import FORMS, Block

CONDITIONAL = frozenset({"UNTIL", "WHILE", "IF", "EXPECT"})
HIDDEN = re.compile(r'"[^"\n]*"|#[^\n]*')
SEPARATOR = re.compile(r"(?:;|\n|#[^\n]*)(?:\s|;|#[^\n]*)*")
OPENED = re.compile(r"[{};]")
WORD = re.compile(r"[^\W\d]\w*")


class Recovery:
    """Reads a script with mistakes: at each it gives up the statement and continues at the end of the line."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._parser = cast(Any, make_parser().parse_interactive(text))
        self._state = self._parser.parser_state
        self._place = self._parser.lexer_thread.state.line_ctr
        self.problems: list[Problem] = []

    def read(self) -> Block:
        """Return the statements that can be read; `problems` has what is wrong with the others."""
        while True:
            try:
                for token in self._parser.lexer_thread.lex(self._state):
                    self._parser.feed_token(token)
                break
            except UnexpectedInput as mistake:
                self._note(mistake)
                self._skip_line(mistake)
        return self._end()

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
        """Whether a token of a kind would be taken now; the table alone says only that it may be."""
        states, stack = self._state.parse_conf.states, list(self._state.state_stack)
        while kind in states[stack[-1]]:
            action, rule = states[stack[-1]][kind]
            if action is Shift:
                return True
            del stack[len(stack) - len(rule.expansion) :]
            stack.append(states[stack[-1]][rule.origin.name][1])
        return False

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
        if word == "ELSE":
            column = line.upper().rindex("ELSE") + 1
            self._add(Token("NAME", "ELSE", line=found.line, column=column), *_explain(Token("NAME", "ELSE"), ""))
        elif first and word and word not in FORMS and not statement[first.end() :].strip():
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
