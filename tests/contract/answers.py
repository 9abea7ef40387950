"""Whether an answer has a field, and whether it is of the type that was promised."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

NONE = object()


def differences(answers: list[Any], path: str, kind: Any) -> str | None:
    """Return what is wrong with a field: of another type anywhere, or in no answer at all."""
    found = [value for answer in answers for value in _find(answer, path.replace("[]", ".[]").split("."))]
    nullable = isinstance(kind, str) and kind.endswith("?")
    for value in found:
        if value is not NONE and value is not None and not _fits(value, kind.rstrip("?") if nullable else kind):
            return f"is {value!r}"
    if nullable and any(value is not NONE for value in found):
        return None
    return None if any(value is not NONE and value is not None for value in found) else "is in no answer"


def _find(answer: Any, parts: list[str]) -> Iterator[Any]:
    if not parts:
        yield answer
    elif parts[0] == "[]":
        for each in answer or ():
            yield from _find(each, parts[1:])
    elif isinstance(answer, dict) and parts[0] in answer:
        yield from _find(answer[parts[0]], parts[1:])
    else:
        yield NONE


def _fits(value: Any, kind: Any) -> bool:
    if isinstance(kind, dict):
        return value in kind
    if kind == "time":
        return isinstance(value, str) and datetime.fromisoformat(value) is not None
    if kind == "box":
        return isinstance(value, list) and len(value) == 4
    if kind == "url":
        return isinstance(value, str) and value.startswith("/api/v1/")
    if kind == "any":
        return True
    types: dict[str, type | tuple[type, ...]] = {
        "str": str, "int": int, "number": (int, float), "bool": bool, "list": list, "object": dict,
    }  # fmt: skip
    return isinstance(value, types[kind]) and (kind == "bool" or not isinstance(value, bool))
