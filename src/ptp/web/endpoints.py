"""An endpoint as data: what is asked, what answers, and with what. Router and OpenAPI document derive from it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, Literal

import msgspec
from msgspec import Struct
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from ptp.web.requests import OfRun, read_body, read_parameters

API = "/api/v1"


class Media(Struct, frozen=True):
    """An answer that is a file."""

    about: str
    kinds: tuple[str, ...]


class Events(Struct, frozen=True):
    """An answer that is a stream of server-sent events."""

    about: str
    data: dict[str, type[Struct]]
    """The data of each kind of event."""


class Endpoint(Struct, frozen=True):
    """One thing that clients can ask for."""

    method: Literal["GET", "POST"]
    path: str
    handler: Callable[..., Any]
    """Takes the services, the parameters and the body, and returns a struct or a response; its docstring describes the
    endpoint."""
    answer: type[Struct] | Media | Events
    parameters: type[Struct] = OfRun
    """Fields that the path names are taken from it, the others from the query."""
    body: type[Struct] | None = None
    public: bool = False
    """Whether it never needs the token; reading needs it where others can connect, and changes always do."""

    @property
    def name(self) -> str:
        """A name that no other endpoint has."""
        return f"{self.tag}_{self.handler.__name__}"

    @property
    def tag(self) -> str:
        """The noun that it belongs to."""
        return self.handler.__module__.rpartition(".")[2]

    def route(self) -> Route:
        """Return the route; HEAD works wherever GET does."""
        return Route(self.path, self._respond, methods=[self.method], name=self.name)

    async def _respond(self, request: Request) -> Response:
        arguments = [request.app.state.services]
        arguments.append(read_parameters(self.parameters, {**request.query_params, **request.path_params}))
        if self.body is not None:
            arguments.append(read_body(self.body, await request.body()))
        if inspect.iscoroutinefunction(self.handler):
            response = reply(await self.handler(*arguments))
        else:
            response = await run_in_threadpool(lambda: reply(self.handler(*arguments)))
        return _head_of(response) if request.method == "HEAD" else response


def reply(answer: Struct | Response, status: int = 200) -> Response:
    """Return what is sent for an answer."""
    if isinstance(answer, Response):
        return answer
    return Response(msgspec.json.encode(answer), status, media_type="application/json")


def _head_of(response: Response) -> Response:
    """Return only the headers of a stream, which nobody would read."""
    if not isinstance(response, StreamingResponse):
        return response
    head = Response(status_code=response.status_code, headers=dict(response.headers))
    del head.headers["content-length"]
    return head
