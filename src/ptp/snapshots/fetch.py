"""Fetching a shared snapshot from a dashboard."""

from __future__ import annotations

import time
from http.client import HTTPException, HTTPResponse
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import parse_qs, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

import msgspec

from ptp.errors import SnapshotError, UsageError
from ptp.snapshots.snapshot import MOST_FILE

TIMEOUT = 30.0  # seconds without a byte
PATIENCE = 600.0  # seconds for all of it
PIECE = 1 << 20  # bytes
MOST_REASON = 10_000  # bytes of an answer that says why not


class _Stay(HTTPRedirectHandler):
    """Follows no redirection: it would take the token to another server."""

    def redirect_request(self, *_: Any) -> None:
        return None


class _Reason(msgspec.Struct):
    """What a dashboard says when it refuses."""

    message: str


def fetch(url: str, token: str | None = None, most: int = MOST_FILE) -> bytes:
    """Return the file at an address; the token may stand behind its hash, which is never sent."""
    try:
        parts = urlsplit(url)
    except ValueError:
        parts = urlsplit("")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError(f"{url!r} is not an http address; give one like http://HOST:8642/api/v1/snapshot/export/NAME")
    bare = parts._replace(fragment="").geturl()
    token = token or parse_qs(parts.fragment).get("token", [None])[0]
    if token and not (token.isascii() and token.isprintable()):
        raise UsageError("the token has characters that no dashboard gives; copy it again")
    request = Request(bare, headers={"Authorization": f"Bearer {token}"} if token else {})
    try:
        with build_opener(_Stay).open(request, timeout=TIMEOUT) as response:
            return _read(response, bare, most)
    except HTTPError as problem:
        with problem:
            try:
                said = msgspec.json.decode(problem.read(MOST_REASON), type=_Reason).message
            except (msgspec.DecodeError, OSError, HTTPException):
                said = str(problem.reason)
        raise SnapshotError(f"{bare} answered {problem.code}: {_one_line(said)}") from None
    except URLError as problem:
        raise SnapshotError(f"{bare} can't be reached: {problem.reason}; is `ptp dashboard` serving there?") from None
    except (OSError, HTTPException, ValueError) as problem:
        raise SnapshotError(
            f"{bare} can't be fetched: {type(problem).__name__}: {_one_line(problem)}; try again"
        ) from None


def _read(response: HTTPResponse, url: str, most: int) -> bytes:
    said = response.headers.get("Content-Length", "")
    size = int(said) if said.isdecimal() else None
    until = time.monotonic() + PATIENCE
    data = bytearray()
    while max(size or 0, len(data)) <= most:
        piece = response.read(PIECE)
        data += piece
        if not piece:
            if size is not None and len(data) != size:
                raise SnapshotError(f"{url} was cut off after {len(data):,} of {size:,} bytes; fetch it again")
            return bytes(data)
        if time.monotonic() > until:
            raise SnapshotError(
                f"{url} took more than {PATIENCE:.0f} s; fetch it with another tool and import the file"
            )
    raise SnapshotError(f"{url} is larger than a snapshot may be: more than {most:,} bytes")


def _one_line(said: object) -> str:
    words = " ".join(str(said).split()) or "no reason given"
    return words if words.isprintable() else "a reason that can't be shown"
