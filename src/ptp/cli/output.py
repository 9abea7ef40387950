"""How verbs speak: tables and JSON on standard output, words on standard error."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec

GREEN, RED, YELLOW, DIM, BOLD = "32", "31", "33", "2", "1"
STATUS_COLORS = {"running": YELLOW, "completed": GREEN, "crashed": RED, "manual_stop": YELLOW}


def print_json(value: Any) -> None:
    """Print one JSON document."""
    encoded = msgspec.json.format(msgspec.json.encode(value), indent=2)
    sys.stdout.write(encoded.decode() + "\n")


def say(text: str = "") -> None:
    """Print a line for a person."""
    sys.stdout.write(text + "\n")


def paint(text: str, color: str, stream: Any = None) -> str:
    """Color *text* on a terminal that wants color."""
    stream = stream or sys.stdout
    if not stream.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return text
    return f"\033[{color}m{text}\033[0m"


def print_table(headers: Sequence[str], rows: Sequence[Sequence[Any]], right: Sequence[str] = ()) -> None:
    """Print aligned columns; those named in *right* are numbers and end together."""
    cells = [[str(cell) for cell in row] for row in rows]
    widths = [max(len(line[column]) for line in [list(headers), *cells]) for column in range(len(headers))]

    def line(row: Sequence[str]) -> str:
        parts = [
            cell.rjust(width) if header in right else cell.ljust(width)
            for header, cell, width in zip(headers, row, widths, strict=True)
        ]
        return "  ".join(parts).rstrip()

    say(paint(line(headers), DIM))
    for row in cells:
        text = line(row)
        for cell in row:
            if cell in STATUS_COLORS:
                text = text.replace(cell, paint(cell, STATUS_COLORS[cell]), 1)
        say(text)


def program() -> str:
    """Return how the user can call ptp again: by name if the shell finds it, else by the path that was used."""
    called = sys.argv[0]
    if os.path.basename(called) != "ptp":
        return "ptp"
    found = shutil.which("ptp")
    same = found is not None and os.path.realpath(found) == os.path.realpath(called)
    return "ptp" if same else os.path.relpath(called)


def local_time(stamp: str) -> str:
    """Return a stored UTC timestamp in the user's own time, to the second."""
    return datetime.fromisoformat(stamp).astimezone().strftime("%Y-%m-%d %H:%M:%S")


def number(value: float | None, digits: int = 4) -> str:
    """Return a number for a person, or a dash."""
    if value is None:
        return "-"
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.{digits}g}"
