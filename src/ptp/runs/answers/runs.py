"""What the API answers about runs: the list, one of them, its settings and its log."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

from ptp.runs.summary import RunSummary

LogLevel = Literal["info", "warning", "error"]


class DamagedRun(Struct):
    """A folder that is no run, or whose header or database can't be read."""

    run_id: str
    problem: str
    """What is wrong, and what to do about it."""


class RunList(Struct):
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
    """Folders that are no run, or that are damaged."""
    damaged: list[DamagedRun]
    """What is wrong with each of them, the first hundred."""


class RunDetail(Struct):
    """Everything known of a run beside its ticks."""

    run: RunSummary
    """The run in a line."""
    live: bool
    """Whether a process plays it now."""
    paused: bool | None
    """Whether it is held; null when it is not live."""
    elapsed_seconds: float | None
    family: str
    """The kind of world: gameboy, toy_text, gymnasium."""
    render_mode: str | None
    """How the world draws itself: rgb_array, ansi, or null when it has no picture."""
    signals: list[str]
    """What the world can tell of itself: battle, caught, badges, level."""
    commands: list[str]
    """The commands that occur most among the newest, most often first."""
    rewinds: int
    """How often the run went back."""
    parent_tick: int | None
    """The tick at which it left its parent."""
    versions: dict[str, str]
    """The versions that a replay depends on."""
    screenshots: int
    """Pictures that were kept."""
    resume_with: str
    """The command that goes on with the run."""


class Settings(Struct):
    """The settings a run was recorded with."""

    run_id: str
    config: dict[str, Any]
    """Every setting, by section; as `--config-file` takes them. Empty where an older run kept none."""


class LogLine(Struct):
    """One line of the log."""

    time: str | None
    """When, in UTC."""
    level: str
    """info, warning or error."""
    event: str
    """A word for what happened."""
    message: str
    tick: int | None
    """The tick, where there is one."""


class LogLines(Struct):
    """The end of the log."""

    lines: list[LogLine]
    position: int
    """Bytes of the log that were read; give it as `after` for what comes next."""


class Health(Struct):
    """Whether the server serves."""

    status: Literal["ok"]
    """Always ok; a server that isn't does not answer."""
    version: str
