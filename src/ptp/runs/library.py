"""Every run of a data directory, kept in memory and refreshed by what changed on disk."""

from __future__ import annotations

import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from ptp.errors import PtpError, RunUnreadable, UnknownName, UsageError
from ptp.recording import RunDirectory
from ptp.recording.summary import NOTHING, Tally, describe, tally
from ptp.records import Metadata
from ptp.runs.answers import RunList, RunSummary

FRESH = 1.0  # seconds for which ended runs are not looked at again
LATER = 0.1  # seconds by which that look waits for the request that made it due
LIVE_FRESH = 0.5  # seconds for which the figures of a live run are not read again

SortKey = Literal["started_at", "status", "world", "agent", "ticks", "episodes", "total_reward", "total_cost"]


class AmbiguousRun(UsageError):
    """Several runs have ids that begin so."""


class _Entry(msgspec.Struct):
    """What is remembered of one folder."""

    changed: int
    """When the folder last changed; a new header changes it."""
    line: RunSummary | None
    metadata: Metadata | None
    read: float
    words: str = ""
    """What is searched for words."""
    tally: Tally = NOTHING
    """What it comes to; of a live run only what is new is counted."""


Lines = list[RunSummary]


class _Overview(msgspec.Struct):
    """What is in all runs together."""

    statuses: dict[str, int]
    worlds: list[str]
    agents: list[str]
    tags: list[str]


