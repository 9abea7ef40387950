"""What models were asked and answered in a recorded run."""

from __future__ import annotations

import difflib
import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec

from ptp.errors import PromptDiffers, RunUnreadable
from ptp.recording import RunDirectory
from ptp.recording.database import Database
from ptp.records import ModelText

LONGEST = 64 * 1024 * 1024  # bytes that a kept text may unpack to

_CALLS = """SELECT m.tick, m.prompt_hash, m.answer_hash FROM model_calls m
    JOIN action_history a ON a.decision_id = substr(m.run_id, 1, 24) || printf('%012x', m.decision)
    WHERE m.answer_hash IS NOT NULL AND a.execution_status IS NOT 'rolled_back' AND m.tick < ?
    ORDER BY m.tick, m.call_id"""


def unpack(name: str, body: bytes) -> bytes:
    """Return a kept text or picture."""
    try:
        unpacking = zlib.decompressobj()
        text = unpacking.decompress(body, LONGEST)
    except (zlib.error, TypeError) as problem:
        raise RunUnreadable(f"model text {name} can't be read: {problem}; restore the run from a copy") from None
    if unpacking.unconsumed_tail:
        raise RunUnreadable(f"model text {name} unpacks to more than {LONGEST:,} bytes; restore the run from a copy")
    return text


class ModelTexts:
    """The texts and pictures that a run keeps by hash."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, name: str) -> bytes | None:
        """Return what has a hash; None when it is not kept."""
        for (body,) in self._database.rows("SELECT body FROM model_texts WHERE hash = ?", name):
            return unpack(name, body)
        return None

    def data(self, name: str | None) -> Any:
        """Return the JSON data that has a hash; None when it is not kept."""
        text = None if name is None else self.get(name)
        try:
            return None if text is None else msgspec.json.decode(text)
        except msgspec.DecodeError as problem:
            raise RunUnreadable(f"model text {name} can't be read: {problem}; restore the run from a copy") from None


class RecordedAnswers:
    """The answers of a run up to a tick, in order; with *strict*, only to the prompts that they were given to."""

    def __init__(self, directory: RunDirectory, last_tick: int | None = None, *, strict: bool = False) -> None:
        self.given = 0
        self._strict = strict
        self._shown: dict[str, list[str]] = {}
        self._calls: dict[int, list[tuple[str, bytes | None]]] = {}
        with Database(directory.database) as database:
            (length,) = database.row("SELECT coalesce(max(tick), 0) FROM steps")
            self.last_tick: int = length if last_tick is None else min(last_tick, length)
            texts = ModelTexts(database)
            for tick, prompt, answer in database.rows(_CALLS, self.last_tick):
                self._calls.setdefault(tick, []).append((prompt, texts.get(answer)))
                if strict:
                    self._shown[prompt] = [*prompt_lines(prompt, texts.get)]

    def next(self, tick: int, prompt: ModelText, texts: Sequence[ModelText]) -> bytes | None:
        """Return the next answer at a tick; with *strict*, a prompt that is not the recorded one is refused."""
        calls = self._calls.get(tick)
        if not calls:
            return None
        name, answer = calls.pop(0)
        if self._strict and name != prompt.hash:
            given = {text.hash: unpack(text.hash, text.body) for text in (prompt, *texts)}
            lines = [*prompt_lines(prompt.hash, given.get)]
            diff = difflib.unified_diff(self._shown[name], lines, "recorded", "asked now", lineterm="", n=2)
            raise PromptDiffers(tick, [*diff])
        self.given += 1
        return answer


def prompt_lines(name: str, get: Callable[[str], bytes | None]) -> Iterator[str]:
    """Return a prompt as lines of text; *get* returns what has a hash."""
    kept = get(name)
    if kept is None:
        yield f"prompt {name} is not kept"
        return
    prompt = msgspec.json.decode(kept)
    yield from (f"{key}: {prompt.get(key)}" for key in ("model", "temperature", "max_tokens"))
    for key in ("system", "tools"):
        text = get(prompt[key]) if prompt.get(key) else None
        yield from (f"{key}: {line}" for line in (text or b"").decode().splitlines())
    for at, message in enumerate(prompt["messages"], 1):
        text = get(message)
        said = b'"not kept"' if text is None else msgspec.json.format(text, indent=1)
        yield from (f"message {at}: {line}" for line in said.decode().splitlines())
