"""Values as a run has kept them, in the form they have today; what has no such form is null, never made up."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

from ptp._util.clock import iso

State = dict[str, Any]
Known = TypeVar("Known")


def decode_text(text: str | None) -> Any:
    """Return stored JSON as what it says; what an older run kept as plain words stays so."""
    if text is None:
        return None
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return text


def as_state(value: Any) -> State:
    """Return a state as an object; one of another form is kept under `observation`."""
    if value is None or value == "":
        return {}
    return value if isinstance(value, dict) else {"observation": value}


def as_known(value: Any, kind: type[Known]) -> Known | None:
    """Return a part of a state in the form it has today; null for another form that an older run may have kept."""
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError:
        return None


def stamp(at: float | None) -> str | None:
    """Return a moment as text; null where an older run kept none."""
    return None if at is None else iso(at)


def as_json(value: Any) -> str:
    """Return data as JSON text."""
    return msgspec.json.encode(value).decode()
