"""What was said so far: messages as they are sent, as they are saved, and by their hash."""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from collections.abc import Sequence
from typing import Any, NamedTuple

from pydantic_ai.messages import (
    BinaryContent,
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    UserPromptPart,
)

from ptp.records import ModelText

# What a message has beside what is said: times, ids and bills, which differ when the same is said again.
_BESIDE = frozenset({
    "timestamp", "run_id", "conversation_id", "usage", "provider_response_id", "provider_details", "provider_url",
    "metadata", "instructions", "history_digest", "failed_attempts", "workspace_ref",
})  # fmt: skip


class Entry(NamedTuple):
    """A message."""

    message: ModelMessage
    text: bytes
    """As it is saved."""
    hash: str
    kept: tuple[ModelText, ...]
    """What stands for it on the tape: what is said, and its pictures."""


def keep(text: bytes) -> ModelText:
    """Return a text or picture as it is kept."""
    return ModelText(hashlib.sha256(text).hexdigest(), zlib.compress(text))


def dump(message: ModelMessage) -> bytes:
    """Return a message as JSON, from which `read` makes it again."""
    return ModelMessagesTypeAdapter.dump_json([message])


def read(text: bytes) -> ModelMessage:
    """Return the message that a JSON text holds."""
    return ModelMessagesTypeAdapter.validate_json(text)[0]


def enter(message: ModelMessage, text: bytes | None = None) -> Entry:
    """Return a message with its text and its hash."""
    text = dump(message) if text is None else text
    pictures: list[ModelText] = []
    said = keep(encode(_said(json.loads(text)[0], pictures)))
    return Entry(message, text, said.hash, (said, *pictures))


def encode(value: Any) -> bytes:
    """Return data as JSON that is the same whenever the data is."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()


def _said(value: Any, pictures: list[ModelText]) -> Any:
    """Return what is said in a message; pictures are named by their hash, and added to *pictures*."""
    if isinstance(value, list):
        return [_said(item, pictures) for item in value]
    if not isinstance(value, dict):
        return value
    if value.get("kind") == "binary":
        pictures.append(keep(base64.urlsafe_b64decode(value["data"])))
        return {"kind": "picture", "hash": pictures[-1].hash, "media_type": value["media_type"]}
    return {key: _said(item, pictures) for key, item in value.items() if key not in _BESIDE and item is not None}


class Conversation:
    """The messages between the agent and its model, and what the agent was asked to remember."""

    def __init__(self, pictures: int) -> None:
        self._pictures = pictures
        self.entries: list[Entry] = []
        self.notes: dict[str, str] = {}

    def add(self, message: ModelMessage, text: bytes | None = None) -> None:
        """Add a message; pictures that are too many are replaced by their names."""
        self.entries.append(enter(message, text))
        if len(self.entries[-1].kept) > 1:
            self._drop_pictures()

    def messages(self, instructions: str) -> list[ModelMessage]:
        """Return the messages to send; the last one brings the instructions."""
        said = [entry.message for entry in self.entries]
        last = said[-1]
        assert isinstance(last, ModelRequest)
        return [*said[:-1], ModelRequest(parts=last.parts, instructions=instructions)]

    def shows(self, picture: str) -> bool:
        """Whether a picture is in the conversation."""
        return any(picture == kept.hash for entry in self.entries for kept in entry.kept[1:])

    def restart(self, message: ModelRequest) -> None:
        """Forget what was said; a new message stands for it."""
        self.entries = [enter(message)]

    def _drop_pictures(self) -> None:
        left = self._pictures
        for at in reversed(range(len(self.entries))):
            entry = self.entries[at]
            if len(entry.kept) > 1:
                left -= 1
                if left < 0:
                    assert isinstance(entry.message, ModelRequest)
                    self.entries[at] = enter(_without_pictures(entry.message, [kept.hash for kept in entry.kept[1:]]))

    def save(self) -> dict[str, Any]:
        """Return everything as JSON-safe data."""
        return {"messages": [entry.text.decode() for entry in self.entries], "notes": dict(self.notes)}

    def load(self, saved: dict[str, Any]) -> None:
        """Return to what was saved; what is saved again is the same to the byte."""
        texts = [text.encode() for text in saved["messages"]]
        self.entries = [enter(read(text), text) for text in texts]
        self.notes = dict(saved["notes"])


def _without_pictures(message: ModelRequest, names: Sequence[str]) -> ModelRequest:
    names_left = iter(names)
    parts: list[Any] = []
    for part in message.parts:
        if isinstance(part, UserPromptPart) and not isinstance(part.content, str):
            content = [
                f"(picture {next(names_left)[:12]} is no longer shown)" if isinstance(item, BinaryContent) else item
                for item in part.content
            ]
            part = UserPromptPart(content, timestamp=part.timestamp)
        parts.append(part)
    return ModelRequest(parts=parts)


def is_refusal(response: ModelResponse) -> bool:
    """Whether the model, or what guards it, refused to answer."""
    return response.finish_reason == "content_filter"
