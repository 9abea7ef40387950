"""The tools that a model is offered, as data."""

from __future__ import annotations

import json
from typing import Any

import msgspec
from pydantic_ai.messages import ToolCallPart
from pydantic_ai.tools import ToolDefinition

from ptp.errors import UsageError
from ptp.scripts import Target
from ptp.worlds import WorldView

ACTING = ("act", "go_to", "run_script")
"""Tools that move; the others only look, or keep something."""
SAID = {
    "reasoning": {"type": "string", "description": "Why, in a sentence or two."},
    "confidence": {"type": "number", "description": "How sure you are, from 0 to 1."},
}


class _Said(msgspec.Struct):
    reasoning: str | None = None
    confidence: float | None = None


class Act(_Said, kw_only=True):
    """The arguments of `act`."""

    moves: list[str]
    expect: list[str] = []


class GoTo(_Said, kw_only=True):
    """The arguments of `go_to`."""

    x: int
    y: int


class RunScript(_Said, kw_only=True):
    """The arguments of `run_script`."""

    script: str


class Remember(msgspec.Struct):
    """The arguments of `remember`."""

    name: str
    text: str


class Recall(msgspec.Struct):
    """The arguments of `recall`."""

    name: str | None = None


class Snapshot(msgspec.Struct):
    """The arguments of `snapshot`."""

    name: str


class Nothing(msgspec.Struct):
    """No arguments."""


ARGUMENTS: dict[str, type[msgspec.Struct]] = {
    "act": Act, "go_to": GoTo, "run_script": RunScript, "remember": Remember, "recall": Recall, "snapshot": Snapshot,
    "request_snapshot": Nothing, "query_status": Nothing,
}  # fmt: skip


def offer(world: WorldView, target: Target, moves: int, pictures: bool) -> list[ToolDefinition]:
    """Return the tools that make sense in a world."""
    commands = ", ".join(target.buttons) or str(world.action_space)
    text, number = {"type": "string"}, {"type": "integer"}
    texts = {"type": "array", "items": text}
    conditions = {**texts, "description": "For each move, what must be so after it, such as 'x == 3'; '' for nothing."}
    tools = [
        _tool(
            "act",
            f"Make 1 to {moves} moves. A move is one of: {commands}. The state is checked after each; when something "
            "unexpected happens the rest is dropped and you are asked again.",
            ["moves"], moves=texts, expect=conditions, **SAID,
        ),
        _tool(
            "run_script", "Play a script in the button language, for longer sequences; it ends at a failed EXPECT.",
            ["script"], script=text, **SAID,
        ),
        _tool("query_status", "Return the whole present state, the signals and what the last moves were.", []),
        _tool("remember", "Keep a note by name; an empty text removes it.", ["name", "text"], name=text, text=text),
        _tool("recall", "Return the note of a name, or all of them.", [], name=text),
        _tool("snapshot", "Save the game under a name, so that it can be returned to later.", ["name"], name=text),
    ]  # fmt: skip
    if world.way_to is not None:
        about = "Walk to a place that can be seen; the way is found anew before every step."
        tools.insert(1, _tool("go_to", about, ["x", "y"], x=number, y=number, **SAID))
    if pictures:
        tools.append(_tool("request_snapshot", "Return a picture of the screen as it is now.", []))
    return tools


def _tool(name: str, description: str, required: list[str], /, **properties: Any) -> ToolDefinition:
    schema = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    return ToolDefinition(name=name, description=description, parameters_json_schema=schema)


def arguments(part: ToolCallPart, offered: frozenset[str]) -> dict[str, Any]:
    """Return the arguments of a call; a `UsageError` says what is wrong with them."""
    if part.tool_name not in offered:
        raise UsageError(f"there is no tool {part.tool_name!r}; there are {', '.join(sorted(offered))}")
    try:
        given = json.loads(part.args or "{}") if isinstance(part.args, str | None) else part.args
        read = msgspec.convert(given, ARGUMENTS[part.tool_name])
    except (ValueError, msgspec.ValidationError) as problem:
        raise UsageError(f"the arguments of {part.tool_name} can't be read: {problem}") from None
    return {name: getattr(read, name) for name in read.__struct_fields__}
