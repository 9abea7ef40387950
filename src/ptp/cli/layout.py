"""Text laid out for the room there is: tables, paragraphs, and lists of commands."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from itertools import groupby, zip_longest

GAP = 2  # columns between two cells
LEAST = 16  # columns that a cell of many words keeps
BESIDE = 30  # columns that a purpose beside its command needs
PAIR = re.compile(r"(  \S.*?)  +(\S.*)")

Table = list[list[str]]


def wrap(text: str, width: int) -> list[str]:
    """Return text in lines of that width; words longer than it stay whole, so that they can be copied."""
    return textwrap.wrap(text, max(LEAST, width), break_long_words=False, break_on_hyphens=False) or [""]


def fit_text(text: str, width: int) -> str:
    """Return a help text for that width: paragraphs are filled, indented lines stay, descriptions go below if need be.

    An indented line may be two cells, a command and what it does, with two blanks or more between them.
    """
    lines: list[str] = []
    for is_prose, group in groupby(text.split("\n"), _is_prose):
        if is_prose:
            lines += wrap(" ".join(group), width)
        else:
            lines += (fitted for line in group for fitted in _fit_line(line, width))
    return "\n".join(lines)


def _is_prose(line: str) -> bool:
    return bool(line) and not line.startswith(" ") and not line.endswith(":")


def _fit_line(line: str, width: int) -> list[str]:
    if not line.startswith(" "):
        return wrap(line, width)
    pair = PAIR.fullmatch(line)
    if len(line) <= width or pair is None:
        return [line]
    command, purpose = pair.groups()
    start = pair.start(2)
    if width - start < BESIDE:
        return [command, *(f"      {below}" for below in wrap(purpose, width - 6))]
    beside, *below = wrap(purpose, width - start)
    return [line[:start] + beside, *(" " * start + rest for rest in below)]


def fit_table(table: Table, room: int, right: Sequence[str], spare: Sequence[str]) -> Table:
    """Return a table that fits: the columns in *spare* are left out in turn, then sentences are wrapped."""
    for name in spare:
        if total(widths(table)) > room and name in table[0]:
            column = table[0].index(name)
            table = [row[:column] + row[column + 1 :] for row in table]
    for column in _wordy(table, right):
        excess = total(widths(table)) - room
        if excess > 0:
            width = widths(table)[column] - excess
            table = [[*row[:column], "\n".join(wrap(row[column], width)), *row[column + 1 :]] for row in table]
    return table


def _wordy(table: Table, right: Sequence[str]) -> list[int]:
    """Return the columns that hold words and not numbers, the widest first."""
    wide, rows = widths(table), table[1:]
    words = [at for at, name in enumerate(table[0]) if name not in right and any(" " in row[at] for row in rows)]
    return sorted(words, key=lambda column: -wide[column])


def widths(table: Table) -> list[int]:
    """Return how wide each column is."""
    return [max(len(line) for cell in cells for line in cell.split("\n")) for cells in zip(*table, strict=True)]


def total(columns: list[int]) -> int:
    """Return how wide columns are together."""
    return sum(columns) + GAP * (len(columns) - 1)


def row_lines(cells: Sequence[str], wide: Sequence[int], ends: Sequence[bool]) -> list[str]:
    """Return one row as lines, as many as its highest cell has; where *ends* is true, cells end together."""
    lines = []
    for parts in zip_longest(*(cell.split("\n") for cell in cells), fillvalue=""):
        padded = [
            part.rjust(width) if end else part.ljust(width) for part, width, end in zip(parts, wide, ends, strict=True)
        ]
        lines.append((" " * GAP).join(padded).rstrip())
    return lines
