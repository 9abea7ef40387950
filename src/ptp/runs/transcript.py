"""The conversation of an agent with its model, as it was recorded: call by call, linked to ticks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import msgspec

from ptp.errors import UnknownName
from ptp.recording import RunDirectory
from ptp.recording.database import Database
from ptp.replay.answers import ModelTexts

PartKind = Literal["system", "user", "picture", "tool result", "text", "thinking", "tool call", "missing"]
PNG = b"\x89PNG\r\n"  # how a picture begins; a text is never served as one
KINDS: dict[str, PartKind] = {
    "system-prompt": "system", "user-prompt": "user", "tool-return": "tool result", "text": "text",
    "thinking": "thinking", "tool-call": "tool call",
}  # fmt: skip


class Part(msgspec.Struct, frozen=True, omit_defaults=True):
    """Something that was said."""

    kind: PartKind
    text: str = ""
    tool: str | None = None
    hash: str | None = None
    """Of a picture."""


class Call(msgspec.Struct, frozen=True):
    """One call of a model."""

    tick: int
    """The tick after which it was made."""
    decision: int | None
    at: str
    model: str
    status: str
    error: str | None
    tokens_in: int | None
    tokens_out: int | None
    tokens_cached: int | None
    cost: float | None
    latency_ms: float
    asked: list[Part]
    """What was said to the model since the call before."""
    answered: list[Part]


class Transcript(msgspec.Struct, frozen=True):
    """All calls of a run's models."""

    run_id: str
    calls: list[Call]
    cost: float | None
    """Dollars; None when no price is known."""
    tokens_in: int
    tokens_out: int


_COLUMNS = (
    "tick, decision, timestamp, model, status, error, tokens_in, tokens_out, tokens_cached, cost, latency_ms, "
    "prompt_hash, answer_hash"
)


def read_transcript(
    directory: RunDirectory, first: int = 0, last: int | None = None, limit: int | None = None
) -> Transcript:
    """Return the calls of models after ticks *first* to *last*: *limit* of them, and the others of that tick."""
    with Database(directory.database) as database:
        texts = ModelTexts(database)
        last = 2**62 if last is None else last
        if limit is not None:
            query = "SELECT max(tick) FROM (SELECT tick FROM model_calls WHERE tick >= ? ORDER BY tick LIMIT ?)"
            (enough,) = database.row(query, first, limit)
            last = last if enough is None else min(last, enough)
        query = f"SELECT {_COLUMNS} FROM model_calls WHERE tick >= ? AND tick <= ? ORDER BY call_id"
        before: list[str] = []
        calls = []
        for row in database.rows(query, first, last):
            asked, before = _asked(texts, row[-2], before)
            fields: dict[str, Any] = dict(zip(Call.__struct_fields__, row[:-2], strict=False))
            calls.append(Call(**fields, asked=asked, answered=_answered(texts, row[-1])))
    costs = [call.cost for call in calls if call.cost is not None]
    return Transcript(
        directory.run_id, calls, sum(costs) if costs else None, sum(call.tokens_in or 0 for call in calls),
        sum(call.tokens_out or 0 for call in calls),
    )  # fmt: skip


def read_picture(directory: RunDirectory, name: str) -> bytes:
    """Return a picture that a model was shown, by its hash."""
    with Database(directory.database) as database:
        data = ModelTexts(database).get(name)
    if data is None or not data.startswith(PNG):
        raise UnknownName("picture of a model", name, [], "`ptp transcript` names those that are kept")
    return data


def _asked(texts: ModelTexts, name: str | None, before: list[str]) -> tuple[list[Part], list[str]]:
    """Return what a prompt says that the one before did not, and its messages."""
    prompt = texts.data(name)
    if not isinstance(prompt, dict):
        return [Part("missing", f"prompt {name} is not kept")], before
    messages = prompt["messages"]
    known = set(before)
    parts: list[Part] = []
    if not before and prompt.get("system"):
        parts.append(Part("system", (texts.get(prompt["system"]) or b"").decode()))
    for message in messages:
        said = texts.data(message) if message not in known else None
        if said is not None and said.get("kind") == "request":
            parts += _parts(said)
    return parts, messages


def _answered(texts: ModelTexts, name: str | None) -> list[Part]:
    answer = texts.data(name)
    return [] if answer is None else [*_parts(answer[0])]


def _parts(message: dict[str, Any]) -> Iterator[Part]:
    for part in message["parts"]:
        kind = KINDS.get(part["part_kind"])
        if kind == "tool call":
            args = part.get("args")
            yield Part(kind, args if isinstance(args, str) else msgspec.json.encode(args).decode(), part["tool_name"])
        elif kind is not None:
            yield from _contents(kind, part)


def _contents(kind: PartKind, part: dict[str, Any]) -> Iterator[Part]:
    content = part.get("content")
    for item in content if isinstance(content, list) else [content]:
        if isinstance(item, dict) and item.get("kind") == "picture":
            yield Part("picture", hash=item["hash"])
        elif item:
            yield Part(
                kind, item if isinstance(item, str) else msgspec.json.encode(item).decode(), part.get("tool_name")
            )
