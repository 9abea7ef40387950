"""Who may do what: host, size, rate and token are checked before anything else sees a request."""

from __future__ import annotations

import hmac
import re
import time
from collections import OrderedDict
from collections.abc import Callable
from http import HTTPStatus

import msgspec
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ptp.http.endpoints import Problem, reply

MOST_BODY = 64 << 10  # bytes
MOST_TARGET = 4 << 10  # bytes of path and query
MOST_CLIENTS = 10_000  # whose rates are remembered
READING = frozenset({"GET", "HEAD", "OPTIONS"})
LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})
HOST = re.compile(r"([^:\[\]]+|\[[0-9a-f:.]+\])(:[0-9]{1,5})?")

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}


class Policy(msgspec.Struct, frozen=True):
    """What is asked of clients."""

    token: str | None
    """What changes need; None lets everybody who can connect change everything, but no page of another site."""
    open_reading: bool
    """Whether reading needs no token; only where nobody but this machine can connect."""
    hosts: frozenset[str] | None = LOOPBACK
    """Names that a request may be meant for, against pages that rebind their name to this machine; None is any."""
    public: frozenset[str] = frozenset()
    """Paths that never need the token."""
    most_body: int = MOST_BODY
    reads_per_second: float = 2_000
    writes_per_second: float = 20
    wrong_tokens_per_minute: float = 20


class Rates:
    """So many requests per second for each client, and in a burst those of two seconds; of a slow rate, of a minute."""

    def __init__(self, per_second: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._each = 1 / per_second
        self._burst = 2.0 if per_second >= 1 else 60.0
        self._clock = clock
        self._owed: OrderedDict[str, float] = OrderedDict()
        """When a client has made up for everything that it took."""

    def spent(self, client: str) -> bool:
        """Whether a client has nothing left now."""
        return self._owed.get(client, 0.0) + self._each - self._clock() > self._burst

    def take(self, client: str) -> bool:
        """Take one; False when nothing is left."""
        if self.spent(client):
            return False
        self._owed[client] = max(self._clock(), self._owed.get(client, 0.0)) + self._each
        if len(self._owed) > MOST_CLIENTS:
            self._owed.popitem(last=False)
        return True


class Guard:
    """Lets a request through, or answers it with the reason why not; every answer has the security headers."""

    def __init__(self, app: ASGIApp, policy: Policy) -> None:
        self._app = app
        self._policy = policy
        self._token = (policy.token or "").encode()
        self._reads = Rates(policy.reads_per_second)
        self._writes = Rates(policy.writes_per_second)
        self._wrong = Rates(policy.wrong_tokens_per_minute / 60)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] == "websocket":
            await self._connect(scope, receive, send)
            return
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        try:
            self._check(scope)
            receive = await self._whole_body(receive)
        except ClientDisconnect:
            return
        except HTTPException as refusal:
            problem = Problem(HTTPStatus(refusal.status_code).phrase, refusal.detail)
            await reply(problem, refusal.status_code, refusal.headers)(scope, receive, send_safely)
        else:
            await self._app(scope, receive, send_safely)

    async def _connect(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a WebSocket through, or close it with the reason before it is accepted."""
        try:
            self._check(scope)
        except HTTPException as refusal:
            await receive()
            await send({"type": "websocket.close", "code": 1008, "reason": refusal.detail[:120]})
        else:
            await self._app(scope, receive, send)

    def _check(self, scope: Scope) -> None:
        headers = Headers(scope=scope)
        client = scope["client"][0] if scope.get("client") else "local"
        host = headers.get("host", "").lower()
        found = HOST.fullmatch(host)
        if self._policy.hosts is not None and (found is None or found[1] not in self._policy.hosts):
            message = f"this server is not {host[:80]!r}; use the address it printed"
            raise HTTPException(HTTPStatus.MISDIRECTED_REQUEST, message)
        if len(scope.get("raw_path") or b"") + len(scope["query_string"]) > MOST_TARGET:
            raise HTTPException(HTTPStatus.REQUEST_URI_TOO_LONG, f"the address is longer than {MOST_TARGET} bytes")
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > self._policy.most_body:
            raise self._too_large()
        changes = scope.get("method") not in READING
        if not (self._writes if changes else self._reads).take(client):
            raise HTTPException(HTTPStatus.TOO_MANY_REQUESTS, "too many requests; wait a second", {"Retry-After": "1"})
        is_public = scope["path"] in self._policy.public or scope["path"].startswith("/static/")
        if self._policy.token is None:
            self._check_origin(headers, host)
        elif changes or not (self._policy.open_reading or is_public):
            self._check_token(headers, client)

    def _check_origin(self, headers: Headers, host: str) -> None:
        origin = headers.get("origin")
        if origin is not None and origin.partition("://")[2].lower() != host:
            message = f"pages of {origin[:80]!r} may not use this server; start it with --token, and send the token"
            raise HTTPException(HTTPStatus.FORBIDDEN, message)

    def _too_large(self) -> HTTPException:
        message = f"the body is larger than {self._policy.most_body} bytes"
        return HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, message)

    def _check_token(self, headers: Headers, client: str) -> None:
        if self._wrong.spent(client):
            message = "too many wrong tokens; wait a minute"
            raise HTTPException(HTTPStatus.TOO_MANY_REQUESTS, message, {"Retry-After": "60"})
        kind, _, token = headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer" and hmac.compare_digest(token.strip().encode("utf-8", "replace"), self._token):
            return
        if token:
            self._wrong.take(client)
        message = "the token is wrong" if token else "a token is needed"
        raise HTTPException(
            HTTPStatus.UNAUTHORIZED,
            f"{message}; send the one that the server printed as `Authorization: Bearer TOKEN`",
            {"WWW-Authenticate": "Bearer"},
        )

    async def _whole_body(self, receive: Receive) -> Receive:
        """Read the body, however it is sent, and return what hands it out again; one that is too large is refused."""
        pieces: list[bytes] = []
        message: Message = {"more_body": True}
        size = 0
        while message.get("more_body"):
            message = await receive()
            if message["type"] == "http.disconnect":
                raise ClientDisconnect
            pieces.append(message.get("body", b""))
            size += len(pieces[-1])
            if size > self._policy.most_body:
                raise self._too_large()
        waiting = [{**message, "body": b"".join(pieces)}]

        async def receive_again() -> Message:
            return waiting.pop() if waiting else await receive()

        return receive_again
