"""Serving the app: where, with which token, and until when."""

from __future__ import annotations

import gc
import ipaddress
import os
import secrets
import socket
from pathlib import Path

import msgspec
import uvicorn

from ptp.errors import UsageError
from ptp.web.app import create_app
from ptp.web.guard import LOOPBACK
from ptp.web.services import Services

PORT = 8642
LEAST_TOKEN = 12  # characters
NICE = 5  # the dashboard yields to the runs that it shows


class Address(msgspec.Struct, frozen=True):
    """Where the dashboard is."""

    url: str
    """With the token behind the hash, which browsers never send."""
    host: str
    port: int
    token: str


def is_loopback(host: str) -> bool:
    """Whether nobody but this machine can reach an address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def bind(host: str, port: int, token: str | None) -> tuple[socket.socket, Address]:
    """Take a port, the next free one if the default is taken, and make a token if none is given."""
    if token is not None and len(token) < LEAST_TOKEN:
        raise UsageError(f"--token has {len(token)} characters; give at least {LEAST_TOKEN}, or none to have one made")
    token = token or secrets.token_urlsafe(18)
    listener = _listen(host, port)
    taken = listener.getsockname()[1]
    shown = f"[{host}]" if ":" in host else host
    return listener, Address(f"http://{shown}:{taken}/#token={token}", host, taken, token)


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    tries = range(port, port + 10) if port == PORT else (port,)
    for number in tries:
        # asyncio sets TCP_NODELAY only where the protocol is named; without it every answer waits for an ACK, 40 ms
        listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, number))
            return listener
        except OSError as problem:
            listener.close()
            reason = problem.strerror or problem
        except OverflowError:
            listener.close()
            raise UsageError(f"--port {number} is not allowed; allowed: 0 to 65535") from None
    raise UsageError(f"can't listen on {host} port {tries[-1]}: {reason}; choose another --port")


class Server(uvicorn.Server):
    """A server that ends the streams before it waits for the answers it has begun."""

    def __init__(self, config: uvicorn.Config, services: Services) -> None:
        super().__init__(config)
        self._services = services

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop serving."""
        await self._services.hub.close()
        await super().shutdown(sockets)


def serve(data_dir: Path, listener: socket.socket, address: Address) -> None:
    """Serve until a signal ends it."""
    os.nice(NICE)
    local = is_loopback(address.host)
    hosts = LOOPBACK | {address.host, f"[{address.host}]"} if local else None
    app = create_app(data_dir, address.token, open_reading=local, hosts=hosts)
    app.state.services.library.lines()
    gc.freeze()  # what is known of thousands of runs stays; looking through it for garbage would hold up answers
    config = uvicorn.Config(
        app, log_level="warning", access_log=False, server_header=False, timeout_graceful_shutdown=2, lifespan="on"
    )
    Server(config, app.state.services).run(sockets=[listener])
