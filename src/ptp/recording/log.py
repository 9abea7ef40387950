"""The run's log as JSON lines; each run has its own."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path

import msgspec

from ptp._util.clock import iso
from ptp.errors import RecordingError
from ptp.records import ErrorSeen, Notice, Record
from ptp.sinks import RunContext, Sink


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
        trace = self.formatException(record.exc_info) if record.exc_info else getattr(record, "trace", None)
        if trace:
            line["trace"] = trace
        return msgspec.json.encode(line).decode()


def open_log(logger: logging.Logger, *paths: Path) -> None:
    """Send a run's log to files."""
    logger.setLevel(logging.INFO)
    for path in paths:
        try:
            handler = logging.FileHandler(path, encoding="utf-8")
        except OSError as problem:
            close_log(logger)
            raise RecordingError(f"can't write the log to {path}: {problem.strerror}; choose another file") from None
        handler.setFormatter(JsonLines())
        logger.addHandler(handler)


def close_log(logger: logging.Logger) -> None:
    """Stop sending the log to files."""
    for handler in tuple(logger.handlers):
        logger.removeHandler(handler)
        handler.close()


LEVELS = {"info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}


class RunLog(Sink):
    """Writes to the log what a person should know."""

    inline = True

    def began(self, run: RunContext) -> None:
        """Know the run's log."""
        self._log = run.log.log

    def took(self, records: Sequence[Record]) -> None:
        """Write notices and errors."""
        for record in records:
            if type(record) is Notice:
                extra = {"event": record.kind, "tick": record.tick}
                self._log(LEVELS[record.level], record.message, extra=extra)
            elif type(record) is ErrorSeen:
                extra = {"event": "error", "tick": record.tick, "trace": record.trace}
                self._log(logging.ERROR, f"{record.type}: {record.message}", extra=extra)