class Query(msgspec.Struct, frozen=True):
    """Which runs are wanted, and in which order."""

    status: str | None = None
    world: str | None = None
    agent: str | None = None
    tag: str | None = None
    text: str | None = None
    sort: SortKey = "started_at"
    descending: bool = True
    page: int = 1
    page_size: int = 50


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
        self._answer: tuple[Query, Lines] | None = None
        self._overview: _Overview | None = None

    # -- finding -----------------------------------------------------------------------------------------------

    def find(self, name: str | None) -> RunDirectory:
        """Return the run of that id or unique beginning of one, the `latest`, or the live or newest one."""
        names = self._names()
        if not names:
            raise UnknownName("run", name or "latest", [], f"no runs in {self.data_dir.name} yet; make one: `ptp run`")
        if name is None:
            return self._live_or_newest()
        if name == "latest":
            return self._directory(names[-1])
        found = [each for each in names if each.startswith(name.lower())] if name else []
        if len(found) > 1 and name.lower() not in found:
            raise AmbiguousRun(f"{len(found)} runs begin with {name[:40]!r}; give more of the id")
        if not found:
            raise UnknownName("run", name[:80], names, "see /api/v1/runs")
        return self._directory(found[0])

    def metadata(self, directory: RunDirectory) -> Metadata:
        """Return a run's header, from memory while it has not changed."""
        entry = self._refresh(directory.run_id)
        if entry is None or entry.metadata is None:
            return directory.read_metadata()  # says what is wrong with it
        return entry.metadata

    def _directory(self, name: str) -> RunDirectory:
        return RunDirectory(self._records / name)

    def _names(self) -> list[str]:
        try:
            with os.scandir(self._records) as entries:
                return sorted(entry.name for entry in entries if not entry.name.startswith(".") and entry.is_dir())
        except FileNotFoundError:
            return []

    def _live_or_newest(self) -> RunDirectory:
        lines = self.lines()
        live = [line.run_id for line in lines if line.status == "running"]
        return self._directory(max(live) if live else self._names()[-1])

    # -- listing -----------------------------------------------------------------------------------------------

    def lines(self) -> list[RunSummary]:
        """Return every readable run."""
        with self._lock:
            self._scan()
            return self._readable()

    def page(self, query: Query) -> RunList:
        """Return one page of runs."""
        with self._lock:
            self._scan()
            wanted, overview = self._chosen(query), self._seen()
            unreadable = len(self._entries) - sum(overview.statuses.values())
        first = (query.page - 1) * query.page_size
        return RunList(
            runs=wanted[first : first + query.page_size],
            total_count=len(wanted),
            page=query.page,
            page_size=query.page_size,
            statuses=overview.statuses,
            worlds=overview.worlds,
            agents=overview.agents,
            tags=overview.tags,
            unreadable=unreadable,
        )

    def live(self) -> Sequence[RunSummary]:
        """Return the runs that a process plays now."""
        return [line for line in self.lines() if line.status == "running"]

    def _readable(self) -> Lines:
        return [entry.line for entry in self._entries.values() if entry.line is not None]

    def _chosen(self, query: Query) -> Lines:
        """Return the runs of a query in order; remembered while no run changes."""
        everything = msgspec.structs.replace(query, page=1, page_size=0)
        if self._answer is None or self._answer[0] != everything:
            words = query.text.lower().split() if query.text else []
            entries = [entry for entry in self._entries.values() if _has(entry, words)]
            wanted = [entry.line for entry in entries if entry.line and _matches(entry.line, query)]
            wanted.sort(key=_sort_key(query.sort), reverse=query.descending)
            self._answer = (everything, wanted)
        return self._answer[1]

    def _seen(self) -> _Overview:
        if self._overview is None:
            lines = self._readable()
            statuses: dict[str, int] = dict(Counter(str(line.status) for line in lines))
            worlds, agents = sorted({line.world for line in lines}), sorted({line.agent for line in lines})
            tags = sorted({tag for line in lines for tag in line.tags})
            self._overview = _Overview(statuses, worlds, agents, tags)
        return self._overview

    def _scan(self) -> None:
        """Take in new runs and the live ones at once; whether others changed is looked up beside, now and then."""
        now = time.monotonic()
        folder = _stamp(str(self._records))
        if folder != self._folder_changed:
            self._folder_changed = folder
            names = self._names()
            for gone in self._entries.keys() - set(names):
                del self._entries[gone]
                self._forget()
            for name in names:
                if name not in self._entries:
                    self._read(name, _stamp(f"{self._records}/{name}"), now)
        for name in self._running():
            self._read(name, _stamp(f"{self._records}/{name}"), now)
        if time.monotonic() - self._scanned >= FRESH and not self._looking:
            self._looking = True
            threading.Thread(target=self._look_again, name="library", daemon=True).start()

    def _look_again(self) -> None:
        try:
            time.sleep(LATER)
            found = self._folders()
            with self._lock:
                for name, changed in found.items():
                    entry = self._entries.get(name)
                    if entry is not None and entry.changed != changed:
                        self._read(name, changed, time.monotonic())
        finally:
            self._scanned = time.monotonic()
            self._looking = False

    def _folders(self) -> dict[str, int]:
        """Return when each folder last changed."""
        try:
            with os.scandir(self._records) as entries:
                return {e.name: e.stat().st_mtime_ns for e in entries if not e.name.startswith(".") and e.is_dir()}
        except FileNotFoundError:
            return {}

    def _running(self) -> Sequence[str]:
        return [name for name, entry in self._entries.items() if entry.line and entry.line.status == "running"]

    def _refresh(self, name: str) -> _Entry | None:
        with self._lock:
            self._read(name, _stamp(f"{self._records}/{name}"), time.monotonic())
            return self._entries.get(name)

    def _read(self, name: str, changed: int, now: float) -> None:
        entry = self._entries.get(name)
        if entry is not None and entry.changed == changed:
            is_live = entry.line is not None and entry.line.status == "running"
            if not is_live or now - entry.read < LIVE_FRESH:
                return
        self._forget()
        before = entry.tally if entry is not None and entry.changed == changed else NOTHING
        try:
            self._entries[name] = _entry(self._directory(name), changed, now, before)
        except PtpError:
            self._entries[name] = _Entry(changed, None, None, now)  # counted as unreadable; naming it tells why

    def _forget(self) -> None:
        self._answer, self._overview = None, None


def _stamp(path: str) -> int:
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0


def _entry(directory: RunDirectory, changed: int, now: float, before: Tally) -> _Entry:
    metadata = directory.read_metadata()
    if metadata.run_id != directory.run_id:
        raise RunUnreadable(f"{directory.path.name} holds the header of run {metadata.run_id}")
    figures = tally(directory, metadata, before)
    line = describe(directory, metadata, figures)
    return _Entry(changed, line, metadata, now, _words(line), figures)


def _words(line: RunSummary) -> str:
    told = (line.run_id, line.world, line.agent, line.experiment_name, line.stopped_by, line.error, *line.tags)
    return " ".join(word for word in told if word).lower()


def _has(entry: _Entry, words: list[str]) -> bool:
    return all(word in entry.words for word in words)


def _matches(line: RunSummary, query: Query) -> bool:
    asked = ((query.status, line.status), (query.world, line.world), (query.agent, line.agent))
    return all(wanted == found for wanted, found in asked if wanted) and (not query.tag or query.tag in line.tags)


def _sort_key(name: SortKey) -> Callable[[RunSummary], Any]:
    def key(line: RunSummary) -> tuple[bool, Any, str]:
        value = getattr(line, name)
        return value is not None, value if value is not None else 0, line.run_id

    return key
