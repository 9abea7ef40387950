"""Choosing runs from many: filters, order and groups."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime
from time import time
from typing import Any, Literal, get_args

import msgspec

from ptp._util.clock import iso, parse_age
from ptp.errors import PtpError, UnknownName, UsageError
from ptp.runs.summary import RunSummary

SortKey = Literal[
    "started_at", "status", "world", "agent", "ticks", "episodes", "total_reward", "total_cost", "name",
    "elapsed_seconds",
]  # fmt: skip
GroupKey = Literal["world", "agent", "status", "experiment", "tag", "seed"]
SORT_KEYS: tuple[str, ...] = get_args(SortKey)


class Query(msgspec.Struct, frozen=True, kw_only=True):
    """Which runs are wanted, and in which order."""

    status: str | None = None
    world: str | None = None
    agent: str | None = None
    tag: str | None = None
    experiment: str | None = None
    text: str | None = None
    """Words that must all occur in the id, name, notes, world, agent, experiment, tags, or how the run ended."""
    since: str | None = None
    """Only runs that started then or later: the beginning of a UTC timestamp, or all of it."""
    until: str | None = None
    """Only runs that started before then."""
    min_ticks: int | None = None
    max_ticks: int | None = None
    min_reward: float | None = None
    max_reward: float | None = None
    sort: str = "started_at"
    """A `SortKey`, or a signal of the world, such as badges."""
    descending: bool = True
    page: int = 1
    page_size: int = 50

    @property
    def is_plain(self) -> bool:
        """Whether every run is wanted, the newest first."""
        return msgspec.structs.replace(self, page=1, page_size=50) == Query()

    def matches(self, line: RunSummary) -> bool:
        """Whether a run is wanted."""
        equal = (
            (self.status, line.status), (self.world, line.world), (self.agent, line.agent),
            (self.experiment, line.experiment_name),
        )  # fmt: skip
        ranges = ((self.min_ticks, line.ticks, self.max_ticks), (self.min_reward, line.total_reward, self.max_reward))
        return (
            all(found == wanted for wanted, found in equal if wanted)
            and (not self.tag or self.tag in line.tags)
            and (self.since is None or line.started_at >= self.since)
            and (self.until is None or line.started_at < self.until)
            and all(_is_within(*each) for each in ranges)
            and (not self.text or self._has_text(line))
        )

    def _has_text(self, line: RunSummary) -> bool:
        texts = (line.run_id, line.name, line.notes, line.world, line.agent, line.experiment_name, line.stopped_by,
                 line.error, *line.tags)  # fmt: skip
        searched = " ".join(filter(None, texts)).lower()
        return all(word in searched for word in (self.text or "").lower().split())

    def place(self, line: RunSummary) -> tuple[bool, Any, str]:
        """Return what a run is sorted by; one that lacks the figure comes after all others when descending."""
        value = getattr(line, self.sort) if self.sort in SORT_KEYS else line.signals.get(self.sort)
        return value is not None, value if value is not None else 0, line.run_id

    def sorted(self, lines: Iterable[RunSummary]) -> list[RunSummary]:
        """Return the runs that are wanted, in order."""
        lines = list(lines)
        signals = {name for line in lines for name in line.signals}
        if self.sort not in SORT_KEYS and self.sort not in signals and lines:
            raise UnknownName("column", self.sort, [*SORT_KEYS, *sorted(signals)], "no run can be sorted by it")
        return sorted(filter(self.matches, lines), key=self.place, reverse=self.descending)


def make_query(*, since: str | None = None, until: str | None = None, **filters: Any) -> Query:
    """Return a query whose times may be written as people write them."""
    return Query(since=since and moment(since), until=until and moment(until), **filters)


def _is_within(least: float | None, value: float | None, most: float | None) -> bool:
    if least is None and most is None:
        return True
    return value is not None and (least is None or value >= least) and (most is None or value <= most)


def moment(text: str) -> str:
    """Return a date, a time or an age as a UTC timestamp; without a time zone it is the user's own."""
    try:
        return iso(datetime.fromisoformat(text).timestamp())
    except (ValueError, OverflowError, OSError):
        pass
    try:
        return iso(time() - parse_age(text))
    except (PtpError, ValueError, OverflowError, OSError):
        raise UsageError(f"{text!r} is not a time; write 2026-01-31, 2026-01-31T12:00, or an age such as 7d") from None


class RunGroup(msgspec.Struct):
    """The runs that have something in common."""

    group: str
    runs: int
    statuses: dict[str, int]
    ticks: int
    """Ticks of all runs together."""
    episodes: int
    mean_reward: float | None
    """The mean total reward of a run; null where no run has one."""
    best_reward: float | None
    elapsed_seconds: float
    """Seconds of play of all runs together."""
    total_cost: float


def group_runs(lines: Iterable[RunSummary], by: GroupKey) -> list[RunGroup]:
    """Return runs in groups, the largest first; with several tags a run is in several groups."""
    groups: dict[str, list[RunSummary]] = {}
    for line in lines:
        for name in _groups_of(line, by):
            groups.setdefault(name, []).append(line)
    made = [_grouped(name, runs) for name, runs in groups.items()]
    return sorted(made, key=lambda group: (-group.runs, group.group))


def _groups_of(line: RunSummary, by: GroupKey) -> Iterator[str]:
    if by == "tag":
        yield from line.tags or ["-"]
    else:
        field = {"experiment": "experiment_name", "seed": "random_seed"}.get(by, by)
        yield str(getattr(line, field))


def _grouped(name: str, runs: list[RunSummary]) -> RunGroup:
    rewards = [run.total_reward for run in runs if run.total_reward is not None]
    return RunGroup(
        group=name,
        runs=len(runs),
        statuses=dict(Counter(str(run.status) for run in runs)),
        ticks=sum(run.ticks or 0 for run in runs),
        episodes=sum(run.episodes or 0 for run in runs),
        mean_reward=sum(rewards) / len(rewards) if rewards else None,
        best_reward=max(rewards, default=None),
        elapsed_seconds=sum(run.elapsed_seconds or 0 for run in runs),
        total_cost=sum(run.total_cost or 0 for run in runs),
    )
