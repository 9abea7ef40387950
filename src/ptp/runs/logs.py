"""The log of a run, from its end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from ptp._util.files import check_regular
from ptp.errors import RunUnreadable


class LogLine(msgspec.Struct):
    """One line of the log."""

    time: str | None
    """When, in UTC."""
    level: str
    """info, warning or error."""
    event: str
    """A word for what happened."""
    message: str
    tick: int | None
    """The tick, where there is one."""


class LogLines(msgspec.Struct):
    """The end of the log."""

    lines: list[LogLine]
    position: int
    """Bytes of the log that were read; give it as `after` for what comes next."""


BLOCK = 1 << 18  # bytes of the log that are read at once
_Level = {"warning": ("warning", "error", "critical"), "error": ("error", "critical")}


def read_log(path: Path, lines: int = 200, after: int | None = None, level: str | None = None) -> LogLines:
    """Return the newest lines, or those that came *after* so many bytes."""
    try:
        check_regular(path)
        with open(path, "rb") as file:
            size = file.seek(0, 2)
            start = max(0, size - BLOCK) if after is None else min(after, size)
            file.seek(start)
            data = file.read(BLOCK if after is None else min(BLOCK, size - start))
    except FileNotFoundError:
        return LogLines([], 0)
    except OSError as problem:
        raise RunUnreadable(f"{path} can't be read: {problem.strerror}; remove it") from None
    whole = data[: data.rfind(b"\n") + 1]
    texts = whole.splitlines()[1 if after is None and start else 0 :]
    found = [line for line in map(_read, texts) if level not in _Level or line.level in _Level[level]]
    return LogLines(found[-lines:] if after is None else found, start + len(whole))


def _read(text: bytes) -> LogLine:
    line = LogLine(None, "info", "", "", None)
    try:
        said = msgspec.json.decode(text, type=dict[str, Any])
        line = msgspec.convert(msgspec.structs.asdict(line) | said, LogLine)
    except msgspec.DecodeError:
        line.message = text.decode("utf-8", "replace")  # a line of another program
        return line
    if said.get("trace") is not None:
        line.message += f"\n{said['trace']}"
    return line
