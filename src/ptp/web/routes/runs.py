"""Runs: the list, one of them, its status, settings, log and figures."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct
from msgspec.structs import asdict
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Gauge, generate_latest
from starlette.responses import Response

from ptp import __version__
from ptp.config.files import read_tree
from ptp.errors import PtpError
from ptp.http.endpoints import END, Endpoint, Media
from ptp.http.openapi import field_words
from ptp.recording import RunDirectory
from ptp.recording.database import Database
from ptp.records import Level
from ptp.records import Status as RunStatus
from ptp.runs.library import RunList
from ptp.runs.logs import LogLines
from ptp.runs.metrics import Game, Metrics, Performance, SeriesList, read_metrics, read_series
from ptp.runs.query import Query, SortKey
from ptp.runs.status import RunDetail, Status, newest_metric, read_detail
from ptp.web.parameters import API, Page, PageSize, Run, Text, Tick
from ptp.web.routes.pool import measure_pool
from ptp.web.services import Services

Moment = Annotated[str, Meta(max_length=24, pattern=rf"^[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}(T[0-9:.]+Z)?{END}")]
LABELS = ("run", "world", "agent")  # of a figure for Prometheus
SECRET = re.compile(r"password|secret|token|api_?key", re.IGNORECASE)
CREDENTIALS = re.compile(r"(?<=://)[^/@\s]+@")
LogPosition = Annotated[int, Meta(ge=0, le=1 << 62)]
SeriesNames = Annotated[str, Meta(max_length=500, pattern=rf"^[A-Za-z0-9_,]*{END}")]


class Settings(Struct):
    """The settings a run was recorded with."""

    run_id: str
    config: dict[str, Any]
    """Every setting, by section; as `--config-file` takes them. Empty where an older run kept none."""


class Health(Struct):
    """Whether the server serves."""

    status: Literal["ok"]
    """Always ok; a server that isn't does not answer."""
    version: str


async def healthz(services: Services) -> Health:
    """Say that the server serves."""
    return Health("ok", __version__)


def list_runs(
    services: Services,
    status: Annotated[RunStatus | None, Meta(description="Only runs of this status.")] = None,
    world: Annotated[Text | None, Meta(description="Only runs of this world.")] = None,
    agent: Annotated[Text | None, Meta(description="Only runs of this agent.")] = None,
    tag: Annotated[Text | None, Meta(description="Only runs with this tag.")] = None,
    experiment: Annotated[Text | None, Meta(description="Only runs of this experiment.")] = None,
    q: Annotated[Text | None, Meta(description="Words in id, name, notes, world, agent or tags.")] = None,
    since: Annotated[Moment | None, Meta(description="Only runs that started then or later, in UTC.")] = None,
    until: Annotated[Moment | None, Meta(description="Only runs that started before then, in UTC.")] = None,
    min_ticks: Annotated[Tick | None, Meta(description="Only runs of at least so many ticks.")] = None,
    max_ticks: Annotated[Tick | None, Meta(description="Only runs of at most so many ticks.")] = None,
    min_reward: Annotated[float | None, Meta(description="Only runs of at least this total reward.")] = None,
    max_reward: Annotated[float | None, Meta(description="Only runs of at most this total reward.")] = None,
    sort: Annotated[SortKey, Meta(description="What to sort by.")] = "started_at",
    descending: Annotated[bool, Meta(description="Whether the greatest comes first.")] = True,
    page: Page = 1,
    page_size: PageSize = 50,
) -> RunList:
    """List the runs of the data directory."""
    query = Query(
        status=status, world=world, agent=agent, tag=tag, experiment=experiment, text=q, since=since, until=until,
        min_ticks=min_ticks, max_ticks=max_ticks, min_reward=min_reward, max_reward=max_reward,
        sort=sort, descending=descending, page=page, page_size=page_size,
    )  # fmt: skip
    return services.library.page(query)


def show_run(services: Services, run: Run = None) -> RunDetail:
    """Show everything about a run but its ticks."""
    directory, metadata = services.find(run)
    line = next((line for line in services.library.lines() if line.run_id == directory.run_id), None)
    if line is None:
        directory.read_metadata()  # says what is wrong with it
        raise PtpError(f"run {directory.run_id} can't be read; see `ptp show {directory.run_id}`")
    return read_detail(directory, metadata, line)


async def status(services: Services, run: Run = None) -> Status:
    """Show the status of a run."""
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
    level: Annotated[Level | None, Meta(description="Only lines of at least this level.")] = None,
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
    """Return the figures of all live runs, and of the pool, for Prometheus."""
    library = services.library
    registry = CollectorRegistry()
    runs = Gauge("ptp_runs", "Runs by status.", ("status",), registry=registry)
    for status, count in sorted(library.page(Query(page_size=1)).statuses.items()):
        runs.labels(status).set(count)
    gauges: dict[str, Gauge] = {}
    for line in library.live():
        for name, help_, value in _figures_of(library.find(line.run_id)):
            if name not in gauges:
                gauges[name] = Gauge(f"ptp_{name}", help_, LABELS, registry=registry)
            gauges[name].labels(line.run_id, line.world, line.agent).set(value)
    measure_pool(services.data_dir, registry)
    return Response(generate_latest(registry), media_type=CONTENT_TYPE_LATEST)


def _figures_of(directory: RunDirectory) -> Iterator[tuple[str, str, float]]:
    """Return the figures of every run under the names of the API, then those that the run's world measures."""
    metrics = read_metrics(directory)
    known = {"tick": metrics.tick} | asdict(metrics.performance) | asdict(metrics.game)
    for name, figure in known.items():
        if figure is not None:
            yield name, _helps().get(name, name.replace("_", " ")), figure
    with Database(directory.database) as database:
        for gauge in directory.read_metadata().facts.gauges:
            value = newest_metric(database, gauge.name)
            if value is not None and gauge.name not in known:
                yield gauge.name, gauge.help or gauge.title, value


@cache
def _helps() -> dict[str, str]:
    return {"tick": "The newest tick."} | field_words(Performance) | field_words(Game)


ENDPOINTS = (
    Endpoint("GET", "/healthz", healthz, public=True),
    Endpoint("GET", "/metrics", prometheus, Media("Figures of live runs and of the pool.", ("text/plain",))),
    Endpoint("GET", f"{API}/runs", list_runs),
    Endpoint("GET", f"{API}/run", show_run),
    Endpoint("GET", f"{API}/status", status),
    Endpoint("GET", f"{API}/config", config),
    Endpoint("GET", f"{API}/logs", logs),
    Endpoint("GET", f"{API}/metrics", metrics),
    Endpoint("GET", f"{API}/metrics/series", series),
)
