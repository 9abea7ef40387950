"""Everything that is kept while a run plays: the first of its sinks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import apsw
import msgspec

from ptp._util.files import write_atomic
from ptp.config.files import dump
from ptp.config.tree import as_tree
from ptp.errors import RecordingError
from ptp.recording.database import Database, create_database, open_for_writing
from ptp.recording.directory import RunDirectory, header_digest
from ptp.recording.history import attached, copy_history, rewind
from ptp.recording.log import close_log, open_log
from ptp.recording.seal import Seal, tape_digest
from ptp.recording.writer import Writer
from ptp.records import Record, RunResult
from ptp.sinks import RunContext, Sink
from ptp.worlds.knowledge import knowledge_of

_MODEL = "SELECT model_used FROM action_history WHERE model_used IS NOT NULL ORDER BY decision_id DESC LIMIT 1"


class Recorder(Sink):
    """Keeps a run: header, config, log, and every record in the database."""

    inline = True
    each_tick = True

    def __init__(self, directory: RunDirectory, run: RunContext) -> None:
        self.directory = directory
        self._run = run
        self._knowledge = knowledge_of(run.metadata.facts.family)
        extra = run.config.system.log_file
        open_log(run.log, directory.path / "run.log", *([Path(extra)] if extra else []))
        try:
            self._connection = self._open()
        except (OSError, apsw.Error, UnicodeDecodeError) as problem:
            close_log(run.log)
            raise RecordingError(f"can't record in {self.directory.path}: {problem}") from None
        self._writer = Writer(self._seal, run.run_id, self._knowledge, run.tick)
        self.took = self._writer.add  # type: ignore[method-assign] # once a tick, and so without a detour
        metadata = run.metadata
        verb = "resumes" if metadata.resumed else "plays"
        self._log("run_began", f"{metadata.agent} {verb} {metadata.world.name} with seed {metadata.random_seed}")

    def _open(self) -> apsw.Connection:
        """Create the run's files, or open those of a run that is resumed."""
        is_new = not self.directory.database.exists()
        connection = create_database(self.directory.database) if is_new else open_for_writing(self.directory.database)
        self.directory.write_metadata(self._run.metadata)
        self._seal = Seal(connection)
        with self._seal.change("started" if is_new else "resumed", self._run.tick):
            if not self._seal.batch:
                self._seal.everything()  # a run that was migrated has no seal yet
            if is_new:
                self._introduce(connection)
            connection.execute("UPDATE runs SET status = 'running'")
            connection.execute("UPDATE sessions SET status = 'running'")
            self._keep_config(connection)
        return connection

    def _introduce(self, connection: apsw.Connection) -> None:
        metadata = self._run.metadata
        connection.execute(
            "INSERT INTO sessions (session_id, experiment_name, started_at, random_seed) VALUES (?, ?, ?, ?)",
            (metadata.run_id, metadata.experiment_name, metadata.started_at, metadata.random_seed),
        )
        connection.execute(
            "INSERT INTO runs (run_id, session_id, model_name, rom_hash, started_at) VALUES (?, ?, ?, ?, ?)",
            (metadata.run_id, metadata.run_id, self._run.config.agent.model, metadata.facts.origin.get("rom_sha1"),
             metadata.started_at),
        )  # fmt: skip

    def keep_config(self) -> None:
        """Keep the settings as they are now."""
        self._writer.do(self._keep_config, "settings")

    def _keep_config(self, connection: apsw.Connection) -> None:
        config = self._run.config
        write_atomic(self.directory.path / "config.yaml", dump(config).encode())
        settings = msgspec.json.encode(as_tree(config)).decode()
        connection.execute("UPDATE sessions SET config_snapshot = ?", (settings,))

    def adopt(self, parent: Path, parent_id: str, last_tick: int, pictures: Callable[[], Sequence[Record]]) -> None:
        """Take over another run's history up to a tick, then its pictures, beside the run; its records wait."""
        with Database(parent) as database:
            note = {"parent": parent_id, "head": database.head()}

        def copy() -> Sequence[Record]:
            try:
                with attached(self._connection, parent), self._seal.change("forked", last_tick, note):
                    copy_history(self._connection, parent_id, self._run.run_id, last_tick, self._knowledge)
            except (apsw.Error, UnicodeDecodeError) as problem:
                raise RecordingError(f"the history of {parent_id} can't be copied: {problem}") from None
            return pictures()

        self._writer.begin_with(copy)

    @property
    def head(self) -> str:
        """The newest link of the seal."""
        return self._seal.head

    def flush(self) -> None:
        """Wait until everything handed over so far is committed."""
        self._writer.do(lambda _: None)

    def later(self, job: Callable[[], None]) -> None:
        """Run *job* beside the run, after everything handed over so far is committed."""
        self._writer.later(job)

    def rewound(self, tick: int) -> None:
        """Discard the ticks after *tick*, or return to some; the tape then holds only what led to now."""
        back, run = self._run.rewound, self._run
        assert back is not None
        self._writer.do(lambda connection: rewind(connection, run.run_id, back, self._knowledge), "rolled back")
        self.directory.write_metadata(run.metadata)
        dropped = f"{back.dropped} queued commands dropped"
        self._log("rolled_back", f"went back to tick {back.to_tick}: {back.reason}; {dropped}")

    def _log(self, event: str, message: str) -> None:
        self._run.log.info(message, extra={"event": event})

    def ended(self, result: RunResult | None) -> None:
        """Commit everything and write the final header; the metadata says how the run ended."""
        metadata = self._run.metadata
        ended = metadata.error or (metadata.stop.message if metadata.stop else "")
        self._log("run_ended", f"{metadata.status} after {metadata.ticks} ticks: {ended}")
        try:
            self._writer.close()
            with self._seal.change("ended", metadata.ticks or 0, {"header": header_digest(metadata)}):
                self._connection.execute(
                    "UPDATE sessions SET completed_at = ?, status = ?, error_message = ?",
                    (metadata.completed_at, metadata.status, metadata.error),
                )
                self._connection.execute(
                    "UPDATE runs SET completed_at = ?, duration_ticks = ?, total_cost = ?, status = ?, "
                    f"final_level = ?, model_name = coalesce(({_MODEL}), model_name)",
                    (
                        metadata.completed_at,
                        metadata.ticks,
                        metadata.total_cost,
                        metadata.status,
                        metadata.signals.get("level"),
                    ),
                )
            metadata.seal, metadata.tape_digest = self._seal.head, tape_digest(self._connection)
            self._connection.close()
        except (apsw.Error, UnicodeDecodeError) as problem:
            raise RecordingError(f"the end of the run can't be recorded: {problem}") from None
        finally:
            close_log(self._run.log)
            self._connection.close()
        self.directory.write_metadata(metadata)
