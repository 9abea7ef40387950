"""The OpenAPI document: routes from FastAPI, answers from the structs and the words below their fields."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Mapping
from functools import cache
from typing import Any

import msgspec
from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from starlette.responses import Response

from ptp import __version__
from ptp.runs import answers
from ptp.runs.answers import streams

Events = Mapping[str, type[msgspec.Struct]]
REF = "#/components/schemas/{name}"
REFUSALS = {
    400: "The request can't be understood.",
    401: "A token is needed, or the one given is wrong.",
    404: "There is no such thing.",
    405: "That can't be done here.",
    409: "The run can't do that now.",
    413: "The body is too large.",
    414: "The address is too long.",
    421: "The request is meant for another server.",
    422: "A value is not allowed, or the run is damaged.",
    429: "Too many requests.",
}


def reply(value: Any, status: int = 200) -> Response:
    """Answer with a struct."""
    return Response(msgspec.json.encode(value), status, media_type="application/json")


def answered_by(answer: type[msgspec.Struct], about: str = "The answer.") -> dict[int | str, dict[str, Any]]:
    """Return the `responses` of a route that answers with a struct."""
    return {200: {"description": about, "content": {"application/json": {"schema": _ref(answer)}}}}


def answered_with(about: str, *media: str) -> dict[int | str, dict[str, Any]]:
    """Return the `responses` of a route that answers with a file or a stream."""
    kinds = {kind: {"schema": {"type": "string", "format": "binary"}} for kind in media}
    if "application/json" in kinds:
        kinds["application/json"] = {"schema": {"type": "object"}}
    return {200: {"description": about, "content": kinds}}


def streamed(about: str, events: Events) -> dict[int | str, dict[str, Any]]:
    """Return the `responses` of a route that answers with server-sent events; each kind has data of its own."""
    kinds = [_event(name, data) for name, data in events.items()]
    return {200: {"description": about, "content": {"text/event-stream": {"schema": {"oneOf": kinds}}}}}


def _event(name: str, data: type[msgspec.Struct]) -> dict[str, Any]:
    about = (data.__doc__ or "").strip()
    fields = {
        "event": {"const": name, "description": "The kind."},
        "data": {"type": "string", "contentMediaType": "application/json", "contentSchema": _ref(data),
                 "description": about},
    }  # fmt: skip
    return {"type": "object", "properties": fields, "required": list(fields)}


def refusals() -> dict[int | str, dict[str, Any]]:
    """Return the `responses` that every route has."""
    content = {"application/json": {"schema": _ref(answers.Problem)}}
    return {status: {"description": about, "content": content} for status, about in REFUSALS.items()}


def _ref(answer: type[msgspec.Struct]) -> dict[str, str]:
    return {"$ref": REF.format(name=answer.__name__)}


def add_openapi(app: FastAPI) -> None:
    """Let the app serve the whole document."""

    @cache
    def document() -> dict[str, Any]:
        made = get_openapi(title="ptp", version=__version__, routes=app.routes, description=app.description)
        structs = [
            kind
            for kind in {**vars(answers), **vars(streams)}.values()
            if isinstance(kind, type) and issubclass(kind, msgspec.Struct) and kind is not msgspec.Struct
        ]
        _, components = msgspec.json.schema_components(structs, ref_template=REF)
        for kind in structs:
            _describe(components[kind.__name__], kind)
        schemas = made.setdefault("components", {}).setdefault("schemas", {})
        schemas.update(components)
        for unused in ("HTTPValidationError", "ValidationError"):
            schemas.pop(unused, None)
        made["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        for path in made["paths"].values():
            for method, operation in path.items():
                operation["security"] = [{"token": []}] if method == "post" else [{}, {"token": []}]
        return made

    app.openapi = document  # type: ignore[method-assign]


def _describe(schema: dict[str, Any], kind: type[msgspec.Struct]) -> None:
    """Add the words below each field to the schema of a struct."""
    schema["description"] = (kind.__doc__ or "").strip()
    known = field_words(kind)
    for field, found in schema["properties"].items():
        words = known.get(field, field.replace("_", " ").capitalize() + ".")
        schema["properties"][field] = (
            {"allOf": [found], "description": words} if "$ref" in found else {**found, "description": words}
        )


def field_words(kind: type[msgspec.Struct]) -> dict[str, str]:
    """Return the sentence that stands below each field of a struct."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(kind))).body[0]
    assert isinstance(tree, ast.ClassDef)
    words: dict[str, str] = {}
    for field, below in zip(tree.body, tree.body[1:], strict=False):
        if isinstance(field, ast.AnnAssign) and isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant):
            words[ast.unparse(field.target)] = inspect.cleandoc(str(below.value.value))
    return words
