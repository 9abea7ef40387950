"""What requests may say: parameters and bodies, and how a value that is not allowed is refused."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta, Struct

from ptp.errors import UsageError

END = r"$(?!\n)"  # Python's `$` alone also stands before a last newline
RunId = Annotated[str, Meta(max_length=64, pattern=rf"^[0-9a-zA-Z-]+{END}")]
Name = Annotated[str, Meta(max_length=80, pattern=rf"^[A-Za-z0-9][A-Za-z0-9 ._-]*{END}")]
ShotName = Annotated[str, Meta(max_length=64, pattern=rf"^[0-9a-zA-Z_-]+{END}")]
Text = Annotated[str, Meta(max_length=200)]
Tick = Annotated[int, Meta(ge=0, le=1 << 53)]

Run = Annotated[
    RunId | None,
    Meta(description="A run: its id, the beginning of its id, or `latest`. Without it: the live or newest one."),
]
FromTick = Annotated[Tick | None, Meta(description="The first tick.")]
ToTick = Annotated[Tick | None, Meta(description="The last tick.")]
Page = Annotated[int, Meta(ge=1, le=1_000_000_000, description="The page, from 1.")]
PageSize = Annotated[int, Meta(ge=1, le=500, description="Lines per page.")]

Kind = TypeVar("Kind", bound=Struct)


class ValueNotAllowed(UsageError):
    """A parameter or a body has a value that is not allowed."""


def read_parameters(kind: type[Kind], values: Mapping[str, str]) -> Kind:
    """Return the parameters in path and query as what they say."""
    return _convert(values, kind, strict=False)


def read_body(kind: type[Kind], data: bytes) -> Kind:
    """Return a body; an empty one says nothing, and 3.0 is 3, which JSON does not tell apart."""
    try:
        value = msgspec.json.decode(data or b"{}")
    except msgspec.DecodeError as problem:
        raise ValueNotAllowed(f"body: {problem}") from None
    if isinstance(value, dict):
        value = {name: int(it) if isinstance(it, float) and it.is_integer() else it for name, it in value.items()}
    return _convert(value, kind)


def _convert(value: Any, kind: type[Kind], strict: bool = True) -> Kind:
    try:
        return msgspec.convert(value, kind, strict=strict)
    except msgspec.ValidationError as problem:
        raise _refusal(problem, kind) from None


def _refusal(problem: msgspec.ValidationError, kind: type[Struct]) -> ValueNotAllowed:
    reason, _, place = str(problem).partition(" - at ")
    field = re.search(r"^`\$\.(\w+)", place) or re.search(r"required field `(\w+)`", reason)
    if field is None:
        return ValueNotAllowed(f"body: {reason}; allowed: {', '.join(kind.__struct_fields__)}")
    wrong = "missing" if "required" in reason else "not allowed"
    return ValueNotAllowed(f"{field[1]}: {wrong}; allowed: {_allowed(fields_of(kind)[field[1]])}")


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
             "object": "an object with text values"}  # fmt: skip
    bounds = {"minimum": "at least", "exclusiveMinimum": "more than", "maximum": "at most", "minProperties": "at least",
              "maxProperties": "at most", "maxLength": "length at most", "pattern": "pattern"}  # fmt: skip
    limits = [f"{name} {schema[key]}".replace(END, "$") for key, name in bounds.items() if key in schema]
    return ", ".join([words[schema["type"]], *limits])
