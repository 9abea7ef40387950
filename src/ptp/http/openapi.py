"""The OpenAPI document: written from the endpoints, the structs, and the words below their fields."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, get_args, get_type_hints

import msgspec
from msgspec import Struct

from ptp import __version__
from ptp.http.endpoints import Endpoint, Events, Media, Problem, fields_of

Refs = dict[type[Struct], dict[str, Any]]
REF = "#/components/schemas/{name}"
REFUSALS = {
    400: "The request can't be understood, or comes too early.",
    401: "A token is needed, or the one given is wrong.",
    403: "Not allowed from here, or not shared.",
    404: "Not found.",
    405: "The method is not allowed.",
    409: "That can't be done now.",
    413: "The body is too large.",
    414: "The address is too long.",
    421: "The request is meant for another server.",
    422: "A value is not allowed, or what it names is damaged.",
    429: "Too many requests.",
}


def document(endpoints: Sequence[Endpoint], about: str) -> dict[str, Any]:
    """Return the whole document; *about* describes the server."""
    sent: list[Any] = [Problem]
    for endpoint in endpoints:
        if isinstance(endpoint.answer, Events):
            sent += endpoint.answer.data.values()
        elif not isinstance(endpoint.answer, Media):
            sent.append(endpoint.answer)
    answers = sorted(_with_inner(sent), key=str)
    kinds = [*answers, *(endpoint.body for endpoint in endpoints if endpoint.body is not None)]
    references, schemas = msgspec.json.schema_components(kinds, ref_template=REF)
    refs: Refs = dict(zip(kinds, references, strict=True))
    for kind in answers:
        schema = schemas[refs[kind]["$ref"].rpartition("/")[2]]
        schema["description"] = inspect.getdoc(kind)
        for field, words in field_words(kind).items():
            schema["properties"][field]["description"] = words
    paths: dict[str, dict[str, Any]] = {}
    for endpoint in endpoints:
        paths.setdefault(endpoint.path, {})[endpoint.method.lower()] = _operation(endpoint, refs)
    return {
        "openapi": "3.1.0",
        "info": {"title": "ptp", "version": __version__, "description": about},
        "paths": paths,
        "components": {"schemas": schemas, "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
    }


def _operation(endpoint: Endpoint, refs: Refs) -> dict[str, Any]:
    parameters = []
    for name, schema in fields_of(endpoint.parameters).items():
        facts = {"name": name, "description": schema.pop("description"), "schema": schema}
        place = "path" if f"{{{name}}}" in endpoint.path else "query"
        parameters.append({**facts, "in": place, "required": "default" not in schema})
    refused = {str(code): {"description": why, **_json(refs[Problem])} for code, why in REFUSALS.items()}
    found: dict[str, Any] = {
        "operationId": endpoint.operation,
        "tags": [endpoint.tag],
        "summary": inspect.getdoc(endpoint.handler),
        "parameters": parameters,
        "responses": {"200": _answer(endpoint.answer, refs), **refused},
        "security": [{"token": []}] if endpoint.method != "GET" else [{}, {"token": []}],
    }
    if endpoint.takes is not None:
        found["requestBody"] = {**_file(endpoint.takes), "required": True}
    elif endpoint.body is not None:
        required = any(field.required for field in msgspec.structs.fields(endpoint.body))
        found["requestBody"] = {**_json(refs[endpoint.body]), "required": required}
    return found


def _answer(answer: type[Struct] | Media | Events, refs: Refs) -> dict[str, Any]:
    if isinstance(answer, Events):
        kinds = []
        for name, data in answer.data.items():
            about = {"contentSchema": refs[data], "description": inspect.getdoc(data)}
            fields = {
                "event": {"const": name, "description": "The kind."},
                "data": {"type": "string", "contentMediaType": "application/json", **about},
            }
            kinds.append({"type": "object", "properties": fields, "required": list(fields)})
        return {"description": answer.about, "content": {"text/event-stream": {"schema": {"oneOf": kinds}}}}
    if isinstance(answer, Media):
        return _file(answer)
    return {"description": "The answer.", **_json(refs[answer])}


def _file(media: Media) -> dict[str, Any]:
    files = {kind: {"schema": {"type": "string", "format": "binary"}} for kind in media.kinds}
    if "application/json" in files:
        files["application/json"] = {"schema": {"type": "object"}}
    return {"description": media.about, "content": files}


def _json(schema: dict[str, Any]) -> dict[str, Any]:
    return {"content": {"application/json": {"schema": schema}}}


def _with_inner(waiting: list[Any]) -> set[type[Struct]]:
    """Return structs with those that their fields refer to."""
    known: set[type[Struct]] = set()
    while waiting:
        kind = waiting.pop()
        if isinstance(kind, type) and issubclass(kind, Struct):
            if kind not in known:
                known.add(kind)
                waiting += get_type_hints(kind).values()
        else:
            waiting += get_args(kind)
    return known


def field_words(kind: type[Struct]) -> dict[str, str]:
    """Return the sentence that stands below each field of a struct, inherited ones too."""
    words: dict[str, str] = {}
    for part in reversed(kind.__mro__):
        if issubclass(part, Struct) and part.__module__.startswith("ptp."):
            tree = ast.parse(textwrap.dedent(inspect.getsource(part))).body[0]
            assert isinstance(tree, ast.ClassDef)
            for field, below in pairwise(tree.body):
                if isinstance(field, ast.AnnAssign) and isinstance(below, ast.Expr):
                    words[ast.unparse(field.target)] = inspect.cleandoc(ast.literal_eval(below.value))
    return {name: text for name, text in words.items() if name in kind.__struct_fields__}
