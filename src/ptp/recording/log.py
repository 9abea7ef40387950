"""The run's log as JSON lines."""

from __future__ import annotations

import logging
from pathlib import Path

import msgspec

from ptp._util.clock import iso
from ptp.errors import RecordingError

LOGGER = logging.getLogger("ptp")


class JsonLines(logging.Formatter):
    """One JSON object per line: time, level, event, message, and the tick where there is one."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        line = {
            "time": iso(record.created),
            "level": record.levelname.lower(),
            "event": getattr(record, "event", record.name),
            "message": record.getMessage(),
        }
        if hasattr(record, "tick"):
            line["tick"] = record.tick
        if record.exc_info:
            line["trace"] = self.formatException(record.exc_info)
        return msgspec.json.encode(line).decode()


def open_log(*paths: Path) -> list[logging.Handler]:
    """Send ptp's log to files."""
    handlers: list[logging.Handler] = []
    for path in paths:
        try:
            handler = logging.FileHandler(path, encoding="utf-8")
        except OSError as problem:
            close_log(handlers)
            raise RecordingError(f"can't write the log to {path}: {problem.strerror}; choose another file") from None
        handler.setFormatter(JsonLines())
        LOGGER.addHandler(handler)
        handlers.append(handler)
    LOGGER.setLevel(logging.INFO)
    LOGGER.propagate = False
    return handlers


def close_log(handlers: list[logging.Handler]) -> None:
    """Stop sending the log to these files."""
    for handler in handlers:
        LOGGER.removeHandler(handler)
        handler.close()
