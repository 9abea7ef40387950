"""Records on their way into the database: inserted in blocks, and committed several times a second.

The run's own thread inserts and commits, as long as it brings records. A second thread commits what a run that waits
has left behind, and does what takes long, such as writing a snapshot. Python's lock is why it is not the other way
round: a thread that wants the lock from a run at full speed seldom gets it, and slows the run to half while it waits.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, TypeVar, cast

import apsw

from ptp._util.attempt import attempt
from ptp.errors import RecordingError
from ptp.recording.rows import Statement, statements
from ptp.recording.seal import Seal, Why
from ptp.records import DecisionMade, Event, Record, Step
from ptp.worlds.knowledge import Knowledge

T = TypeVar("T")

INTERVAL = 0.1  # seconds between two commits of a run that brings records
IDLE = 0.2  # seconds after which the second thread commits what is left
LOT = 800  # records that are inserted together
MOST = 10_000  # records that may wait while the disk is busy; then the run waits


class Writer:
    """Takes records from the run and commits them; it loses none, and raises what the disk says."""

    def __init__(self, seal: Seal, run_id: str, knowledge: Knowledge, tick: int = 0) -> None:
        self._connection = connection = seal.connection
        self._seal = seal
        self._tick = tick
        self._run_id = run_id
        self._knowledge = knowledge
        self._statements = statements(run_id, connection)
        self._fresh: list[Record] = []
        self._asked_for: list[Callable[[], None]] = []
        self._handing_over = threading.Lock()  # guards the fresh records and jobs
        self._after_commit: list[Callable[[], None]] = []
        self._database = threading.Lock()  # guards the connection
        self._jobs: queue.Queue[Callable[[], None] | None] = queue.Queue()
        self._first: Callable[[], Sequence[Record]] | None = None
        self._problem: Exception | None = None
        self._inserted = 0
        self._committed_at = time.monotonic()
        self.committed = 0
        self._thread = threading.Thread(target=self._run, name="recorder", daemon=True)
        self._thread.start()

    def add(self, records: Sequence[Record]) -> None:
        """Hand records over; waits while too many are waiting already."""
        with self._handing_over:
            self._fresh.extend(records)
        many = len(self._fresh)
        if many >= LOT and self._database.acquire(blocking=many >= MOST):
            try:
                is_due = time.monotonic() - self._committed_at >= INTERVAL
                self._write(self._commit if is_due else self._insert)
            finally:
                self._database.release()
        if self._problem is not None:
            raise self._failure()

    def begin_with(self, job: Callable[[], Sequence[Record]]) -> None:
        """Run *job* on the second thread before anything is inserted; the records that it brings come first."""
        self._first = job
        self._jobs.put(self._begin)

    def _begin(self) -> None:
        with self._database:
            self._write(self._insert)

    def do(self, job: Callable[[apsw.Connection], T], reason: Why = "recorded") -> T:
        """Run *job* in one transaction after everything handed over so far is committed and done; return its answer."""
        with self._committed():
            pass
        self._jobs.join()
        with self._committed():
            try:
                with self._seal.change(reason, self._tick):
                    answer = job(self._connection)
            except (apsw.Error, UnicodeDecodeError) as problem:
                self._problem = problem
                raise self._failure() from None
        return answer

    def later(self, job: Callable[[], None]) -> None:
        """Run *job* on the second thread once everything handed over so far is committed, and do not wait for it."""
        with self._handing_over:
            self._asked_for.append(job)

    def close(self) -> None:
        """Commit what is waiting, do what was asked for, and end the thread."""
        try:
            with self._committed():
                pass
        finally:
            self._jobs.put(None)
            self._thread.join()
        with self._committed():  # a job that failed is raised here
            pass

    @contextmanager
    def _committed(self) -> Iterator[None]:
        """Hold the connection when everything handed over so far is committed."""
        with self._database:
            self._write(self._commit)
            if self._problem is not None:
                raise self._failure()
            yield

    def _run(self) -> None:
        while True:
            try:
                job = self._jobs.get(timeout=IDLE)
            except queue.Empty:
                self._commit_rest()
                continue
            problem = attempt(job) if job is not None else None
            if problem is not None:
                self._problem = self._problem or problem  # the run raises it at its next record
            self._jobs.task_done()
            if job is None:
                return

    def _commit_rest(self) -> None:
        if self._fresh or self._inserted or self._asked_for:
            with self._database:
                self._write(self._commit)

    def _write(self, work: Callable[[], None]) -> None:
        """Insert or commit; the first failure undoes the open transaction, and the run raises it at its next record."""
        if self._problem is None:
            self._problem = attempt(work)
            if self._problem is not None:
                self._inserted = 0
                with suppress(apsw.Error):  # what failed may have ended the transaction already
                    self._connection.execute("ROLLBACK")

    def _insert(self) -> None:
        """Insert the fresh records into the open transaction; the caller holds the connection."""
        first, self._first = self._first, None
        brought = [] if first is None else [*first()]
        with self._handing_over:
            fresh, self._fresh = brought + self._fresh, []
            self._after_commit += self._asked_for
            self._asked_for.clear()
        if not fresh:
            return
        kinds: dict[type, list[Record]] = {}
        for record in fresh:
            kinds.setdefault(type(record), []).append(record)
        if not self._connection.in_transaction:
            self._connection.execute("BEGIN IMMEDIATE")
        for kind, written in self._statements.items():
            if kind in kinds:
                self._write_kind(kind, written, kinds[kind])
        with self._seal.watching():
            for event in cast("list[Event]", kinds.get(Event, [])):
                for row in self._knowledge.rows(self._run_id, event):
                    self._connection.execute(row.sql, row.values)
        self._inserted += len(fresh)

    def _write_kind(self, kind: Any, written: tuple[Statement, ...], records: list[Any]) -> None:
        if not written[0].plain:
            with self._seal.watching():
                for statement in written:
                    statement.execute(self._connection, records)
            return
        rows = written[0].execute(self._connection, records)
        if kind is Step:
            self._tick = records[-1].tick
        if kind is DecisionMade:
            self._seal.inserted("action_history", [made.number for made in records], rows, self._run_id[:24])
        else:
            self._seal.inserted(kind.table, [record.tick for record in records], rows, "")

    def _commit(self) -> None:
        """Commit everything handed over so far; the caller holds the connection."""
        self._insert()
        if self._inserted:
            self._seal.link("recorded", self._tick, self._inserted)
            self._connection.execute("COMMIT")
            self.committed, self._inserted = self.committed + self._inserted, 0
        self._committed_at = time.monotonic()
        for job in self._after_commit:
            self._jobs.put(job)
        self._after_commit.clear()

    def _failure(self) -> RecordingError:
        by_disk = isinstance(self._problem, (apsw.Error, OSError))
        remedy = (
            "free some space and resume the run with `ptp resume`" if by_disk else "resume the run with `ptp resume`"
        )
        return RecordingError(f"the run can't be recorded: {self._problem}; what was committed is kept; {remedy}")
