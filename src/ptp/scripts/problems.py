"""What is wrong with a script: where, what, and what to write instead."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from ptp.errors import ScriptError

WIDEST = 100  # letters of a line that are shown
Severity = Literal["error", "warning"]


class Problem(msgspec.Struct, frozen=True):
    """One thing that is wrong, and its place; lines and columns count from 1."""

    line: int
    column: int
    length: int
    message: str
    suggestion: str
    severity: Severity = "error"

    def __str__(self) -> str:
        return f"{self.line}:{self.column}: {self.message}; {self.suggestion}"


def show_problem(problem: Problem, lines: Sequence[str], name: str) -> list[str]:
    """Return a problem as text: what and where, the line, and a caret under the place."""
    line = lines[problem.line - 1] if problem.line <= len(lines) else ""
    start = max(0, problem.column - WIDEST // 2) if len(line) > WIDEST else 0
    shown = "".join(letter if letter.isprintable() else " " for letter in line[start : start + WIDEST])
    place = problem.column - 1 - start
    caret = " " * place + "^" * max(1, min(problem.length, len(shown) - place))
    number = str(problem.line)
    warning = "warning: " if problem.severity == "warning" else ""
    return [
        f"{name}:{problem.line}:{problem.column}: {warning}{problem.message}; {problem.suggestion}",
        f"  {number} | {shown}".rstrip(),
        f"  {' ' * len(number)} | {caret}",
    ]


def refusal(problems: Sequence[Problem], text: str, name: str) -> ScriptError:
    """Return the error that names every problem of a script."""
    lines = text.split("\n")
    shown = [line for problem in problems for line in show_problem(problem, lines, name)]
    errors = sum(problem.severity == "error" for problem in problems)
    count = "1 error" if errors == 1 else f"{errors:,} errors"
    return ScriptError("\n".join([f"{name} has {count}", *shown]), problems)
