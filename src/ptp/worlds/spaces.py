"""Commands as text, observations as hashes and as JSON-safe data."""

from __future__ import annotations

import json
from collections.abc import Callable
from struct import Struct
from typing import Any

import numpy as np
from gymnasium import Space, spaces
from xxhash import xxh3_64_hexdigest

from ptp.errors import BadCommand, UnknownName

PLAIN = frozenset({int, float, str, bool, type(None)})
SMALL = 64  # an observation of at most this many numbers is shown in full


class CommandCodec:
    """Commands of one action space as text and back, exactly."""

    def __init__(self, space: Space[Any], names: tuple[str, ...] = ()) -> None:
        self._space = space
        self._names = names
        if isinstance(space, spaces.Discrete):
            start = int(space.start)
            self._texts = {number: str(number) for number in range(start, start + int(space.n))}
            self.encode: Callable[[Any], str] = self._encode_discrete
            self.decode: Callable[[str], Any] = int
        else:
            self.encode, self.decode = self._encode_any, self._decode_any

    def _encode_discrete(self, command: Any) -> str:
        try:
            return self._texts[int(command)]
        except (KeyError, TypeError, ValueError):
            raise self._bad(command) from None

    def _encode_any(self, command: Any) -> str:
        if not self._space.contains(command):
            raise self._bad(command)
        return json.dumps(self._space.to_jsonable([command]), separators=(",", ":"))

    def _decode_any(self, text: str) -> Any:
        (command,) = self._space.from_jsonable(json.loads(text))
        return np.asarray(command, self._space.dtype) if isinstance(self._space, spaces.Box) else command

    def parse(self, word: str) -> Any:
        """Turn what a person wrote (a name, a number or JSON) into a command."""
        if word.lower() in self._names:
            return self._names.index(word.lower())
        try:
            value = json.loads(word)
            command = value if isinstance(value, int) else self._space.from_jsonable([value])[0]
            if isinstance(self._space, spaces.Box):
                command = np.asarray(command, self._space.dtype).reshape(self._space.shape)
        except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
            if self._names:
                raise UnknownName("command", word, list(self._names)) from None
            raise self._bad(word) from None
        self.encode(command)
        return command

    def _bad(self, command: Any) -> BadCommand:
        allowed = ", ".join(self._names) if self._names else str(self._space)
        return BadCommand(f"command {command!r} is not one this world takes; allowed: {allowed}")


def state_hash(space: Space[Any]) -> Callable[[Any, float, bool, bool], str]:
    """Return what hashes all that a step told: observation, reward, and whether the episode ended."""
    whole, tail = Struct("<qd??").pack, Struct("<d??").pack
    if isinstance(space, spaces.Discrete):
        return lambda seen, reward, ended, cut: xxh3_64_hexdigest(whole(seen, reward, ended, cut))
    if isinstance(space, spaces.Box):
        return lambda seen, reward, ended, cut: xxh3_64_hexdigest(np.asarray(seen).tobytes() + tail(reward, ended, cut))
    return lambda seen, reward, ended, cut: xxh3_64_hexdigest(digest(seen) + tail(reward, ended, cut))


def digest(value: Any) -> bytes:
    """Return bytes that are equal exactly when the values are."""
    if isinstance(value, np.ndarray):
        return f"{value.dtype}{value.shape}".encode() + np.ascontiguousarray(value).tobytes()
    if isinstance(value, dict):
        return b"{" + b"".join(digest(key) + digest(value[key]) for key in sorted(value)) + b"}"
    if isinstance(value, (tuple, list)):
        return b"(" + b"".join(map(digest, value)) + b")"
    if isinstance(value, np.generic):
        value = value.item()
    return f"{type(value).__name__}:{value!r};".encode()


def describe(value: Any) -> Any:
    """Return an observation as JSON-safe data; a large array becomes its shape and hash."""
    if type(value) in PLAIN:
        return value
    if isinstance(value, dict):
        return {str(key): item if type(item) in PLAIN else describe(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        if value.size > SMALL:
            return {"shape": list(value.shape), "dtype": str(value.dtype), "hash": xxh3_64_hexdigest(digest(value))}
        return value.tolist()
    if isinstance(value, np.generic):  # before the plain numbers: NumPy's float64 is a float, and no JSON
        return value.item()
    if isinstance(value, (int, float, str)):
        return value
    if isinstance(value, (tuple, list)):
        return [describe(item) for item in value]
    return repr(value)
