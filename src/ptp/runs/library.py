"""Finding and listing runs.

`find_run` and `list_runs` look once. A `Library` serves many requests: it keeps every run of a data directory in
memory and refreshes what changed on disk.
"""

from __future__ import annotations

import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from ptp.errors import PtpError, RunUnreadable, UnknownName, UsageError
from ptp.recording.directory import RunDirectory, run_paths
from ptp.recording.tally import NOTHING, Tally, tally
from ptp.records import Metadata
from ptp.runs.query import Query, make_query
from ptp.runs.run import Run
from ptp.runs.summary import RunSummary, describe

FRESH = 1.0  # seconds for which ended runs are not looked at again
LATER = 0.1  # seconds by which that look waits for the request that made it due
MOST_DAMAGED = 100  # damaged runs that a list names
LIVE_FRESH = 0.5  # seconds for which the figures of a live run are not read again


class DamagedRun(msgspec.Struct):
    """A folder that is not a run, or whose header or database can't be read."""

    run_id: str
    problem: str
    """What is wrong, and what to do about it."""


class RunList(msgspec.Struct):
    """A page of runs."""

    runs: list[RunSummary]
    total_count: int
    """Runs that the filter lets through."""
    page: int
    page_size: int
    statuses: dict[str, int]
    """How many runs have each status, before the filter."""
    worlds: list[str]
    """The worlds of all runs."""
    agents: list[str]
    """The agents of all runs."""
    tags: list[str]
    """The tags of all runs."""
    unreadable: int
    """Folders that are not runs, or that are damaged."""
    damaged: list[DamagedRun]
    """What is wrong with each of them, the first hundred."""
    data_dir: str
    """The folder that was looked through."""


class AmbiguousRun(UsageError):
    """Several runs have ids that begin so."""


class NoRuns(UnknownName):
    """There are no runs."""

    def __init__(self, data_dir: Path) -> None:
        remedy = "make one with `ptp run`, or name another folder with --data-dir"
        UsageError.__init__(self, f"no runs in {data_dir} yet; {remedy}")
        self.nearest = None


# -- finding ---------------------------------------------------------------------------------------------------


def find_run(data_dir: Path, name: str | None = None) -> RunDirectory:
    """Return the run of that id, unique beginning of one, name, or directory; the `latest`; or the live or newest."""
    if name is not None and ("/" in name or name in {".", ".."}):
        if not Path(name, "metadata.json").exists():
            raise RunUnreadable(f"{name} is not a run directory; see `ptp runs`")
        return RunDirectory(Path(name).resolve())
    paths = {path.name: path for path in run_paths(data_dir)}

    def live() -> str | None:
        return next((name for name, path in reversed(paths.items()) if RunDirectory(path).is_alive()), None)

    try:
        return RunDirectory(paths[_choose(list(paths), name, data_dir, live, "see `ptp runs`")])
    except UnknownName:
        named = [path for path in paths.values() if name and _name_of(path) == name]
        if not named:
            raise
    if len(named) > 1:
        raise AmbiguousRun(f"{len(named)} runs are named {name!r}; give an id, such as {named[-1].name}")
    return RunDirectory(named[0])


def _name_of(path: Path) -> str | None:
    """Return the name of a run; one that can't be read has none."""
    try:
        return RunDirectory(path).read_metadata().name
    except PtpError:
        return None


def open_run(run: str | Path | None = "latest", data_dir: str | Path = "var") -> Run:
    """Return a run by id, unique beginning of one, name or directory; the `latest`; or (None) the live or newest."""
    return Run(find_run(Path(data_dir), f"{run}/" if isinstance(run, Path) else run))


def _choose(
    names: Sequence[str], wanted: str | None, data_dir: Path, live: Callable[[], str | None], remedy: str
) -> str:
    """Return the name that is meant, of names that are sorted."""
    if not names:
        raise NoRuns(data_dir)
    if wanted is None:
        return live() or names[-1]
    if wanted == "latest":
        return names[-1]
    found = [name for name in names if wanted and name.startswith(wanted.lower())]
    if len(found) > 1 and wanted.lower() not in found:
        raise AmbiguousRun(f"{len(found)} runs begin with {wanted[:40]!r}; give more of the id")
    if not found:
        raise UnknownName("run", wanted[:80], list(names), remedy)
    return found[0]


# -- listing ---------------------------------------------------------------------------------------------------


def list_runs(data_dir: str | Path = "var", *, limit: int | None = None, **filters: Any) -> list[Run]:
    """Return runs, newest first; filters are those of `Query`, and times may also be ages such as 7d.

    A damaged run is in the list like any other, and reports what is wrong when it is read; no filter lets it through.
    """
    query = make_query(**filters)
    if query.is_plain:
        return [Run(RunDirectory(path)) for path in islice(reversed(run_paths(Path(data_dir))), limit)]
    lines = read_summaries(Path(data_dir), query, limit)
    return [Run(RunDirectory(Path(data_dir, "records", line.run_id))) for line in lines]


def read_summaries(
    data_dir: Path, query: Query, limit: int | None = None, report: Callable[[PtpError], None] = lambda problem: None
) -> list[RunSummary]:
    """Return the runs that are wanted, each in a line; a run that can't be read is reported, and does not count."""
    lines: list[RunSummary] = []
    for path in reversed(run_paths(data_dir)):
        if query.is_plain and limit is not None and len(lines) >= limit:
            break
        try:
            directory = RunDirectory(path)
            metadata = _own_header(directory)
            lines.append(describe(metadata, tally(directory, metadata)))
        except PtpError as problem:
            report(problem)
    return query.sorted(lines)[:limit]


