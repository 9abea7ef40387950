"""Local servers that speak as Anthropic's and OpenAI's do: answers and streams, limits, failures, and nonsense."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import msgspec


class Reply(msgspec.Struct):
    """What a server answers."""

    text: str | None = None
    tools: list[tuple[str, dict[str, Any] | str]] = []
    """Calls of tools: a name, and arguments as data or as the text that stands in their place."""
    status: int = 200
    headers: dict[str, str] = {}
    delay: float = 0.0
    raw: bytes | None = None
    """Sent in place of an answer."""
    cut: bool = False
    """Whether the connection is closed in the middle."""
    refused: bool = False
    tokens: tuple[int, int, int] = (100, 20, 0)
    """In, out, and of the first the cached ones."""


def act(*moves: str, **more: Any) -> Reply:
    """Return an answer that makes moves."""
    return Reply(tools=[("act", {"moves": [*moves], "reasoning": "because", "confidence": 0.5, **more})])


Answer = Callable[[dict[str, Any], int], Reply]
"""Turns a request and its number, from 0, into a reply."""


class ModelServer:
    """A server; `requests` are the bodies and `headers` the headers it was sent."""

    def __init__(self, kind: str, answer: Answer) -> None:
        self.kind = kind
        self.answer = answer
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.times: list[float] = []
        self._lock = threading.Lock()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._http.server_port}{'/v1' if kind == 'openai' else ''}"
        self.model = "anthropic:claude-haiku-5-5" if kind == "anthropic" else "openai:gpt-4o"
        threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True).start()

    def flags(self) -> list[str]:
        """Return the flags of a run that asks this server."""
        return ["--agent", "llm", "--model", self.model, "--base-url", self.url]

    def close(self) -> None:
        """Stop serving."""
        self._http.shutdown()
        self._http.server_close()

    def _handler(server) -> type[BaseHTTPRequestHandler]:  # noqa: N805
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def log_message(self, *_: Any) -> None:
                pass

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                with server._lock:
                    number = len(server.requests)
                    server.requests.append(body)
                    server.headers.append({name.lower(): value for name, value in self.headers.items()})
                    server.times.append(time.monotonic())
                self._send(server.answer(body, number), body)

            def _send(self, reply: Reply, body: dict[str, Any]) -> None:
                time.sleep(reply.delay)
                streams = bool(body.get("stream")) and reply.status == 200 and reply.raw is None
                sent = _encode(server.kind, reply, body, streams)
                self.send_response(reply.status)
                self.send_header("content-type", "text/event-stream" if streams else "application/json")
                self.send_header("content-length", str(len(sent)))
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(sent[: len(sent) // 2] if reply.cut else sent)
                self.wfile.flush()
                self.close_connection = self.close_connection or reply.cut

        return Handler


@contextmanager
def serving(kind: str, answer: Answer | list[Reply]) -> Iterator[ModelServer]:
    """Serve answers: of a function, or of a list whose last one is repeated."""
    replies = answer if isinstance(answer, list) else []
    server = ModelServer(
        kind, (lambda _, number: replies[min(number, len(replies) - 1)]) if isinstance(answer, list) else answer
    )
    try:
        yield server
    finally:
        server.close()


def _encode(kind: str, reply: Reply, body: dict[str, Any], streams: bool) -> bytes:
    if reply.raw is not None:
        return reply.raw
    if reply.status != 200:
        return json.dumps({"type": "error", "error": {"type": "api_error", "message": reply.text or "no"}}).encode()
    if kind == "anthropic":
        whole = _anthropic(reply, body["model"])
        return b"".join(map(_event, _anthropic_stream(whole))) if streams else json.dumps(whole).encode()
    whole = _openai(reply, body["model"])
    if not streams:
        return json.dumps(whole).encode()
    return b"".join(f"data: {json.dumps(chunk)}\n\n".encode() for chunk in _openai_stream(whole)) + b"data: [DONE]\n\n"


def _anthropic(reply: Reply, model: str) -> dict[str, Any]:
    content: list[dict[str, Any]] = [{"type": "text", "text": reply.text}] if reply.text else []
    content += [
        {
            "type": "tool_use",
            "id": f"toolu_{at}",
            "name": name,
            "input": given if isinstance(given, dict) else {"x": given},
        }
        for at, (name, given) in enumerate(reply.tools)
    ]
    total, out, cached = reply.tokens
    return {
        "id": "msg_1", "type": "message", "role": "assistant", "model": model, "content": content,
        "stop_sequence": None,
        "stop_reason": "refusal" if reply.refused else "tool_use" if reply.tools else "end_turn",
        "usage": {"input_tokens": total - cached, "output_tokens": out, "cache_read_input_tokens": cached,
                  "cache_creation_input_tokens": 0},
    }  # fmt: skip


def _anthropic_stream(whole: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield {"type": "message_start", "message": {**whole, "content": [], "stop_reason": None}}
    for at, block in enumerate(whole["content"]):
        if block["type"] == "text":
            start, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            given = json.dumps(block["input"])
            start, delta = {**block, "input": {}}, {"type": "input_json_delta", "partial_json": given}
        yield {"type": "content_block_start", "index": at, "content_block": start}
        yield {"type": "content_block_delta", "index": at, "delta": delta}
        yield {"type": "content_block_stop", "index": at}
    ending = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": ending, "usage": {"output_tokens": whole["usage"]["output_tokens"]}}
    yield {"type": "message_stop"}


def _event(data: dict[str, Any]) -> bytes:
    return f"event: {data['type']}\ndata: {json.dumps(data)}\n\n".encode()


def _openai(reply: Reply, model: str) -> dict[str, Any]:
    calls = [
        {"id": f"call_{at}", "type": "function",
         "function": {"name": name, "arguments": given if isinstance(given, str) else json.dumps(given)}}
        for at, (name, given) in enumerate(reply.tools)
    ]  # fmt: skip
    message = {"role": "assistant", "content": reply.text, **({"tool_calls": calls} if calls else {})}
    reason = "content_filter" if reply.refused else "tool_calls" if calls else "stop"
    total, out, cached = reply.tokens
    usage = {"prompt_tokens": total, "completion_tokens": out, "total_tokens": total + out,
             "prompt_tokens_details": {"cached_tokens": cached}}  # fmt: skip
    return {"id": "chatcmpl-1", "object": "chat.completion", "created": 1_700_000_000, "model": model,
            "choices": [{"index": 0, "finish_reason": reason, "message": message}], "usage": usage}  # fmt: skip


def _openai_stream(whole: dict[str, Any]) -> Iterator[dict[str, Any]]:
    head = {**whole, "object": "chat.completion.chunk", "usage": None}
    choice = whole["choices"][0]
    message = choice["message"]
    calls = [{**call, "index": at} for at, call in enumerate(message.get("tool_calls", ()))]
    delta = {**message, **({"tool_calls": calls} if calls else {})}
    yield {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    yield {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}]}
    yield {**head, "choices": [], "usage": whole["usage"]}
