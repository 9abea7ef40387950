"""One way to write a script: keywords in capitals, four spaces for each block, comments where they were."""

from __future__ import annotations

import re
from itertools import groupby
from typing import NamedTuple

from ptp.scripts.problems import refusal
from ptp.scripts.statements import FORMS
from ptp.scripts.syntax import parse, tokens

INDENT = "    "
WORDS = frozenset({*FORMS, "_MAX", "_AND", "_OR", "_NOT", "_ELSE"})
BETWEEN = re.compile(r"\n|;|#[^\n]*")
TIGHT_BEFORE = frozenset({",", ";", ")", "]"})
TIGHT_AFTER = frozenset({"(", "["})


class Piece(NamedTuple):
    """A part of a line."""

    line: int
    kind: str
    text: str


def format_script(text: str, name: str = "script") -> str:
    """Return a script in its usual form; one that can't be read is refused, and comments stay."""
    problems = parse(text).problems
    if problems:
        raise refusal(problems, text, name)
    lines: list[str] = []
    depth = last = 0
    for number, group in groupby(_pieces(text), key=lambda piece: piece.line):
        pieces = list(group)
        opened = [piece.text for piece in pieces if piece.kind in ("LBRACE", "RBRACE")]
        closing = next((index for index, piece in enumerate(pieces) if piece.kind != "RBRACE"), len(pieces))
        lines += [""] * (bool(lines) and number > last + 1)
        lines.append(INDENT * (depth - closing) + _line(pieces))
        depth += opened.count("{") - opened.count("}")
        last = number
    return "".join(f"{line}\n" for line in lines)


def _pieces(text: str) -> list[Piece]:
    """Return every word, sign and comment; a semicolon only where it stands between two statements of a line."""
    pieces: list[Piece] = []
    for token in tokens(text):
        line = token.line or 1
        if token.type in ("_SEP", "_ELSE"):
            for found in BETWEEN.finditer(token):
                if found[0] != "\n":
                    pieces.append(Piece(line, "COMMENT" if found[0][0] == "#" else "SEMICOLON", found[0].rstrip()))
                line += found[0] == "\n"
        if token.type != "_SEP":
            word = token.strip().rpartition("\n")[2].strip() if token.type == "_ELSE" else str(token)
            pieces.append(Piece(line, token.type, word.upper() if token.type in WORDS else word))
    return [piece for index, piece in enumerate(pieces) if piece.kind != "SEMICOLON" or _separates(pieces, index)]


def _separates(pieces: list[Piece], index: int) -> bool:
    line = pieces[index].line
    before = pieces[index - 1] if index else None
    after = next((piece for piece in pieces[index + 1 :] if piece.kind != "SEMICOLON"), None)
    if before is None or after is None or before.line != line or after.line != line:
        return False
    return before.kind not in ("LBRACE", "SEMICOLON") and after.kind not in ("RBRACE", "COMMENT")


def _line(pieces: list[Piece]) -> str:
    written, before = "", Piece(0, "", "")
    for piece in pieces:
        is_call = piece.text == "(" and before.kind == "NAME"
        tight = not written or is_call or piece.text in TIGHT_BEFORE or before.text in TIGHT_AFTER
        written += piece.text if tight else f" {piece.text}"
        before = piece
    return written
