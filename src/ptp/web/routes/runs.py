"""Runs: the list, one of them, its status, settings, log and figures."""

from __future__ import annotations

import re
from typing import Annotated, Any

from msgspec import Meta
from starlette.responses import Response

from ptp import __version__
from ptp.config.files import read_tree
from ptp.errors import PtpError
from ptp.recording import RunDirectory
from ptp.recording.database import Database
from ptp.records import Metadata
from ptp.records import Status as RunStatus
from ptp.runner.control import ask
from ptp.runs.answers import (
    Health,
    LogLevel,
    LogLines,
    Metrics,
    RunDetail,
    RunList,
    RunSummary,
    SeriesList,
    Settings,
    Status,
)
from ptp.runs.library import Query, SortKey
from ptp.runs.logs import read_log
from ptp.runs.metrics import read_metrics, read_series
from ptp.runs.status import last_elapsed
from ptp.web.endpoints import API, Endpoint, Media
from ptp.web.exposition import CONTENT_TYPE_LATEST, exposition
from ptp.web.requests import END, Nothing, OfRun, Text
from ptp.web.services import Services

SECRET = re.compile(r"password|secret|token|api_?key", re.IGNORECASE)
CREDENTIALS = re.compile(r"(?<=://)[^/@\s]+@")
DEFAULT_SERIES = (
    "tick_rate_actual,current_level,party_health,decision_latency_avg,reward,episode_reward,memory_usage_mb"
)


class WhichRuns(Nothing, frozen=True):
    """Which runs are listed, and in which order."""

    status: RunStatus | None = None
    """Only runs of this status."""
    world: Text | None = None
    """Only runs of this world."""
    agent: Text | None = None
    """Only runs of this agent."""
    tag: Text | None = None
    """Only runs with this tag."""
    q: Text | None = None
    """Words that must occur in id, world, agent or tags."""
    sort: SortKey = "started_at"
    """What to sort by."""
    descending: bool = True
    """Whether the greatest comes first."""
    page: Annotated[int, Meta(ge=1, le=1_000_000_000)] = 1
    """The page, from 1."""
    page_size: Annotated[int, Meta(ge=1, le=500)] = 50
    """Runs per page."""


class WhichLines(OfRun, frozen=True, kw_only=True):
    """Which lines of a log are wanted."""

    lines: Annotated[int, Meta(ge=1, le=5000)] = 200
    """Lines, from the end."""
    after: Annotated[int, Meta(ge=0, le=1 << 62)] | None = None
    """Only what came after so many bytes."""
    level: LogLevel | None = None
    """Only lines of at least this level."""


class WhichSeries(OfRun, frozen=True, kw_only=True):
    """Which figures are wanted."""

    names: Annotated[str, Meta(max_length=500, pattern=rf"^[a-z0-9_,]+{END}")] = DEFAULT_SERIES
    """Names of figures, joined by commas."""
    points: Annotated[int, Meta(ge=2, le=2000)] = 200
    """Points per figure, at most."""


async def healthz(services: Services, asked: Nothing) -> Health:
    """Say that the server serves."""
    return Health("ok", __version__)


def list_runs(services: Services, asked: WhichRuns) -> RunList:
    """List the runs of the data directory."""
    return services.library.page(
        Query(asked.status, asked.world, asked.agent, asked.tag, asked.q, asked.sort, asked.descending, asked.page,
              asked.page_size)
    )  # fmt: skip


def show_run(services: Services, asked: OfRun) -> RunDetail:
    """Show everything about a run but its ticks."""
    directory, metadata = services.find(asked.run)
    line = next((line for line in services.library.lines() if line.run_id == directory.run_id), None)
    if line is None:
        directory.read_metadata()  # says what is wrong with it
        raise PtpError(f"run {directory.run_id} can't be read; see `ptp show {directory.run_id}`")
    return _detail(directory, metadata, line)


def _detail(directory: RunDirectory, metadata: Metadata, line: RunSummary) -> RunDetail:
    with Database(directory.database) as database:
        shots = database.row("SELECT count(*) FROM screenshots")[0]
        recent = "SELECT command FROM steps ORDER BY tick DESC LIMIT 500"
        commands = database.rows(f"SELECT command FROM ({recent}) GROUP BY command ORDER BY count(*) DESC LIMIT 20")
        live = metadata.status == "running"
        return RunDetail(
            run=line,
            live=live,
            paused=_is_paused(directory) if live else None,
            elapsed_seconds=last_elapsed(database, metadata),
            family=metadata.facts.family,
            render_mode=metadata.facts.render_mode,
            signals=list(metadata.facts.signals),
            commands=[row[0] for row in commands],
            rewinds=metadata.rewinds,
            parent_tick=metadata.parent.tick if metadata.parent else None,
            versions={"ptp": metadata.ptp_version, "schema": metadata.schema_version, **metadata.facts.origin},
            screenshots=shots,
            resume_with=f"ptp resume {directory.run_id}",
        )


def _is_paused(directory: RunDirectory) -> bool | None:
    try:
        return bool(ask(directory, "status")["paused"])
    except PtpError:
        return None  # it ended between two looks


async def status(services: Services, asked: OfRun) -> Response:
    """Show how a run stands now."""
    return Response(await services.statuses.get(asked.run), media_type="application/json")


def config(services: Services, asked: OfRun) -> Settings:
    """Return the settings a run was recorded with; anything that could be a secret is left out."""
    directory, _ = services.find(asked.run)
    path = directory.path / "config.yaml"
    return Settings(directory.run_id, _without_secrets(read_tree(path)) if path.exists() else {})


def _without_secrets(tree: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in tree.items():
        if isinstance(value, dict):
            found[name] = _without_secrets(value)
        elif SECRET.search(name):
            found[name] = None if value is None else "***"
        else:
            found[name] = CREDENTIALS.sub("***@", value) if isinstance(value, str) else value
    return found


def logs(services: Services, asked: WhichLines) -> LogLines:
    """Return the end of a run's log."""
    directory, _ = services.find(asked.run)
    return read_log(directory.path / "run.log", asked.lines, asked.after, asked.level)


def metrics(services: Services, asked: OfRun) -> Metrics:
    """Return the figures of a run as they are now."""
    return read_metrics(services.find(asked.run)[0])


def series(services: Services, asked: WhichSeries) -> SeriesList:
    """Return figures of a run over its ticks."""
    directory, _ = services.find(asked.run)
    return read_series(directory, list(dict.fromkeys(filter(None, asked.names.split(",")))), asked.points)


def prometheus(services: Services, asked: Nothing) -> Response:
    """Return the figures of all live runs for Prometheus."""
    return Response(exposition(services.library), media_type=CONTENT_TYPE_LATEST)


ENDPOINTS = (
    Endpoint("GET", "/healthz", healthz, Health, Nothing, public=True),
    Endpoint("GET", "/metrics", prometheus, Media("Figures of live runs.", ("text/plain",)), Nothing),
    Endpoint("GET", f"{API}/runs", list_runs, RunList, WhichRuns),
    Endpoint("GET", f"{API}/run", show_run, RunDetail),
    Endpoint("GET", f"{API}/status", status, Status),
    Endpoint("GET", f"{API}/config", config, Settings),
    Endpoint("GET", f"{API}/logs", logs, LogLines, WhichLines),
    Endpoint("GET", f"{API}/metrics", metrics, Metrics),
    Endpoint("GET", f"{API}/metrics/series", series, SeriesList, WhichSeries),
)