# -- remembering -----------------------------------------------------------------------------------------------


class _Entry(msgspec.Struct):
    changed: int
    """When the folder last changed; a new header changes it."""
    read: float
    line: RunSummary | None = None
    metadata: Metadata | None = None
    tally: Tally = NOTHING
    """What it comes to; of a live run only what is new is counted."""
    problem: str = ""
    """What is wrong with it; then there is no line."""

    @property
    def is_live(self) -> bool:
        return self.line is not None and self.line.status == "running"


class Library:
    """Finds runs by name and lists them; a client can name no folder outside of it."""

    def __init__(self, data_dir: Path) -> None:
        self.data_dir = data_dir
        self._records = data_dir / "records"
        self._entries: dict[str, _Entry] = {}
        self._lock = threading.Lock()
        self._scanned = time.monotonic()
        self._looking = False
        self._folder_changed = -1
        self._answer: tuple[Query, RunList] | None = None

    def find(self, name: str | None) -> RunDirectory:
        """Return the run of that id or unique beginning of one, the `latest`, or the live or newest one."""
        with self._lock:
            self._scan()
            names = sorted(self._entries)

        def live() -> str | None:
            return max((line.run_id for line in self.live()), default=None)

        return RunDirectory(self._records / _choose(names, name, Path(self.data_dir.name), live, "see /api/v1/runs"))

    def metadata(self, directory: RunDirectory) -> Metadata:
        """Return a run's header, from memory while it has not changed."""
        with self._lock:
            self._read(directory.run_id, time.monotonic())
            metadata = self._entries[directory.run_id].metadata
        return metadata or directory.read_metadata()  # which says what is wrong with it

    def lines(self) -> list[RunSummary]:
        """Return every readable run."""
        with self._lock:
            self._scan()
            return self._readable()

    def live(self) -> Sequence[RunSummary]:
        """Return the runs that a process plays now."""
        return [line for line in self.lines() if line.status == "running"]

    def page(self, query: Query) -> RunList:
        """Return one page of runs; what it is taken from is remembered while no run changes."""
        everything = msgspec.structs.replace(query, page=1, page_size=0)
        with self._lock:
            self._scan()
            if self._answer is None or self._answer[0] != everything:
                self._answer = (everything, self._answer_to(everything))
            every = self._answer[1]
        first = (query.page - 1) * query.page_size
        runs = every.runs[first : first + query.page_size]
        return msgspec.structs.replace(every, runs=runs, page=query.page, page_size=query.page_size)

    def _answer_to(self, query: Query) -> RunList:
        lines = self._readable()
        wanted = query.sorted(lines)
        damaged = [DamagedRun(name, entry.problem) for name, entry in self._entries.items() if entry.line is None]
        return RunList(
            runs=wanted,
            total_count=len(wanted),
            page=query.page,
            page_size=query.page_size,
            statuses=dict(Counter(str(line.status) for line in lines)),
            worlds=sorted({line.world for line in lines}),
            agents=sorted({line.agent for line in lines}),
            tags=sorted({tag for line in lines for tag in line.tags}),
            unreadable=len(damaged),
            damaged=damaged[:MOST_DAMAGED],
            data_dir=str(self.data_dir),
        )

    def _readable(self) -> list[RunSummary]:
        return [entry.line for entry in self._entries.values() if entry.line is not None]

    def _scan(self) -> None:
        """Take in new runs and the live ones at once; whether others changed is looked up beside, now and then."""
        now = time.monotonic()
        folder = _stamp(self._records)
        if folder != self._folder_changed:
            self._folder_changed = folder
            found = [path.name for path in run_paths(self.data_dir)]
            for gone in self._entries.keys() - set(found):
                del self._entries[gone]
                self._answer = None
            for name in found:
                if name not in self._entries:
                    self._read(name, now)
        for name in [name for name, entry in self._entries.items() if entry.is_live]:
            self._read(name, now)
        if now - self._scanned >= FRESH and not self._looking:
            self._looking = True
            threading.Thread(target=self._look_again, name="library", daemon=True).start()

    def _look_again(self) -> None:
        try:
            time.sleep(LATER)
            stamps = [(path.name, _stamp(path)) for path in run_paths(self.data_dir)]
            with self._lock:
                for name, changed in stamps:
                    if name in self._entries and self._entries[name].changed != changed:
                        self._read(name, time.monotonic())
        finally:
            self._scanned = time.monotonic()
            self._looking = False

    def _read(self, name: str, now: float) -> None:
        """Read a run anew if its folder changed, or if it is live and was not read just now."""
        directory, known = RunDirectory(self._records / name), self._entries.get(name)
        changed = _stamp(directory.path)
        is_same = known is not None and known.changed == changed
        if known is not None and is_same and (not known.is_live or now - known.read < LIVE_FRESH):
            return
        self._answer = None
        try:
            metadata = _own_header(directory)
            figures = tally(directory, metadata, known.tally if known and is_same else NOTHING)
            self._entries[name] = _Entry(changed, now, describe(metadata, figures), metadata, figures)
        except PtpError as problem:
            self._entries[name] = _Entry(changed, now, problem=str(problem))


def _own_header(directory: RunDirectory) -> Metadata:
    metadata = directory.read_metadata()
    if metadata.run_id != directory.run_id:
        raise RunUnreadable(f"{directory.path.name} holds the header of run {metadata.run_id}; rename the folder to it")
    return metadata


def _stamp(path: Path) -> int:
    """Return when a folder last changed; 0 when there is none."""
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0
