"""The app: routes, page and guard, built from parts."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http import HTTPStatus
from pathlib import Path
from typing import Any

import anyio.to_thread
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, Response
from starlette.staticfiles import StaticFiles

from ptp import __version__
from ptp.errors import PtpError, RunUnreadable, UnknownName, UsageError
from ptp.runs.answers import Problem
from ptp.runs.library import AmbiguousRun
from ptp.web.guard import LOOPBACK, Guard, Policy
from ptp.web.parts import Parts
from ptp.web.routes import runs, screenshots, sharing, steering, streams, ticks
from ptp.web.schema import add_openapi, refusals, reply

STATIC = Path(__file__).with_name("static")
ABOUT = """Watch and steer runs. Reading needs no token on loopback; whatever changes a run always does.
Every endpoint takes `run`: an id, the beginning of one, or `latest`; without it, the live or newest run."""


def create_app(
    data_dir: Path,
    token: str,
    *,
    open_reading: bool = True,
    hosts: frozenset[str] | None = LOOPBACK,
    reads_per_second: float = 2_000,
    writes_per_second: float = 20,
) -> FastAPI:
    """Return the app over the runs of a data directory.

    *open_reading* lets read without the token: only for an app that nobody but this machine can reach.
    """

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        parts: Parts = app.state.parts
        await anyio.to_thread.run_sync(parts.library.lines)
        yield
        await parts.close()

    app = FastAPI(
        title="ptp",
        version=__version__,
        description=ABOUT,
        openapi_url="/api/v1/openapi.json",
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        responses=refusals(),
    )
    app.state.parts = Parts(data_dir)
    for room in (runs, ticks, screenshots, steering, sharing, streams):
        app.include_router(room.router)
    _add_page(app)
    _add_errors(app)
    add_openapi(app)
    policy = Policy(token, open_reading, hosts, reads_per_second, writes_per_second)
    app.add_middleware(Guard, policy=policy)
    return app


def _add_page(app: FastAPI) -> None:
    @app.get("/", include_in_schema=False)
    def page() -> Response:
        return FileResponse(STATIC / "index.html", headers={"Cache-Control": "no-cache"})

    app.mount("/static", _Static(directory=STATIC), name="static")


class _Static(StaticFiles):
    """The files of the page; the browser asks each time whether they are still the same."""

    def file_response(self, *args: Any, **kwargs: Any) -> Response:
        response = super().file_response(*args, **kwargs)
        response.headers["Cache-Control"] = "no-cache"
        return response


def _add_errors(app: FastAPI) -> None:
    """Answer every error with a status, a word and the reason."""

    @app.exception_handler(PtpError)
    def refuse(request: Request, problem: PtpError) -> Response:
        return reply(Problem(type(problem).__name__, str(problem)), _status_of(problem))

    @app.exception_handler(RequestValidationError)
    def refuse_values(request: Request, problem: RequestValidationError) -> Response:
        told = [f"{'.'.join(map(str, error['loc'][1:])) or 'body'}: {error['msg']}" for error in problem.errors()]
        return reply(Problem("ValueNotAllowed", "; ".join(told)), 422)

    @app.exception_handler(HTTPException)
    def refuse_path(request: Request, problem: HTTPException) -> Response:
        phrase = HTTPStatus(problem.status_code).phrase
        response = reply(Problem(phrase.replace(" ", ""), str(problem.detail)), problem.status_code)
        response.headers.update(problem.headers or {})
        return response


def _status_of(problem: PtpError) -> int:
    if isinstance(problem, UnknownName):
        return 404
    if isinstance(problem, AmbiguousRun):
        return 409
    return 422 if isinstance(problem, UsageError | RunUnreadable) else 409
