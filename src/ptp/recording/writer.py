"""One thread writes everything to the database, in batches, at least four times a second."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import TypeVar

import apsw
import msgspec

from ptp.errors import RecordingError
from ptp.recording.entries import Row
from ptp.recording.rows import batch_text, statements

T = TypeVar("T")

INTERVAL = 0.2  # seconds between commits, at most
BATCH = 4_000  # records that are worth a commit of their own
MOST = 30_000  # records that may wait; a run that is faster than its disk waits here


class _Job(msgspec.Struct):
    """Something to do between two commits."""

    work: Callable[[], None]


class Writer:
    """Takes records from the run and commits them; it loses none, and raises what the disk says."""

    def __init__(self, connection: apsw.Connection, run_id: str) -> None:
        self._connection = connection
        self.statements = statements(run_id)
        self._waiting: deque[msgspec.Struct] = deque()
        self._changed = threading.Condition()
        self._closing = False
        self._problem: Exception | None = None
        self._has_job = False
        self.committed = 0
        self._thread = threading.Thread(target=self._run, name="recorder", daemon=True)
        self._thread.start()

    def add(self, records: Sequence[msgspec.Struct]) -> None:
        """Hand records over; waits while too many are waiting already."""
        self._waiting.extend(records)
        if self._problem is not None:
            raise self._failure()
        if len(self._waiting) >= BATCH:
            with self._changed:
                self._changed.notify_all()
                while len(self._waiting) >= MOST and self._problem is None:
                    self._changed.wait()

    def do(self, job: Callable[[apsw.Connection], T]) -> T:
        """Run *job* in one transaction after everything handed over so far is committed; return its answer."""
        answers: list[T] = []

        def in_one_transaction() -> None:
            with self._connection:
                answers.append(job(self._connection))

        self.later(in_one_transaction)
        with self._changed:
            while not answers and self._problem is None:
                self._changed.wait()
            if not answers:
                raise self._failure()
        return answers[0]

    def later(self, job: Callable[[], None]) -> None:
        """Run *job* on the writer's thread after everything handed over so far is committed, and do not wait."""
        with self._changed:
            self._waiting.append(_Job(job))
            self._has_job = True
            self._changed.notify_all()

    def close(self) -> None:
        """Commit what is waiting and end the thread."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        self._thread.join()
        if self._problem is not None:
            raise self._failure()

    def _run(self) -> None:
        while True:
            with self._changed:
                if len(self._waiting) < BATCH and not self._closing and not self._has_job:
                    self._changed.wait(INTERVAL)
                self._has_job = False
                batch = [self._waiting.popleft() for _ in range(len(self._waiting))]
                self._changed.notify_all()
                if not batch and self._closing:
                    return
            try:
                self._work(batch)
            except Exception as problem:  # noqa: BLE001 - the edge of the thread; the run raises it at its next record
                with self._changed:
                    self._problem = problem
                    self._changed.notify_all()
                return

    def _work(self, batch: list[msgspec.Struct]) -> None:
        """Commit records and run jobs in the order in which they were handed over."""
        start = 0
        for index, item in enumerate(batch):
            if type(item) is _Job:
                self._commit(batch[start:index])
                item.work()
                start = index + 1
        self._commit(batch[start:])
        with self._changed:
            self._changed.notify_all()

    def _commit(self, batch: list[msgspec.Struct]) -> None:
        if not batch:
            return
        kinds: dict[type[msgspec.Struct], list[msgspec.Struct]] = {}
        for record in batch:
            kinds.setdefault(type(record), []).append(record)
        with self._connection:
            for kind, statement in self.statements.items():
                if kind in kinds:
                    self._connection.execute(statement, (batch_text(kinds[kind]),))
            for row in kinds.get(Row, ()):
                assert isinstance(row, Row)
                self._connection.execute(row.sql, row.values)
        self.committed += len(batch)

    def _failure(self) -> RecordingError:
        return RecordingError(
            f"the run can't be recorded: {self._problem}; what was committed is kept; "
            "free some space and go on with `ptp resume`"
        )
