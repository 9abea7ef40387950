"""Where a server listens, and who can reach it there."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Sequence

from ptp.errors import UsageError
from ptp.http.guard import LOOPBACK

LEAST_TOKEN = 12  # characters
BACKLOG = 2048  # connections that wait to be accepted


def is_loopback(host: str) -> bool:
    """Whether nobody but this machine can reach an address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def hosts_of(host: str) -> frozenset[str] | None:
    """Return the names that a request to an address may be meant for; None is any."""
    return LOOPBACK | {host, f"[{host}]"} if is_loopback(host) else None


def url_of(host: str, port: int) -> str:
    """Return the address of a server."""
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def check_token(token: str | None) -> None:
    """Refuse a token that can be guessed."""
    if token is not None and len(token) < LEAST_TOKEN:
        raise UsageError(f"--token has {len(token)} characters; give at least {LEAST_TOKEN}, or none to have one made")


def listen(host: str, ports: Sequence[int]) -> socket.socket:
    """Take the first of some ports that is free."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for number in ports:
        # asyncio sets TCP_NODELAY only where the protocol is named; without it every answer waits for an ACK, 40 ms
        listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, number))
            listener.listen(BACKLOG)  # from here on a client that is too early only waits
            return listener
        except OSError as problem:
            listener.close()
            reason = problem.strerror or problem
        except OverflowError:
            listener.close()
            raise UsageError(f"--port {number} is not allowed; allowed: 0 to 65535") from None
    raise UsageError(f"can't listen on {host} port {ports[-1]}: {reason}; choose another --port")
