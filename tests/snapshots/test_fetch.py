"""Fetching over HTTP: whole, within bounds, or refused in one line."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from ptp.errors import SnapshotError, UsageError
from ptp.snapshots import fetch as fetching
from ptp.snapshots.fetch import fetch

Answer = Callable[[BaseHTTPRequestHandler], None]


@contextmanager
def serving(answer: Answer) -> Iterator[str]:
    """Serve one answer to every request."""

    class Server(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answer(self)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/file"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def answering(body: bytes, status: int = 200, length: int | None = None, **headers: str) -> Answer:
    def answer(request: BaseHTTPRequestHandler) -> None:
        request.send_response(status)
        for name, value in headers.items():
            request.send_header(name, value)
        if length != -1:
            request.send_header("Content-Length", str(len(body) if length is None else length))
        request.end_headers()
        request.wfile.write(body)

    return answer


def test_a_file_is_fetched_whole() -> None:
    with serving(answering(b"x" * 3_000_000)) as url:
        assert fetch(url) == b"x" * 3_000_000


def test_a_file_whose_length_is_not_told_is_read_to_its_end() -> None:
    with serving(answering(b"x" * 5000, length=-1)) as url:
        assert fetch(url) == b"x" * 5000


@pytest.mark.parametrize(
    ("given", "behind", "sent"), [("one", "", "one"), (None, "#token=two", "two"), ("one", "#token=two", "one")]
)
def test_the_token_is_sent_as_a_header_and_never_in_the_address(given: str | None, behind: str, sent: str) -> None:
    asked: list[tuple[str, str | None]] = []

    def answer(request: BaseHTTPRequestHandler) -> None:
        asked.append((request.path, request.headers["Authorization"]))
        answering(b"ok")(request)

    with serving(answer) as url:
        fetch(url + "?run=latest" + behind, given)
    assert asked == [("/file?run=latest", f"Bearer {sent}")]


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (answering(b"x" * 100, length=5000), "cut off after 100 of 5,000 bytes; fetch it again"),
        (answering(b"", length=10**12), "larger than a snapshot may be"),
        (answering(b"x" * 20_000, length=-1), "larger than a snapshot may be"),
        (answering(b'{"error": "x", "message": "a token is needed"}', 401), "answered 401: a token is needed"),
        (answering(b'{"error": "x", "message": "use --snapshot-share"}', 403), "answered 403: use --snapshot-share"),
        (answering(b"<html>", 404), "answered 404: Not Found"),
        (answering(b'{"message": "\\u001b[2J"}', 500), "answered 500: a reason that can't be shown"),
        (answering(b"", 302, Location="http://127.0.0.1:1/"), "answered 302: Found"),
        (lambda request: request.wfile.write(b"not http\r\n\r\n"), "can't be fetched"),
        (lambda request: request.connection.shutdown(socket.SHUT_RDWR), "can't be (fetched|reached)"),
    ],
)
def test_anything_but_the_whole_file_is_refused_in_one_line(answer: Answer, message: str) -> None:
    with serving(answer) as url, pytest.raises(SnapshotError, match=message) as refused:
        fetch(url, "a token", most=10_000)
    assert "\n" not in str(refused.value)
    assert "a token" not in str(refused.value).replace("a token is needed", "")


def test_a_server_that_is_not_there_is_named_with_the_remedy() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(SnapshotError, match=f"127.0.0.1:{port}/x can't be reached: .*refused.*`ptp dashboard`"):
        fetch(f"http://127.0.0.1:{port}/x")


def test_a_server_that_says_nothing_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetching, "TIMEOUT", 0.2)
    ended = threading.Event()

    def wait(request: BaseHTTPRequestHandler) -> None:
        ended.wait(10)

    with serving(wait) as url:
        with pytest.raises(SnapshotError, match="timed out"):
            fetch(url)
        ended.set()


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://host/x", "http://", "http://[::1", "data://x"])
def test_only_http_addresses_are_fetched(url: str) -> None:
    with pytest.raises(UsageError, match="is not an http address"):
        fetch(url)


@pytest.mark.parametrize("token", ["line\nbreak", "ümlaut"])
def test_a_token_that_no_dashboard_gives_is_not_sent(token: str) -> None:
    with pytest.raises(UsageError, match="copy it again"):
        fetch("http://127.0.0.1:1/x", token)
