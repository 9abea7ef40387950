"""The app: endpoints, page and guard, built from services."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from http import HTTPStatus
from pathlib import Path
from typing import Any

import anyio.to_thread
import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from ptp.errors import PtpError, RunUnreadable, UnknownName, UsageError
from ptp.runs.library import AmbiguousRun
from ptp.web.answers import Problem
from ptp.web.endpoints import API, reply
from ptp.web.guard import LOOPBACK, Guard, Policy
from ptp.web.openapi import document
from ptp.web.routes import ENDPOINTS
from ptp.web.services import Services

STATIC = Path(__file__).with_name("static")


def create_app(
    data_dir: Path,
    token: str,
    *,
    open_reading: bool = True,
    hosts: frozenset[str] | None = LOOPBACK,
    most_runs: int = 8,
    **rates: float,
) -> Starlette:
    """Return the app over the runs of a data directory.

    *open_reading* lets read without the token: only for an app that nobody but this machine can reach. At most
    *most_runs* runs that were started from it are live at once; *rates* are those of `Policy`.
    """
    services = Services(data_dir, most_runs)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        await anyio.to_thread.run_sync(services.library.lines)
        yield
        await services.close()

    public = frozenset({"/"} | {endpoint.path for endpoint in ENDPOINTS if endpoint.public})
    policy = Policy(token, open_reading, hosts, public, **rates)
    app = Starlette(
        routes=[
            *(endpoint.route() for endpoint in ENDPOINTS),
            Route(f"{API}/openapi.json", _openapi),
            Route("/", _page),
            Mount("/static", _Static(directory=STATIC)),
        ],
        middleware=[Middleware(Guard, policy=policy)],
        exception_handlers={PtpError: _refuse, HTTPException: _refuse_path},
        lifespan=lifespan,
    )
    app.state.services = services
    return app


@cache
def _document() -> bytes:
    return msgspec.json.encode(document(ENDPOINTS))


def _openapi(request: Request) -> Response:
    return Response(_document(), media_type="application/json")


def _page(request: Request) -> Response:
    return FileResponse(STATIC / "index.html", headers={"Cache-Control": "no-cache"})


class _Static(StaticFiles):
    """The files of the page; the browser asks each time whether they are still the same."""

    def file_response(self, *args: Any, **kwargs: Any) -> Response:
        response = super().file_response(*args, **kwargs)
        response.headers["Cache-Control"] = "no-cache"
        return response


def _refuse(request: Request, problem: Exception) -> Response:
    return reply(Problem(type(problem).__name__, str(problem)), _status_of(problem))


def _refuse_path(request: Request, problem: Exception) -> Response:
    assert isinstance(problem, HTTPException)
    name = HTTPStatus(problem.status_code).phrase.replace(" ", "")
    return reply(Problem(name, problem.detail), problem.status_code, problem.headers)


def _status_of(problem: Exception) -> int:
    if isinstance(problem, UnknownName):
        return 404
    wrong = isinstance(problem, UsageError | RunUnreadable) and not isinstance(problem, AmbiguousRun)
    return 422 if wrong else 409
