"""Runs: the list, one of them, its status, settings, log and figures."""

from __future__ import annotations

import re
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.responses import PlainTextResponse, Response

from ptp import __version__
from ptp.config.files import read_tree
from ptp.errors import PtpError
from ptp.recording import RunDirectory
from ptp.recording.database import Database
from ptp.records import Metadata
from ptp.runner.control import ask
from ptp.runs import answers
from ptp.runs.library import Query as RunQuery
from ptp.runs.library import SortKey
from ptp.runs.logs import read_log
from ptp.runs.metrics import as_prometheus, read_metrics, read_series
from ptp.runs.status import last_elapsed
from ptp.web.parts import Page, RunName, parts_of
from ptp.web.schema import answered_by, answered_with, reply

router = APIRouter(tags=["runs"])
SECRET = re.compile(r"password|secret|token|api_?key", re.IGNORECASE)
CREDENTIALS = re.compile(r"(?<=://)[^/@\s]+@")
DEFAULT_SERIES = (
    "tick_rate_actual,current_level,party_health,decision_latency_avg,reward,episode_reward,memory_usage_mb"
)


@router.get("/healthz", responses=answered_by(answers.Health))
async def healthz() -> Response:
    """Say that the server serves."""
    return reply(answers.Health("ok", __version__))


@router.get("/api/v1/runs", responses=answered_by(answers.RunList))
def list_runs(
    request: Request,
    status: Annotated[answers.RunStatus | None, Query(description="Only runs of this status.")] = None,
    world: Annotated[str | None, Query(max_length=200, description="Only runs of this world.")] = None,
    agent: Annotated[str | None, Query(max_length=200, description="Only runs of this agent.")] = None,
    tag: Annotated[str | None, Query(max_length=200, description="Only runs with this tag.")] = None,
    q: Annotated[
        str | None, Query(max_length=200, description="Words that must occur in id, world, agent or tags.")
    ] = None,
    sort: Annotated[SortKey, Query(description="What to sort by.")] = "started_at",
    descending: Annotated[bool, Query(description="Whether the greatest comes first.")] = True,
    page: Page = 1,
    page_size: Annotated[int, Query(ge=1, le=500, description="Runs per page.")] = 50,
) -> Response:
    """List the runs of the data directory."""
    query = RunQuery(status, world, agent, tag, q, sort, descending, page, page_size)
    return reply(parts_of(request).library.page(query))


@router.get("/api/v1/run", responses=answered_by(answers.RunDetail))
def show_run(request: Request, run: RunName = None) -> Response:
    """Tell everything about a run but its ticks."""
    parts = parts_of(request)
    directory, metadata = parts.find(run)
    line = next((line for line in parts.library.lines() if line.run_id == directory.run_id), None)
    if line is None:
        directory.read_metadata()  # says what is wrong with it
        raise PtpError(f"run {directory.run_id} can't be read; see `ptp show {directory.run_id}`")
    return reply(_detail(directory, metadata, line))


def _detail(directory: RunDirectory, metadata: Metadata, line: answers.RunSummary) -> answers.RunDetail:
    with Database(directory.database) as database:
        shots = database.row("SELECT count(*) FROM screenshots")[0]
        recent = "SELECT command FROM steps ORDER BY tick DESC LIMIT 500"
        commands = database.rows(f"SELECT command FROM ({recent}) GROUP BY command ORDER BY count(*) DESC LIMIT 20")
        live = metadata.status == "running"
        return answers.RunDetail(
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


@router.get("/api/v1/status", responses=answered_by(answers.Status))
async def status(request: Request, run: RunName = None) -> Response:
    """Tell how a run stands now."""
    return Response(await parts_of(request).statuses.get(run), media_type="application/json")


@router.get("/api/v1/config", responses=answered_by(answers.Settings))
def config(request: Request, run: RunName = None) -> Response:
    """Return the settings a run was recorded with; anything that could be a secret is left out."""
    directory, _ = parts_of(request).find(run)
    path = directory.path / "config.yaml"
    tree = _without_secrets(read_tree(path)) if path.exists() else {}
    return reply(answers.Settings(directory.run_id, tree))


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


@router.get("/api/v1/logs", responses=answered_by(answers.LogLines))
def logs(
    request: Request,
    run: RunName = None,
    lines: Annotated[int, Query(ge=1, le=5000, description="Lines, from the end.")] = 200,
    after: Annotated[int | None, Query(ge=0, le=1 << 62, description="Only what came after so many bytes.")] = None,
    level: Annotated[answers.LogLevel | None, Query(description="Only lines of at least this level.")] = None,
) -> Response:
    """Return the end of a run's log."""
    directory, _ = parts_of(request).find(run)
    return reply(read_log(directory.path / "run.log", lines, after, level))


@router.get("/api/v1/metrics", responses=answered_by(answers.Metrics))
def metrics(request: Request, run: RunName = None) -> Response:
    """Return the figures of a run as they are now."""
    return reply(read_metrics(parts_of(request).find(run)[0]))


@router.get("/api/v1/metrics/series", responses=answered_by(answers.SeriesList))
def series(
    request: Request,
    run: RunName = None,
    names: Annotated[
        str, Query(max_length=500, pattern=r"^[a-z0-9_,]+$", description="Names of figures, joined by commas.")
    ] = DEFAULT_SERIES,
    points: Annotated[int, Query(ge=2, le=2000, description="Points per figure, at most.")] = 200,
) -> Response:
    """Return figures of a run over its ticks."""
    directory, _ = parts_of(request).find(run)
    return reply(read_series(directory, list(dict.fromkeys(filter(None, names.split(",")))), points))


@router.get(
    "/metrics", responses=answered_with("Figures of live runs.", "text/plain"), response_class=PlainTextResponse
)
def prometheus(request: Request) -> Response:
    """Return the figures of all live runs for Prometheus."""
    library = parts_of(request).library
    found = []
    for line in library.live():
        labels = {"run": line.run_id, "world": line.world, "agent": line.agent}
        found.append((labels, read_metrics(library.find(line.run_id))))
    counts = library.page(RunQuery(page_size=1)).statuses
    return PlainTextResponse(as_prometheus(found, counts), media_type="text/plain; version=0.0.4; charset=utf-8")
