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
BATCH = 2_000  # records that are worth a commit of their own
MOST = 10_000  # records that may wait; a run that is faster than its disk waits here


class Writer:
    """Takes records from the run and commits them; it loses none, and raises what the disk says."""

    def __init__(self, connection: apsw.Connection, run_id: str) -> None:
        self._connection = connection
        self._statements = statements(run_id)
        self._waiting: deque[msgspec.Struct] = deque()
        self._changed = threading.Condition()
        self._closing = False
        self._problem: apsw.Error | None = None
        self._job: Callable[[apsw.Connection], None] | None = None
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
        with self._changed:
            self._job = lambda connection: answers.append(job(connection))
            self._changed.notify_all()
            while not answers and self._problem is None:
                self._changed.wait()
            if self._problem is not None:
                raise self._failure()
        return answers[0]

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
                if len(self._waiting) < BATCH and not self._closing and self._job is None:
                    self._changed.wait(INTERVAL)
                batch = [self._waiting.popleft() for _ in range(len(self._waiting))]
                self._changed.notify_all()
                if not batch and self._closing and self._job is None:
                    return
            if (batch and not self._commit(batch)) or not self._do_job():
                return

    def _do_job(self) -> bool:
        if self._job is None or self._waiting:
            return True
        try:
            with self._connection:
                self._job(self._connection)
        except apsw.Error as problem:
            return self._fail(problem)
        with self._changed:
            self._job = None
            self._changed.notify_all()
        return True

    def _fail(self, problem: apsw.Error) -> bool:
        with self._changed:
            self._problem = problem
            self._changed.notify_all()
        return False

    def _commit(self, batch: list[msgspec.Struct]) -> bool:
        kinds: dict[type[msgspec.Struct], list[msgspec.Struct]] = {}
        for record in batch:
            kinds.setdefault(type(record), []).append(record)
        try:
            with self._connection:
                for kind, statement in self._statements.items():
                    if kind in kinds:
                        self._connection.execute(statement, (batch_text(kinds[kind]),))
                for row in kinds.get(Row, ()):
                    assert isinstance(row, Row)
                    self._connection.execute(row.sql, row.values)
        except apsw.Error as problem:
            return self._fail(problem)
        self.committed += len(batch)
        return True

    def _failure(self) -> RecordingError:
        return RecordingError(
            f"the run can't be recorded: {self._problem}; what was committed is kept; "
            "free some space and go on with `ptp resume`"
        )
