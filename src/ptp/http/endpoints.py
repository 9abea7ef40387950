"""An endpoint as data: method, path and handler. What it takes and returns is what the handler's signature says.

The router and the OpenAPI document derive from it. Here is also how a value that is not allowed is refused.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property
from typing import Any, Literal, TypeVar, get_type_hints

import msgspec
from msgspec import Struct
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from ptp.errors import UsageError

END = r"$(?!\n)"  # Python's `$` alone also stands before a last newline
Kind = TypeVar("Kind", bound=Struct)


class Problem(Struct, frozen=True):
    """Why a request was refused."""

    error: str
    """The kind of error."""
    message: str
    """What is wrong, and what to do about it."""


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

    method: Literal["GET", "POST", "DELETE"]
    path: str
    handler: Callable[..., Any]
    """Takes the services and what path, query and body say; its docstring describes the endpoint."""
    response: Media | Events | None = None
    """What is sent, where the handler returns no struct."""
    public: bool = False
    """Whether it never needs the token; reading needs it where others can connect, and changes always do."""
    takes: Media | None = None
    """The file that is the body, as the handler's `data`; without it the body is JSON."""
    lenient: bool = False
    """Whether a body may say more than is asked; it is ignored."""

    @property
    def tag(self) -> str:
        """The noun that it belongs to."""
        return self.handler.__module__.rpartition(".")[2]

    @property
    def operation(self) -> str:
        """What the OpenAPI document calls it."""
        return f"{self.tag}_{self.handler.__name__}"

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
        fields = [] if self.takes else self._fields(in_body=True)
        return _body_struct(self.handler, tuple(fields), not self.lenient) if fields else None

    def _fields(self, in_body: bool) -> list[tuple[str, Any, Any]]:
        found = []
        for it in list(inspect.signature(self.handler).parameters.values())[1:]:
            default = msgspec.NODEFAULT if it.default is it.empty else it.default
            if in_body == (self.method == "POST" and it.name != "run" and f"{{{it.name}}}" not in self.path):
                found.append((it.name, self.hints[it.name], default))
        return found

    async def arguments(self, request: Request) -> dict[str, Any]:
        """Return what path, query and body say."""
        values = {**request.query_params, **request.path_params}
        arguments = msgspec.structs.asdict(convert(values, self.parameters, strict=False))
        if self.takes is not None:
            arguments["data"] = await request.body()
        elif self.body is not None:
            arguments |= msgspec.structs.asdict(_read_body(self.body, await request.body()))
        return arguments

    async def respond(self, request: Request) -> Response:
        """Answer a request."""
        arguments, services = await self.arguments(request), request.app.state.services
        if inspect.iscoroutinefunction(self.handler):
            response: Response = reply(await self.handler(services, **arguments))
        else:
            response = await run_in_threadpool(lambda: reply(self.handler(services, **arguments)))
        if request.method == "HEAD" and isinstance(response, StreamingResponse):  # nobody would read the stream
            response = Response(status_code=response.status_code, headers=dict(response.headers))
            del response.headers["content-length"]
        return response


def routes(endpoints: Sequence[Endpoint]) -> list[Route]:
    """Return the routes, one for each path; HEAD works wherever GET does."""
    return [
        _route(path, [it for it in endpoints if it.path == path]) for path in dict.fromkeys(it.path for it in endpoints)
    ]


def _route(path: str, endpoints: Sequence[Endpoint]) -> Route:
    responders = {endpoint.method: endpoint.respond for endpoint in endpoints}

    async def respond(request: Request) -> Response:
        return await responders["GET" if request.method == "HEAD" else request.method](request)  # type: ignore[index]

    return Route(path, respond, methods=list(responders))


@cache
def _body_struct(handler: Callable[..., Any], fields: tuple[tuple[str, Any, Any], ...], strict: bool) -> type[Struct]:
    """Return the struct of a body; endpoints with the same handler share it."""
    name, about = f"{handler.__name__.title()}Request", {"__doc__": inspect.getdoc(handler)}
    module = handler.__module__
    return msgspec.defstruct(name, fields, namespace=about, module=module, forbid_unknown_fields=strict)


def reply(answer: Struct | Response, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return what is sent for an answer."""
    if isinstance(answer, Response):
        return answer
    return Response(msgspec.json.encode(answer), status, headers, "application/json")


# -- what is not allowed ---------------------------------------------------------------------------------------


class ValueNotAllowed(UsageError):
    """A parameter or a body has a value that is not allowed."""


def _read_body(kind: type[Kind], data: bytes) -> Kind:
    """Return a body; an empty one says nothing, and 3.0 is 3, which JSON does not tell apart."""
    try:
        value = msgspec.json.decode(data or b"{}")
    except (msgspec.DecodeError, RecursionError) as problem:
        raise ValueNotAllowed(f"body: {problem}") from None
    if isinstance(value, dict):
        value = {name: int(it) if isinstance(it, float) and it.is_integer() else it for name, it in value.items()}
    return convert(value, kind)


def convert(value: Any, kind: type[Kind], strict: bool = True) -> Kind:
    """Return a value as a struct; one that is not allowed is refused by the name of its field."""
    try:
        return msgspec.convert(value, kind, strict=strict)
    except msgspec.ValidationError as problem:
        reason, _, place = str(problem).partition(" - at ")
    field = re.search(r"^`\$\.(\w+)", place) or re.search(r"required field `(\w+)`", reason)
    if field is None:
        raise ValueNotAllowed(f"body: {reason}; allowed: {', '.join(kind.__struct_fields__)}")
    wrong = "missing" if "required" in reason else "not allowed"
    raise ValueNotAllowed(f"{field[1]}: {wrong}; allowed: {_allowed(fields_of(kind)[field[1]])}")


def fields_of(kind: type[Struct]) -> dict[str, Any]:
    """Return the JSON schema of every field."""
    _, schemas = msgspec.json.schema_components([kind])
    fields: dict[str, Any] = schemas[kind.__name__]["properties"]
    return fields


def _allowed(schema: dict[str, Any]) -> str:
    """Return in words what a schema allows."""
    schema = schema.get("anyOf", [schema])[0]
    if "enum" in schema:
        return "one of " + ", ".join(schema["enum"])
    words = {"integer": "a whole number", "number": "a number", "boolean": "true or false", "string": "text",
             "object": "an object with text values", "array": "a list"}  # fmt: skip
    bounds = {"minimum": "at least", "exclusiveMinimum": "more than", "maximum": "at most", "minProperties": "at least",
              "maxProperties": "at most", "maxItems": "at most", "maxLength": "length at most",
              "pattern": "pattern"}  # fmt: skip
    limits = [f"{name} {schema[key]}".replace(END, "$") for key, name in bounds.items() if key in schema]
    return ", ".join([words.get(schema.get("type", ""), "any value"), *limits])
