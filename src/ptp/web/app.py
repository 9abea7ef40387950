"""The app, built from endpoints, page and guard; and serving it: where, with which token, and until when."""

from __future__ import annotations

import gc
import os
import secrets
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from http import HTTPStatus
from pathlib import Path
from typing import Any

import anyio.to_thread
import msgspec
import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from ptp.errors import PtpError, RunUnreadable, UnknownName, UsageError
from ptp.http.endpoints import Problem, reply, routes
from ptp.http.guard import LOOPBACK, MOST_BODY, Guard, Policy
from ptp.http.openapi import document
from ptp.http.serving import check_token, hosts_of, is_loopback, listen, url_of
from ptp.runs.library import AmbiguousRun
from ptp.web.parameters import API
from ptp.web.routes import ENDPOINTS
from ptp.web.services import Services

ABOUT = """Watch and steer runs. Reading needs no token on loopback; whatever changes a run always does.
Every endpoint takes `run`: an id, the beginning of one, or `latest`; without it, the live or newest run."""
STATIC = Path(__file__).with_name("static")
PORT = 8642
NICE = 5  # the dashboard yields to the runs that it shows


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
    policy = Policy(token, open_reading, hosts, public, MOST_BODY, **rates)
    app = Starlette(
        routes=[
            *routes(ENDPOINTS),
            Route(f"{API}/openapi.json", lambda request: Response(_document(), media_type="application/json")),
            Route("/", lambda request: FileResponse(STATIC / "index.html", headers={"Cache-Control": "no-cache"})),
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
    return msgspec.json.encode(document(ENDPOINTS, ABOUT))


class _Static(StaticFiles):
    """The files of the page; the browser asks each time whether they are still the same."""

    def file_response(self, *args: Any, **kwargs: Any) -> Response:
        response = super().file_response(*args, **kwargs)
        response.headers["Cache-Control"] = "no-cache"
        return response


def _refuse(request: Request, problem: Exception) -> Response:
    wrong = isinstance(problem, UsageError | RunUnreadable) and not isinstance(problem, AmbiguousRun)
    status = 404 if isinstance(problem, UnknownName) else 422 if wrong else 409
    return reply(Problem(type(problem).__name__, str(problem)), status)


def _refuse_path(request: Request, problem: Exception) -> Response:
    assert isinstance(problem, HTTPException)
    name = HTTPStatus(problem.status_code).phrase.replace(" ", "")
    return reply(Problem(name, problem.detail), problem.status_code, problem.headers)


# -- serving ---------------------------------------------------------------------------------------------------


class Address(msgspec.Struct, frozen=True):
    """Where the dashboard is."""

    url: str
    """With the token behind the hash, which browsers never send."""
    host: str
    port: int
    token: str


def bind(host: str, port: int, token: str | None) -> tuple[socket.socket, Address]:
    """Take a port, the next free one if the default is taken, and make a token if none is given."""
    check_token(token)
    token = token or secrets.token_urlsafe(18)
    listener = listen(host, range(port, port + 10) if port == PORT else (port,))
    taken = listener.getsockname()[1]
    return listener, Address(f"{url_of(host, taken)}/#token={token}", host, taken, token)


class Server(uvicorn.Server):
    """A server that ends the streams before it waits for the answers it has begun."""

    def __init__(self, config: uvicorn.Config, services: Services) -> None:
        super().__init__(config)
        self._services = services

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop serving."""
        await self._services.hub.close()
        await super().shutdown(sockets)


def serve(data_dir: Path, listener: socket.socket, address: Address) -> None:
    """Serve until a signal ends it."""
    os.nice(NICE)
    local = is_loopback(address.host)
    app = create_app(data_dir, address.token, open_reading=local, hosts=hosts_of(address.host))
    app.state.services.library.lines()
    gc.freeze()  # what is known of thousands of runs stays; looking through it for garbage would hold up answers
    config = uvicorn.Config(
        app, log_level="warning", access_log=False, server_header=False, timeout_graceful_shutdown=2, lifespan="on"
    )
    Server(config, app.state.services).run(sockets=[listener])
