"""How verbs answer: tables, facts and JSON on standard output."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import zip_longest
from typing import Any

import msgspec

from ptp.cli.layout import GAP, fit_table, row_lines, widths, wrap
from ptp.cli.parser import Options

GREEN, RED, YELLOW, DIM, BOLD = "32", "31", "33", "2", "1"
STATUS_COLORS = {"running": YELLOW, "completed": GREEN, "crashed": RED, "manual_stop": YELLOW}
COMMAND = re.compile(r"`ptp ([^`]+)`")
SHORT_ID = 13  # letters of a shortened run id: the time of its first tick, to the millisecond


def print_json(value: Any) -> None:
    """Print one JSON document."""
    text = msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
    if not can_print(text):
        import json

        text = json.dumps(json.loads(text), indent=2)
    sys.stdout.write(text + "\n")


def say(*lines: str) -> None:
    """Print lines for a person."""
    sys.stdout.writelines(f"{line}\n" for line in lines)


def show(options: Options, value: Any, *lines: str) -> int:
    """Answer a question: with a JSON document if asked for, else with lines for a person; return success."""
    if options.json:
        print_json(value)
    else:
        say(*lines)
    return 0


def answer(options: Options, value: Any, *lines: str, failed: bool = False) -> int:
    """Report what was done, unless quiet, and return the exit code."""
    if options.json or options.talks:
        show(options, value, *lines)
    return int(failed)


def is_terminal(stream: Any) -> bool:
    """Whether a stream is a terminal that can move its cursor."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def columns() -> int | None:
    """Return how wide the terminal is; a pipe or a file has no end."""
    if not sys.stdout.isatty():
        return None
    from shutil import get_terminal_size  # here and below, since it takes longer to import than most verbs to answer

    return max(20, get_terminal_size().columns)


def can_print(text: str) -> bool:
    """Whether the encoding of standard output has these characters; a view that wraps it does not know its own."""
    try:
        text.encode(sys.stdout.encoding or getattr(sys.__stdout__, "encoding", None) or "ascii")
    except UnicodeEncodeError:
        return False
    return True


def wants_color(stream: Any) -> bool:
    """Whether a stream is a terminal whose user has not asked for one without colors."""
    return is_terminal(stream) and not os.environ.get("NO_COLOR")


def paint(text: str, color: str) -> str:
    """Color *text* on a terminal that wants color."""
    return f"\033[{color}m{text}\033[0m" if wants_color(sys.stdout) else text


def fact_lines(facts: Mapping[str, str], name_width: int = 9) -> Iterator[str]:
    """Return names and values, one to a line; a value that is too long is wrapped below itself."""
    indent, room = name_width + 3, columns()
    for name, value in facts.items():
        first, *rest = [value] if room is None else wrap(value, room - indent)
        yield f"  {paint(f'{name:<{name_width}}', DIM)} {first}"
        yield from (" " * indent + line for line in rest)


def suggestion_lines(commands: Mapping[str, str]) -> Iterator[str]:
    """Return commands and what they are for, side by side where there is room."""
    width, room = max(map(len, commands)), columns()
    beside = room is None or width + GAP * 2 + max(map(len, commands.values())) <= room
    for command, purpose in commands.items():
        if beside:
            yield f"  {paint(f'{command:<{width}}', BOLD)}  {purpose}"
        else:
            yield from (f"  {paint(command, BOLD)}", f"      {purpose}")


def table(
    headers: Sequence[str], rows: Sequence[Sequence[Any]], right: Sequence[str] = (), spare: Sequence[str] = ()
) -> Iterator[str]:
    """Return rows as aligned columns; numbers in *right* end together, *spare* ones are left out if room is short."""
    if not rows:
        return
    cells = [list(headers), *([str(cell) for cell in row] for row in rows)]
    room = columns()
    if room is not None:
        cells = fit_table(cells, room, right, spare)
    wide, ends = widths(cells), [header in right for header in cells[0]]
    yield from (paint(line, DIM) for line in row_lines(cells[0], wide, ends))
    for row in cells[1:]:
        status = next((cell for cell in row if cell in STATUS_COLORS), "")
        colored = paint(status, STATUS_COLORS[status]) if status else ""
        yield from (line.replace(status, colored, 1) for line in row_lines(row, wide, ends))


def short_ids(ids: Sequence[str], needed: int) -> list[str]:
    """Return run ids; on a terminal of less than *needed* columns, the beginnings that still tell them apart."""
    room = columns()
    if room is None or room >= needed:
        return list(ids)
    length = SHORT_ID
    while len({run_id[:length] for run_id in ids}) < len(set(ids)):
        length += 1
    return [run_id[:length].rstrip("-") for run_id in ids]


def program() -> str:
    """Return how the user can call ptp again: by name if the shell finds it, else by the path that was used."""
    called = sys.argv[0]
    if os.path.basename(called) != "ptp":
        return "ptp"
    from shutil import which

    found = which("ptp")
    same = found is not None and os.path.realpath(found) == os.path.realpath(called)
    return "ptp" if same else os.path.relpath(called)


def runnable(text: str, words: Sequence[str]) -> str:
    """Return a message whose commands can be run as they stand: with ptp's path, and the data directory in use."""
    folder = ""
    for word, after in zip_longest(words, words[1:], fillvalue=""):
        if word.startswith("--data-dir"):
            folder = folder or f" --data-dir {shlex.quote(word.partition('=')[2] or after)}"

    def complete(command: re.Match[str]) -> str:
        about_itself = {"--help", "--data-dir"} & set(command[1].split())
        return f"`{program()} {command[1]}{'' if about_itself else folder}`"

    return COMMAND.sub(complete, text)


def local_time(stamp: str) -> str:
    """Return a stored UTC timestamp in the user's own time, to the second."""
    return datetime.fromisoformat(stamp).astimezone().strftime("%Y-%m-%d %H:%M:%S")


def in_bytes(size: float) -> str:
    """Return a number of bytes with the unit that fits."""
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:,.0f} {unit}" if unit == "B" else f"{size:,.1f} {unit}"
        size /= 1000
    return f"{size:,.1f} TB"


def in_time(seconds: float | None) -> str:
    """Return a duration for a person, or a dash."""
    if seconds is None:
        return "-"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:,}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def number(value: float | None) -> str:
    """Return a number for a person, or a dash."""
    if value is None:
        return "-"
    return f"{value:,.0f}" if float(value).is_integer() or 1000 <= abs(value) < 1e15 else f"{value:,.4g}"
