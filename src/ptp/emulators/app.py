"""The app, built from the endpoints of three protocols; and serving it."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from http import HTTPStatus

import anyio.to_thread
import msgspec
import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, WebSocketRoute

from ptp.emulators import execute, gym, openenv, roster, v1
from ptp.emulators.connections import MOST_MESSAGE, play
from ptp.emulators.endpoints import PREFIX, for_every_game
from ptp.emulators.games import AtCapacity, Games, NoSuchGame
from ptp.emulators.session import NotBegun
from ptp.errors import BadCommand, PtpError, SnapshotError, UsageError
from ptp.http.endpoints import Problem, reply, routes
from ptp.http.guard import LOOPBACK, Guard, Policy
from ptp.http.openapi import document

ABOUT = """Games for other programs to play, in three protocols: pokemon-gym's (`/initialize`, `/action`, ...),
OpenEnv's (`/reset`, `/step`, ... and the WebSocket `/ws`) and our own below `/v1`. The routes at the root are those of
the default game; every other game has the same ones below `/games/ID`."""
OF_A_GAME = (*gym.ENDPOINTS, *openenv.ENDPOINTS, *v1.ENDPOINTS, *execute.ENDPOINTS)
ENDPOINTS = (*for_every_game(OF_A_GAME), *roster.ENDPOINTS, *execute.SERVER_ENDPOINTS)
PATIENCE = 300.0  # seconds that a client may take to answer a ping: a trainer may be busy for minutes
MOST_BODY = 4 << 20  # bytes; snapshots are the largest
UNLIMITED = 1e6  # requests per second: how fast a game is played is its clients' business
PUBLIC = frozenset({"/openapi.json", *(endpoint.path for endpoint in ENDPOINTS if endpoint.public)})


class Refusal(Problem, frozen=True):
    """Why a request was refused, also under the name that pokemon-gym's clients know."""

    detail: str


def create_app(games: Games, token: str | None, hosts: frozenset[str] | None = LOOPBACK) -> Starlette:
    """Return the app over games; without a token, everybody who can connect may play."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        await anyio.to_thread.run_sync(games.close)

    policy = Policy(token, False, hosts, PUBLIC, MOST_BODY, reads_per_second=UNLIMITED, writes_per_second=UNLIMITED)
    app = Starlette(
        routes=[
            *routes(ENDPOINTS),
            WebSocketRoute("/ws", play),
            WebSocketRoute(f"{PREFIX}/ws", play),
            Route("/openapi.json", lambda request: Response(_document(), media_type="application/json")),
        ],
        middleware=[Middleware(Guard, policy=policy)],
        exception_handlers={PtpError: _refuse, HTTPException: _refuse_path},
        lifespan=lifespan,
    )
    app.state.services = games
    return app


@cache
def _document() -> bytes:
    return msgspec.json.encode(document(ENDPOINTS, ABOUT))


def _refuse(request: Request, problem: Exception) -> Response:
    status = next(code for kinds, code in CODES if isinstance(problem, kinds))
    return reply(Refusal(type(problem).__name__, str(problem), str(problem)), status)


CODES: tuple[tuple[type[PtpError] | tuple[type[PtpError], ...], int], ...] = (
    (NotBegun, 400),
    (NoSuchGame, 404),
    (AtCapacity, 429),
    ((UsageError, BadCommand, SnapshotError), 422),
    (PtpError, 409),
)
"""What a client is told, the first that fits."""


def _refuse_path(request: Request, problem: Exception) -> Response:
    assert isinstance(problem, HTTPException)
    name = HTTPStatus(problem.status_code).phrase.replace(" ", "")
    return reply(Refusal(name, problem.detail, problem.detail), problem.status_code, problem.headers)


def make_server(app: Starlette) -> uvicorn.Server:
    """Return a server of the app, which closes what is open when it is stopped."""
    config = uvicorn.Config(
        app, log_level="warning", access_log=False, server_header=False, timeout_graceful_shutdown=2, lifespan="on",
        ws="websockets-sansio", ws_max_size=MOST_MESSAGE, ws_per_message_deflate=False, ws_ping_timeout=PATIENCE,
    )  # fmt: skip
    return uvicorn.Server(config)


def serve(app: Starlette, listener: socket.socket) -> None:
    """Serve until a signal ends it."""
    make_server(app).run(sockets=[listener])
