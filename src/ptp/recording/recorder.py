"""Everything that is kept while a run goes on."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path

import apsw
import msgspec

from ptp._util.files import write_atomic
from ptp.config import RunConfig
from ptp.config.files import dump
from ptp.config.tree import as_tree
from ptp.engine import Notice
from ptp.errors import RecordingError
from ptp.recording.database import create_database, open_for_writing
from ptp.recording.directory import RunDirectory
from ptp.recording.entries import ErrorSeen, MetricTaken
from ptp.recording.history import copy_history, last_number, rewind
from ptp.recording.log import LOGGER, close_log, open_log
from ptp.recording.rows import Statement
from ptp.recording.writer import Writer
from ptp.records import Metadata
from ptp.worlds.knowledge import knowledge_of

LEVELS = {"info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}


class Recorder:
    """Keeps a run: header, config, log, and every record in the database."""

    def __init__(self, directory: RunDirectory, metadata: Metadata, config: RunConfig) -> None:
        self.directory = directory
        self.metadata = metadata
        log_files = [directory.path / "run.log", *([Path(config.system.log_file)] if config.system.log_file else [])]
        self._log = open_log(*log_files)
        try:
            self._connection = self._open(config)
        except (OSError, apsw.Error) as problem:
            close_log(self._log)
            raise RecordingError(f"can't record in {self.directory.path}: {problem}") from None
        self._knowledge = knowledge_of(metadata.facts.family)
        self._writer = Writer(self._connection, metadata.run_id, self._knowledge)
        self._errors = last_number(self._connection, "errors", "error_id")
        self._metrics = last_number(self._connection, "performance_metrics", "metric_id")
        verb = "goes on with" if metadata.resumed else "plays"
        self._say("run_began", f"{metadata.agent} {verb} {metadata.world.name} with seed {metadata.random_seed}")

    def _open(self, config: RunConfig) -> apsw.Connection:
        """Create the run's files, or open those of a run that is gone on with."""
        metadata = self.metadata
        is_new = not self.directory.database.exists()
        connection = create_database(self.directory.database) if is_new else open_for_writing(self.directory.database)
        self.directory.write_metadata(metadata)
        write_atomic(self.directory.path / "config.yaml", dump(config).encode())
        with connection:
            if is_new:
                self._introduce(connection)
            settings = msgspec.json.encode(as_tree(config)).decode()
            connection.execute("UPDATE sessions SET status = 'running', config_snapshot = ?", (settings,))
            connection.execute("UPDATE runs SET status = 'running'")
        return connection

    def _introduce(self, connection: apsw.Connection) -> None:
        metadata = self.metadata
        connection.execute(
            "INSERT INTO sessions (session_id, experiment_name, started_at, random_seed) VALUES (?, ?, ?, ?)",
            (metadata.run_id, metadata.experiment_name, metadata.started_at, metadata.random_seed),
        )
        connection.execute(
            "INSERT INTO runs (run_id, session_id, model_name, rom_hash, started_at) VALUES (?, ?, ?, ?, ?)",
            (metadata.run_id, metadata.run_id, metadata.agent, metadata.facts.origin.get("rom_sha1"),
             metadata.started_at),
        )  # fmt: skip

    def adopt(self, parent: Path, parent_id: str, last_tick: int) -> None:
        """Take over another run's history up to a tick; a recorder does this before its first record."""
        try:
            copy_history(self._connection, parent, parent_id, self.metadata.run_id, last_tick, self._knowledge)
        except apsw.Error as problem:
            raise RecordingError(f"the history of {parent_id} can't be copied: {problem}") from None
        self._metrics = last_number(self._connection, "performance_metrics", "metric_id")

    def flush(self) -> None:
        """Wait until everything handed over so far is committed."""
        self._writer.do(lambda _: None)

    def later(self, job: Callable[[], None]) -> None:
        """Run *job* beside the run, after everything handed over so far is committed."""
        self._writer.later(job)

    def rewind(self, to_tick: int, at: float, reason: str, dropped: int) -> None:
        """Give up the ticks after *to_tick*; the tape then tells only what led to now."""
        run_id, knowledge = self.metadata.run_id, self._knowledge
        self.metadata.rewinds = self._writer.do(lambda c: rewind(c, run_id, to_tick, at, reason, dropped, knowledge))
        self.directory.write_metadata(self.metadata)
        self._say("rolled_back", f"went back to tick {to_tick}: {reason}; {dropped} queued commands dropped")

    def accept(self, statements: dict[type[msgspec.Struct], Statement]) -> None:
        """Take other kinds of records too, each with its statement; before the first of them."""
        self._writer.statements.update(statements)

    def add(self, records: Sequence[msgspec.Struct]) -> None:
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
