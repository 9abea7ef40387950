"""Requests over connections that are kept open; the one place where errors of the HTTP library become ours."""

from __future__ import annotations

import queue
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import unquote, urlsplit, urlunsplit

import httpx
import msgspec

from ptp._util.clock import Clock
from ptp.errors import BadAnswer, ConfigError, ServerRefused, ServerTimeout, ServerUnreachable

MOST = 256 * 2**20  # bytes of an answer
Login = tuple[str, str]


class Transport:
    """Connections that are kept open, each used by one thread at a time.

    The pool of the HTTP library may close a connection that another thread has just begun to use.
    """

    def __init__(self, connections: int, headers: dict[str, str], clock: Clock) -> None:
        trusted = httpx.create_ssl_context(trust_env=False)
        self._now = clock.monotonic
        self._idle: queue.LifoQueue[httpx.Client] = queue.LifoQueue()
        self._all = [httpx.Client(headers=headers, verify=trusted, trust_env=False) for _ in range(connections)]
        for each in self._all:
            self._idle.put(each)

    def request(
        self, method: str, url: str, content: bytes | None, kind: str, login: Login | None, timeout: httpx.Timeout
    ) -> bytes:
        """Return the answer to a request; *kind* is the media type of what is sent."""
        headers, most = {} if content is None else {"content-type": kind}, timeout.read or 0.0
        until = self._now() + most
        with _translated(url, most), self._lend(most) as http:
            with http.stream(method, url, content=content, headers=headers, timeout=timeout, auth=login) as response:
                answer = self._read(response, url, most, until)
            if response.is_success:
                return answer
            raise _refused(url, response.status_code, answer)

    @contextmanager
    def _lend(self, timeout: float) -> Iterator[httpx.Client]:
        """Lend a connection, the one that was used last; wait for one while all are in use."""
        http = self._idle.get(timeout=timeout)
        try:
            yield http
        finally:
            self._idle.put(http)

    def _read(self, response: httpx.Response, url: str, timeout: float, until: float) -> bytes:
        """Return the whole answer; one that trickles in, or never ends, is given up."""
        parts, size = [], 0
        for part in response.iter_bytes():
            parts.append(part)
            size += len(part)
            if size > MOST:
                raise BadAnswer(f"{url} answered more than {MOST:,} bytes; use a pokemon-gym server")
            if self._now() > until:
                raise _late(url, timeout)
        return b"".join(parts)

    def close(self) -> None:
        """Close every connection."""
        for each in self._all:
            each.close()


def split_login(url: str) -> tuple[str, tuple[str, str] | None]:
    """Return an address without its login and without a slash at the end, and the login."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if not host or parts.scheme not in ("http", "https") or parts.query or parts.fragment:
        shown = url.rpartition("@")[2]
        raise ConfigError(f"{shown!r} is not the address of a game server; write it as http://127.0.0.1:8081")
    place = f"[{host}]" if ":" in host else host
    netloc = place if port is None else f"{place}:{port}"
    login = None if parts.username is None else (unquote(parts.username), unquote(parts.password or ""))
    return urlunsplit((parts.scheme, netloc, parts.path.rstrip("/"), "", "")), login


@contextmanager
def _translated(url: str, timeout: float) -> Iterator[None]:
    """Turn the errors of the HTTP library into ours."""
    try:
        yield
    except (httpx.TimeoutException, queue.Empty) as problem:
        raise _late(url, timeout) from problem
    except (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError, httpx.DecodingError) as problem:
        raise BadAnswer(
            f"{url}: the answer was cut off ({_said(problem)}); see whether the server still runs"
        ) from problem
    except httpx.TransportError as problem:
        raise ServerUnreachable(
            f"{url}: nothing answers ({_said(problem)}); start the server, or correct the address"
        ) from problem


def _said(problem: Exception) -> str:
    return str(problem) or type(problem).__name__


def _late(url: str, timeout: float) -> ServerTimeout:
    return ServerTimeout(f"{url}: no answer within {timeout:g} s; raise the timeout, or see whether the server is busy")


def _refused(url: str, status: int, answer: bytes) -> ServerRefused:
    try:
        reason = msgspec.json.decode(answer)["detail"]
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, LookupError, TypeError):
        reason = answer[:200].decode("utf-8", "replace")
    said = " ".join(str(reason).split())[:200] or httpx.codes.get_reason_phrase(status)
    remedy = "the server's log says more" if status >= 500 else "correct the request"
    return ServerRefused(f"{url}: refused with {status}: {said}; {remedy}", status)
