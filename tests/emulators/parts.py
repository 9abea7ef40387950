"""Real parts for the tests: a game server on a port of its own, and clients of it."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
from websockets.sync.client import ClientConnection, connect

from ptp.emulators.app import create_app, make_server
from ptp.emulators.games import Games
from ptp.http.serving import listen
from ptp.recording import RunDirectory
from ptp.recording.directory import run_paths
from ptp.replay import Replay, Tape
from ptp.worlds.registry import find_world
from tests.web.parts import wait_for


@contextmanager
def serving(
    world: str, data_dir: Path, *, record: bool = False, most: int = 4, token: str | None = None
) -> Iterator[httpx.Client]:
    """Serve a world and return a client."""
    games = Games(find_world(world), data_dir, most, record=record)
    games.default.ready()
    listener = listen("127.0.0.1", (0,))
    server = make_server(create_app(games, token))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{listener.getsockname()[1]}", timeout=60) as client:
            wait_for(lambda: server.started)
            yield client
    finally:
        server.should_exit = True
        thread.join()
        listener.close()


@contextmanager
def talking(client: httpx.Client, path: str = "/ws", **options: Any) -> Iterator[ClientConnection]:
    """Open a WebSocket."""
    url = str(client.base_url).rstrip("/").replace("http", "ws", 1)
    with connect(url + path, max_size=None, compression=None, open_timeout=60, **options) as socket:
        yield socket


def ask(socket: ClientConnection, type: str, **data: Any) -> Any:
    """Send a message and return what is answered."""
    socket.send(json.dumps({"type": type, "data": data}))
    return json.loads(socket.recv(timeout=60))


def post(client: httpx.Client, path: str, **body: Any) -> Any:
    """Post and return the answer, which is no refusal."""
    answer = client.post(path, json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


def get(client: httpx.Client, path: str) -> Any:
    """Get the answer, which is no refusal."""
    answer = client.get(path)
    assert answer.status_code == 200, answer.text
    return answer.json()


def replays(data_dir: Path) -> list[int]:
    """Return the ticks of every run here, each of which replays as it was recorded."""
    return [_replay(RunDirectory(path)) for path in sorted(run_paths(data_dir))]


def _replay(directory: RunDirectory) -> int:
    tape = Tape(directory)
    replay = Replay(tape, 1)
    ticks = sum(1 for _ in replay)
    replay.close()
    assert replay.result.difference is None, replay.result.difference
    assert directory.read_metadata().status == "completed"
    return ticks
