"""Text laid out for the room there is: tables, paragraphs, and lists of commands."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence

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
    return "\n".join(line for block in _blocks(text) for line in _fit_block(block, width))


def _blocks(text: str) -> Iterator[list[str]]:
    """Return the lines of a text: those of one paragraph together, all others alone."""
    paragraph: list[str] = []
    for line in text.split("\n"):
        if line and not line.startswith(" ") and not line.endswith(":"):
            paragraph.append(line)
            continue
        if paragraph:
            yield paragraph
        paragraph = []
        yield [line]
    if paragraph:
        yield paragraph


def _fit_block(block: list[str], width: int) -> list[str]:
    first = block[0]
    if not first.startswith(" "):
        return wrap(" ".join(block), width)
    pair = PAIR.fullmatch(first)
    if len(first) <= width or pair is None:
        return [first]
    command, purpose = pair.groups()
    start = pair.start(2)
    if width - start < BESIDE:
        return [command, *(f"      {line}" for line in wrap(purpose, width - 6))]
    beside, *below = wrap(purpose, width - start)
    return [first[:start] + beside, *(" " * start + line for line in below)]


def fit_table(table: Table, room: int, right: Sequence[str], spare: Sequence[str]) -> Table:
    """Return a table that fits: the columns in *spare* are left out in turn, then sentences are wrapped."""
    for name in spare:
        if total(widths(table)) > room and name in table[0]:
            table = _without(table, table[0].index(name))
    for column in _wordy(table, right):
        excess = total(widths(table)) - room
        if excess > 0:
            table = _narrowed(table, column, widths(table)[column] - excess)
    return table


def _without(table: Table, column: int) -> Table:
    return [row[:column] + row[column + 1 :] for row in table]


def _narrowed(table: Table, column: int, width: int) -> Table:
    return [[*row[:column], "\n".join(wrap(row[column], width)), *row[column + 1 :]] for row in table]


def _wordy(table: Table, right: Sequence[str]) -> list[int]:
    """Return the columns that hold words and not numbers, the widest first."""
    wide = widths(table)
    words = [
        column
        for column, name in enumerate(table[0])
        if name not in right and any(" " in row[column] for row in table[1:])
    ]
    return sorted(words, key=lambda column: -wide[column])


def widths(table: Table) -> list[int]:
    """Return how wide each column is."""
    return [max(len(line) for cell in cells for line in cell.split("\n")) for cells in zip(*table, strict=True)]


def total(columns: list[int]) -> int:
    """Return how wide columns are together."""
    return sum(columns) + GAP * (len(columns) - 1)


def row_lines(cells: Sequence[str], wide: Sequence[int], ends: Sequence[bool]) -> list[str]:
    """Return one row as lines, as many as its highest cell has; where *ends* is true, cells end together."""
    parts = [cell.split("\n") for cell in cells]
    height = max(map(len, parts))
    filled = [part + [""] * (height - len(part)) for part in parts]
    return [
        (" " * GAP)
        .join(
            text.rjust(width) if end else text.ljust(width) for text, width, end in zip(line, wide, ends, strict=True)
        )
        .rstrip()
        for line in zip(*filled, strict=True)
    ]
