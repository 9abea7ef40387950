"""The connection to a provider: one model, its own event loop, and what the headers said."""

from __future__ import annotations

import asyncio
import inspect
import os
import re
import threading
import time
from collections.abc import Mapping
from concurrent.futures import CancelledError
from datetime import datetime
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from pydantic_ai._http import create_async_httpx2_client
from pydantic_ai.direct import model_request
from pydantic_ai.exceptions import UserError
from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import Model, ModelRequestParameters, infer_model, parse_model_id
from pydantic_ai.providers import Provider, infer_provider_class
from pydantic_ai.settings import ModelSettings

from ptp.errors import AgentError, ConfigError

REMAINING = ("anthropic-ratelimit-requests-remaining", "x-ratelimit-remaining-requests", "x-ratelimit-remaining")
RESET = ("anthropic-ratelimit-requests-reset", "x-ratelimit-reset-requests", "x-ratelimit-reset")
KEY = re.compile(r"`([A-Z][A-Z_]*_API_KEY)`")
UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
SHORTEST_SECRET = 6  # letters of a key; what is shorter would hide ordinary words


class Allowance(NamedTuple):
    """What a provider still allows."""

    remaining: int | None
    resets_at: float | None
    """Seconds since 1970."""


def read_allowance(headers: Mapping[str, str], now: float) -> Allowance:
    """Return what the headers of an answer say; None for what they don't."""
    remaining = next((headers[name] for name in REMAINING if headers.get(name, "").isdecimal()), None)
    reset = next((headers[name] for name in RESET if name in headers), None)
    return Allowance(None if remaining is None else int(remaining), None if reset is None else _moment(reset, now))


def _moment(text: str, now: float) -> float | None:
    """Return when a limit is lifted: written as a time, as milliseconds since 1970, or as a length such as 6m0s."""
    if text.isdecimal():
        return int(text) / 1000 if len(text) > 11 else now + int(text)
    try:
        return datetime.fromisoformat(text).timestamp()
    except ValueError:
        pass
    total, number = 0.0, ""
    for part in text.replace("ms", "u"):
        if part.isdigit() or part == ".":
            number += part
            continue
        unit = UNITS.get("ms" if part == "u" else part)
        if unit is None or not number:
            return None
        total, number = total + float(number) * unit, ""
    return None if number else now + total


class Wire:
    """A model that can be asked from any thread; `close` ends a call that is under way."""

    def __init__(self, name: str, base_url: str | None) -> None:
        self.allowance = Allowance(None, None)
        self._client = create_async_httpx2_client()
        self._client.event_hooks["response"].append(self._hear)
        self.model = self._make(name, base_url)
        self._loop = asyncio.new_event_loop()
        self._calls: set[Any] = set()
        self._closed = False
        threading.Thread(target=self._serve, daemon=True, name="models").start()

    def _serve(self) -> None:
        self._loop.run_forever()
        self._loop.close()

    def _make(self, name: str, base_url: str | None) -> Model:
        provider, model = parse_model_id(name)
        if base_url is not None and provider == "openai":
            name = f"openai-chat:{model}"  # what servers that are compatible with OpenAI's have in common
        try:
            made = infer_model(name, lambda kind: self._provider(kind, base_url))
        except (UserError, ValueError, ImportError) as problem:
            key = KEY.search(str(problem))
            why = f"it needs a key; set {key[1]}" if key else str(problem).split("\n")[0]
            raise ConfigError(f"--model {name}: {why}") from None
        client = getattr(getattr(made, "client", None), "max_retries", None)
        if client is not None:
            made.client.max_retries = 0  # type: ignore[attr-defined] # each try is a call of its own, and recorded
        return made

    def _provider(self, kind: str, base_url: str | None) -> Provider[Any]:
        made = infer_provider_class(kind)
        takes = inspect.signature(made.__init__).parameters
        given: dict[str, Any] = {"http_client": self._client} if "http_client" in takes else {}
        if base_url is not None:
            if "base_url" not in takes:
                raise ConfigError(
                    f"--base-url: provider {kind!r} has an address of its own; name the model as openai:NAME"
                )
            given["base_url"] = base_url
        return made(**given)

    async def _hear(self, response: Any) -> None:
        self.allowance = read_allowance(response.headers, time.time())

    def request(
        self, messages: list[ModelMessage], settings: ModelSettings, parameters: ModelRequestParameters
    ) -> ModelResponse:
        """Ask the model and wait for its answer."""
        self.allowance = Allowance(None, None)
        asked = model_request(self.model, messages, model_settings=settings, model_request_parameters=parameters)
        call = asyncio.run_coroutine_threadsafe(asked, self._loop)
        self._calls.add(call)
        if self._closed:
            call.cancel()
        try:
            return call.result()
        except CancelledError:
            raise AgentError("the call of the model was ended, because the run has ended") from None
        finally:
            self._calls.discard(call)

    def close(self) -> None:
        """End what is under way."""
        self._closed = True
        for call in tuple(self._calls):
            call.cancel()
        asyncio.run_coroutine_threadsafe(self._client.aclose(), self._loop).add_done_callback(
            lambda _: self._loop.call_soon_threadsafe(self._loop.stop)
        )


def check_address(base_url: str) -> None:
    """Refuse an address that tells a password: settings are kept with the run."""
    parts = urlsplit(base_url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigError(f"--base-url {base_url} is not an address; write it as http://host:port/v1")
    if parts.username or parts.password or parts.query:
        raise ConfigError("--base-url holds a user, password or query; keys belong into the environment")


def without_secrets(text: str) -> str:
    """Return a text in which no key of the environment is left."""
    for name, value in os.environ.items():
        if name.endswith(("_KEY", "_TOKEN", "_SECRET", "_PASSWORD")) and len(value) >= SHORTEST_SECRET:
            text = text.replace(value, f"[{name}]")
    return text
