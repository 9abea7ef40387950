"""Text laid out for the room there is: tables, paragraphs, lists of commands, and the help that they make."""

from __future__ import annotations

import argparse
import re
import textwrap
from collections.abc import Sequence
from itertools import groupby, zip_longest

from ptp.cli.verb import Verb
from ptp.cli.verbs import GROUPS, VERBS

GAP = 2  # columns between two cells
LEAST = 16  # columns that a cell of many words keeps
BESIDE = 30  # columns that a purpose beside its command needs
PAIR = re.compile(r"(  \S.*?)  +(\S.*)")
WIDEST = 100  # columns; longer lines are hard to read
OVERVIEW = """The flight recorder and control tower for game-playing agents.

try:
  ptp run --world tallgrass --agent explorer --tick-rate-base 0 --max-ticks 1000
  ptp show latest
  ptp replay latest --verify
  ptp dashboard

{verbs}

`ptp VERB --help` describes each. Every verb has --data-dir, --json, -q and -v.
"""

Table = list[list[str]]


def wrap(text: str, width: int) -> list[str]:
    """Return text in lines of that width; words longer than it stay whole, so that they can be copied."""
    return textwrap.wrap(text, max(LEAST, width), break_long_words=False, break_on_hyphens=False) or [""]


def fit_text(text: str, width: int) -> str:
    """Return a help text for that width: paragraphs are filled, indented lines stay, descriptions go below if need be.

    An indented line may be two cells, a command and what it does, with two blanks or more between them.
    """
    lines: list[str] = []

    def is_prose(line: str) -> bool:
        return bool(line) and not line.startswith(" ") and not line.endswith(":")

    for prose, group in groupby(text.split("\n"), is_prose):
        if prose:
            lines += wrap(" ".join(group), width)
        else:
            lines += (fitted for line in group for fitted in _fit_line(line, width))
    return "\n".join(lines)


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
    wide, rows = widths(table), table[1:]
    wordy = [at for at, name in enumerate(table[0]) if name not in right and any(" " in row[at] for row in rows)]
    for column in sorted(wordy, key=lambda column: -wide[column]):
        excess = total(widths(table)) - room
        if excess > 0:
            width = widths(table)[column] - excess
            table = [[*row[:column], "\n".join(wrap(row[column], width)), *row[column + 1 :]] for row in table]
    return table


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


def help_width() -> int:
    """Return how wide a help text may be."""
    from shutil import get_terminal_size  # here, since tables are laid out without it

    return min(WIDEST, max(30, get_terminal_size().columns - 2))


class Layout(argparse.HelpFormatter):
    """Help whose paragraphs are as wide as the terminal, and whose examples stay as they are."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=help_width())

    def start_section(self, heading: str | None) -> None:
        """Begin a group of options."""
        super().start_section(heading and "\n".join(wrap(heading, self._width - 1)))

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return fit_text(text, width)

    def _split_lines(self, text: str, width: int) -> list[str]:
        return wrap(text, width)


def overview() -> str:
    """Return the help of ptp itself."""
    width = max(len(verb.name) for verb in VERBS)
    groups = [f"{group}:\n{_lines([(verb.name, verb) for verb in verbs], width)}" for group, verbs in GROUPS.items()]
    return fit_text(OVERVIEW.format(verbs="\n\n".join(groups)), help_width())


def describe(name: str, verb: Verb) -> str:
    """Return the help of a verb that has subcommands."""
    inner = [(" ".join(filter(None, ("ptp", name, each.name, each.places))), each) for each in verb.verbs]
    parts = (verb.summary, _lines(inner, max(len(usage) for usage, _ in inner)), verb.about)
    return fit_text("\n\n".join(filter(None, parts)).rstrip() + "\n", help_width())


def _lines(verbs: Sequence[tuple[str, Verb]], width: int) -> str:
    return "\n".join(f"  {name:<{width}}  {verb.summary}" for name, verb in verbs)
