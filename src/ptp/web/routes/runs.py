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
from ptp.runs.library import Query, RunList, SortKey
from ptp.runs.logs import LogLevel, LogLines
from ptp.runs.metrics import Metrics, SeriesList, read_metrics, read_series
from ptp.runs.remote import is_paused
from ptp.runs.status import Status, last_elapsed
from ptp.runs.summary import RunDetail, RunSummary
from ptp.web.answers import Health, Settings
from ptp.web.endpoints import API, Endpoint, Media
from ptp.web.exposition import CONTENT_TYPE_LATEST, exposition
from ptp.web.requests import END, Page, PageSize, Run, Text
from ptp.web.services import Services

SECRET = re.compile(r"password|secret|token|api_?key", re.IGNORECASE)
CREDENTIALS = re.compile(r"(?<=://)[^/@\s]+@")
LogPosition = Annotated[int, Meta(ge=0, le=1 << 62)]
SeriesNames = Annotated[str, Meta(max_length=500, pattern=rf"^[A-Za-z0-9_,]*{END}")]


async def healthz(services: Services) -> Health:
    """Say that the server serves."""
    return Health("ok", __version__)


def list_runs(
    services: Services,
    status: Annotated[RunStatus | None, Meta(description="Only runs of this status.")] = None,
    world: Annotated[Text | None, Meta(description="Only runs of this world.")] = None,
    agent: Annotated[Text | None, Meta(description="Only runs of this agent.")] = None,
    tag: Annotated[Text | None, Meta(description="Only runs with this tag.")] = None,
    q: Annotated[Text | None, Meta(description="Words that must occur in id, world, agent or tags.")] = None,
    sort: Annotated[SortKey, Meta(description="What to sort by.")] = "started_at",
    descending: Annotated[bool, Meta(description="Whether the greatest comes first.")] = True,
    page: Page = 1,
    page_size: PageSize = 50,
) -> RunList:
    """List the runs of the data directory."""
    return services.library.page(Query(status, world, agent, tag, q, sort, descending, page, page_size))


def show_run(services: Services, run: Run = None) -> RunDetail:
    """Show everything about a run but its ticks."""
    directory, metadata = services.find(run)
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
        return is_paused(directory)
    except PtpError:
        return None  # it ended between two looks


async def status(services: Services, run: Run = None) -> Status:
    """Show how a run stands now."""
    return await services.status(run)


def config(services: Services, run: Run = None) -> Settings:
    """Return the settings a run was recorded with; anything that could be a secret is left out."""
    directory, _ = services.find(run)
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


def logs(
    services: Services,
    run: Run = None,
    lines: Annotated[int, Meta(ge=1, le=5000, description="Lines, from the end.")] = 200,
    after: Annotated[LogPosition | None, Meta(description="Only what came after so many bytes.")] = None,
    level: Annotated[LogLevel | None, Meta(description="Only lines of at least this level.")] = None,
) -> LogLines:
    """Return the end of a run's log."""
    return services.open(run).log(lines, after, level)


def metrics(services: Services, run: Run = None) -> Metrics:
    """Return the figures of a run as they are now."""
    return read_metrics(services.find(run)[0])


def series(
    services: Services,
    run: Run = None,
    names: Annotated[SeriesNames, Meta(description="Names of figures, joined by commas; all when empty.")] = "",
    points: Annotated[int, Meta(ge=2, le=2000, description="Points per figure, at most.")] = 200,
) -> SeriesList:
    """Return figures of a run over its ticks."""
    directory, _ = services.find(run)
    return read_series(directory, list(dict.fromkeys(filter(None, names.split(",")))), points)


def prometheus(services: Services) -> Response:
    """Return the figures of all live runs for Prometheus."""
    return Response(exposition(services.library), media_type=CONTENT_TYPE_LATEST)


ENDPOINTS = (
    Endpoint("GET", "/healthz", healthz, public=True),
    Endpoint("GET", "/metrics", prometheus, Media("Figures of live runs.", ("text/plain",))),
    Endpoint("GET", f"{API}/runs", list_runs),
    Endpoint("GET", f"{API}/run", show_run),
    Endpoint("GET", f"{API}/status", status),
    Endpoint("GET", f"{API}/config", config),
    Endpoint("GET", f"{API}/logs", logs),
    Endpoint("GET", f"{API}/metrics", metrics),
    Endpoint("GET", f"{API}/metrics/series", series),
)
