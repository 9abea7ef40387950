"""The settings as JSON Schema, for editors and other programs."""

from __future__ import annotations

from typing import Any

from ptp.config.setting import Setting
from ptp.config.tree import ALL_SETTINGS, SECTIONS, VERSION

TYPES = {bool: "boolean", int: "integer", float: "number", str: "string", tuple: "array", dict: "object"}


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of a config file."""
    sections = {
        section: {
            "type": "object",
            "description": (cls.__doc__ or "").splitlines()[0],
            "additionalProperties": False,
            "properties": {item.key: _property(item) for item in ALL_SETTINGS if item.section == section},
        }
        for section, cls in SECTIONS.items()
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "ptp run configuration",
        "type": "object",
        "required": ["version"],
        "additionalProperties": False,
        "properties": {"version": {"const": VERSION}, **sections},
    }


def _property(item: Setting) -> dict[str, Any]:
    kind = TYPES[item.type]
    schema: dict[str, Any] = {
        "type": [kind, "null"] if item.optional else kind,
        "description": item.help,
        "default": list(item.default) if item.type is tuple else item.default,
    }
    if item.type is tuple:
        schema["items"] = {"enum": list(item.choices)}
    elif item.choices:
        schema["enum"] = [*item.choices, *([None] if item.optional else [])]
    if item.least is not None:
        schema["minimum"] = item.least
    if item.most is not None:
        schema["maximum"] = item.most
    return schema
