"""What goes to a pokemon-gym server and what comes back, checked."""

from __future__ import annotations

import base64
import binascii
import io
import re
from contextlib import suppress
from typing import Any, TypeVar

import msgspec
import numpy as np

from ptp.emulators.answers import GameState
from ptp.errors import BadAnswer, BadCommand, UnknownName

KEYS = ("a", "b", "start", "select", "up", "down", "left", "right")
MOST_KEYS = 100  # in one input
MOST_PIXELS = 4096 * 4096
NO_JSON = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
PNG = b"\x89PNG\r\n\x1a\n"
UNSTABLE = ("screenshot_base64", "step_number", "execution_time", "score")
"""Fields that are no part of the game: the picture is the observation, and the others are of the session."""

Answer = TypeVar("Answer", bound=msgspec.Struct)
Picture = np.ndarray[Any, np.dtype[np.uint8]]


class InputValidator:
    """Parses inputs, and checks and formats answers."""

    def parse(self, text: str) -> list[str]:
        """Return the keys of an input such as "A B START"; commas separate as well."""
        keys = re.split(r"[\s,]+", text.strip().lower())
        if keys == [""]:
            raise BadCommand(f"the input {text!r} has no keys; write some of: {' '.join(KEYS)}")
        if len(keys) > MOST_KEYS:
            raise BadCommand(f"the input has {len(keys):,} keys; send at most {MOST_KEYS:,} at once")
        for key in keys:
            if key not in KEYS:
                raise UnknownName("key", key, list(KEYS))
        return keys

    def decode(self, where: str, body: bytes, kind: type[Answer]) -> Answer:
        """Return an answer as its type; one that is not of it is refused, and every field at fault is named."""
        with suppress(*NO_JSON):
            return msgspec.json.decode(body, type=kind)
        try:
            answer = msgspec.json.decode(body)
        except NO_JSON:
            shown = body[:60].decode("utf-8", "replace")
            raise BadAnswer(f"{where} answered no JSON but {shown!r}; use a pokemon-gym server") from None
        problems = "; ".join(self.check_compatibility(answer, kind))
        raise BadAnswer(f"{where} is not compatible: {problems}; use a pokemon-gym server")

    def check_compatibility(self, answer: Any, kind: type[msgspec.Struct] = GameState) -> list[str]:
        """Return what keeps an answer from being of a kind: fields that are missing or of another type."""
        if not isinstance(answer, dict):
            return [f"the answer is {_name(answer)}, not an object"]
        problems = []
        for field in msgspec.structs.fields(kind):
            if field.encode_name not in answer:
                if field.required:
                    problems.append(f"{field.name} is missing")
                continue
            try:
                msgspec.convert(answer[field.encode_name], field.type)
            except msgspec.ValidationError as problem:
                problems.append(f"{field.name}: {problem}")
        return problems

    def format_response(self, state: GameState) -> dict[str, Any]:
        """Return the game in a state as plain data for JSON, without the picture and without counts and times."""
        plain: dict[str, Any] = msgspec.to_builtins(state)
        return {name: value for name, value in plain.items() if name not in UNSTABLE}

    def picture(self, where: str, state: GameState) -> Picture:
        """Return the screenshot of a state as pixels, red, green and blue."""
        from PIL import Image, UnidentifiedImageError

        try:
            data = base64.b64decode(state.screenshot_base64, validate=True)
            if not data.startswith(PNG):
                raise BadAnswer(f"{where} answered a screenshot that is no PNG; use a pokemon-gym server")
            with Image.open(io.BytesIO(data), formats=["PNG"]) as image:
                if image.width * image.height > MOST_PIXELS:
                    raise BadAnswer(f"{where} answered a screenshot of {image.width} x {image.height} pixels: too many")
                return np.asarray(image.convert("RGB"))
        except (binascii.Error, ValueError, OSError, SyntaxError, UnidentifiedImageError) as problem:
            raise BadAnswer(f"{where} answered a screenshot that can't be read: {problem}") from None


def _name(value: Any) -> str:
    names = {list: "an array", str: "text", type(None): "null", bool: "true or false"}
    return names.get(type(value), "a number")
