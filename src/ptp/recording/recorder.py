"""Everything that is kept while a run goes on."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Sequence
from pathlib import Path

import apsw
import msgspec

from ptp._util.files import write_atomic
from ptp.config import RunConfig
from ptp.config.files import dump
from ptp.config.tree import as_tree
from ptp.engine import Notice, Record
from ptp.errors import RecordingError
from ptp.recording.database import create_database
from ptp.recording.directory import Metadata, RunDirectory
from ptp.recording.entries import ErrorSeen, MetricTaken
from ptp.recording.log import LOGGER, close_log, open_log
from ptp.recording.writer import Writer

LEVELS = {"info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}


class Recorder:
    """Keeps a run: header, config, log, and every record in the database."""

    def __init__(self, directory: RunDirectory, metadata: Metadata, config: RunConfig) -> None:
        self.directory = directory
        self.metadata = metadata
        log_files = [directory.path / "run.log", *([Path(config.system.log_file)] if config.system.log_file else [])]
        self._log = open_log(*log_files)
        self._connection = self._create(config)
        self._writer = Writer(self._connection, metadata.run_id)
        self._errors = 0
        self._metrics = 0
        self._say("run_began", f"{metadata.agent} plays {metadata.world.name} with seed {metadata.random_seed}")

    def _create(self, config: RunConfig) -> apsw.Connection:
        metadata = self.metadata
        try:
            self.directory.write_metadata(metadata)
            write_atomic(self.directory.path / "config.yaml", dump(config).encode())
            connection = create_database(self.directory.database)
            with connection:
                connection.execute(
                    "INSERT INTO sessions VALUES (?, ?, ?, NULL, ?, ?, 'running', NULL)",
                    (metadata.run_id, metadata.experiment_name, metadata.started_at, metadata.random_seed,
                     msgspec.json.encode(as_tree(config)).decode()),
                )  # fmt: skip
                connection.execute(
                    "INSERT INTO runs VALUES (?, ?, ?, ?, ?, NULL, NULL, NULL, NULL, 'running')",
                    (metadata.run_id, metadata.run_id, metadata.agent, metadata.facts.origin.get("rom_sha1"),
                     metadata.started_at),
                )  # fmt: skip
        except (OSError, apsw.Error) as problem:
            close_log(self._log)
            raise RecordingError(f"can't record in {self.directory.path}: {problem}") from None
        return connection

    def add(self, records: Sequence[Record]) -> None:
        """Keep what one tick told."""
        self._writer.add(records)

    def log(self, notice: Notice) -> None:
        """Write to the log what a person should know."""
        LOGGER.log(LEVELS[notice.level], notice.message, extra={"event": notice.kind, "tick": notice.tick})

    def add_metric(self, at: float, tick: int, kind: str, value: float, unit: str) -> None:
        """Keep a measurement of the run."""
        self._metrics += 1
        self._writer.add([MetricTaken(self._metrics, at, tick, kind, value, unit)])

    def add_error(self, at: float, tick: int, problem: BaseException, recovery: str | None = None) -> None:
        """Keep an error with its stack trace."""
        self._errors += 1
        trace = "".join(traceback.format_exception(problem))
        kind = type(problem).__name__
        self._writer.add([ErrorSeen(self._errors, at, tick, kind, str(problem), trace, recovery is not None, recovery)])
        LOGGER.error("%s: %s", kind, problem, extra={"event": "error", "tick": tick}, exc_info=problem)

    def _say(self, event: str, message: str) -> None:
        LOGGER.info(message, extra={"event": event})

    def finish(self) -> None:
        """Commit everything and write the final header; the metadata says how the run ended."""
        metadata = self.metadata
        ended = metadata.error or (metadata.stop.message if metadata.stop else "")
        self._say("run_ended", f"{metadata.status} after {metadata.ticks} ticks: {ended}")
        try:
            self._writer.close()
            with self._connection:
                self._connection.execute(
                    "UPDATE sessions SET completed_at = ?, status = ?, error_message = ?",
                    (metadata.completed_at, metadata.status, metadata.error),
                )
                self._connection.execute(
                    "UPDATE runs SET completed_at = ?, duration_ticks = ?, total_cost = ?, status = ?",
                    (metadata.completed_at, metadata.ticks, metadata.total_cost, metadata.status),
                )
            self._connection.close()
        except apsw.Error as problem:
            raise RecordingError(f"the end of the run can't be recorded: {problem}") from None
        finally:
            close_log(self._log)
            self._connection.close()
        self.directory.write_metadata(metadata)
