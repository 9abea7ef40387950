"""An endpoint as data: method, path and handler. What it takes and returns is what the handler's signature says.

The router and the OpenAPI document derive from it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, Literal, get_type_hints

import msgspec
from msgspec import Struct
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from ptp.web.requests import read_body, read_parameters

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


class Endpoint(Struct, frozen=True, dict=True):
    """One thing that clients can ask for."""

    method: Literal["GET", "POST"]
    path: str
    handler: Callable[..., Any]
    """Takes the services and what path, query and body say; its docstring describes the endpoint."""
    response: Media | Events | None = None
    """What is sent, where the handler returns no struct."""
    public: bool = False
    """Whether it never needs the token; reading needs it where others can connect, and changes always do."""

    @property
    def tag(self) -> str:
        """The noun that it belongs to."""
        return self.handler.__module__.rpartition(".")[2]

    @cached_property
    def hints(self) -> dict[str, Any]:
        """The types of what the handler takes and returns."""
        return get_type_hints(self.handler, include_extras=True)

    @property
    def answer(self) -> type[Struct] | Media | Events:
        """What is sent."""
        answer: type[Struct] = self.hints["return"]
        return self.response or answer

    @cached_property
    def parameters(self) -> type[Struct]:
        """What path and query say."""
        return msgspec.defstruct("Parameters", self._fields(in_body=False), kw_only=True)

    @cached_property
    def body(self) -> type[Struct] | None:
        """What the body says: all that a request to change something says, but where."""
        fields = self._fields(in_body=True)
        name = f"{self.handler.__name__.title()}Request"
        about = {"__doc__": inspect.getdoc(self.handler)}
        return msgspec.defstruct(name, fields, namespace=about, forbid_unknown_fields=True) if fields else None

    def _fields(self, in_body: bool) -> list[tuple[str, Any, Any]]:
        taken = list(inspect.signature(self.handler).parameters.values())[1:]
        return [(it.name, self.hints[it.name], msgspec.NODEFAULT if it.default is it.empty else it.default)
                for it in taken if self._is_in_body(it.name) == in_body]  # fmt: skip

    def _is_in_body(self, name: str) -> bool:
        return self.method == "POST" and name != "run" and f"{{{name}}}" not in self.path

    def route(self) -> Route:
        """Return the route; HEAD works wherever GET does."""
        return Route(self.path, self._respond, methods=[self.method])

    async def _respond(self, request: Request) -> Response:
        values = {**request.query_params, **request.path_params}
        arguments = msgspec.structs.asdict(read_parameters(self.parameters, values))
        if self.body is not None:
            arguments |= msgspec.structs.asdict(read_body(self.body, await request.body()))
        services = request.app.state.services
        if inspect.iscoroutinefunction(self.handler):
            response = reply(await self.handler(services, **arguments))
        else:
            response = await run_in_threadpool(lambda: reply(self.handler(services, **arguments)))
        return _head_of(response) if request.method == "HEAD" else response


def reply(answer: Struct | Response, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return what is sent for an answer."""
    if isinstance(answer, Response):
        return answer
    return Response(msgspec.json.encode(answer), status, headers, "application/json")


def _head_of(response: Response) -> Response:
    """Return only the headers of a stream, which nobody would read."""
    if not isinstance(response, StreamingResponse):
        return response
    head = Response(status_code=response.status_code, headers=dict(response.headers))
    del head.headers["content-length"]
    return head
