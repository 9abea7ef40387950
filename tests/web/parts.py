"""Real parts for the tests: a server on a port of its own, and a live run in a process of its own."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import httpx
import uvicorn

from ptp.config.tree import BY_FLAG, build
from ptp.errors import PtpError
from ptp.recording import RunDirectory
from ptp.recording.directory import run_paths
from ptp.runner import run
from ptp.web.app import bind, create_app
from tests.steering import ask

TOKEN = "a token for the tests"
T = TypeVar("T")


@contextmanager
def serving(data_dir: Path, port: Any = 0, **options: Any) -> Iterator[httpx.Client]:
    """Serve a data directory and return a client that has the token."""
    listener, address = bind("127.0.0.1", port, TOKEN)
    app = create_app(data_dir, TOKEN, **options)
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="on", timeout_graceful_shutdown=1))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    url = f"http://127.0.0.1:{address.port}"
    try:
        with httpx.Client(base_url=url, headers={"Authorization": f"Bearer {TOKEN}"}, timeout=60) as client:
            wait_for(lambda: server.started)
            yield client
    finally:
        server.should_exit = True
        thread.join()
        listener.close()


def record(data_dir: Path, **flags: Any) -> RunDirectory:
    """Record a run here, at full speed."""
    given = {"data_dir": str(data_dir), "tick_rate_base": 0, "random_seed": 5, **flags}
    result = run(build({BY_FLAG["--" + name.replace("_", "-")]: value for name, value in given.items()}))
    assert result.error is None
    return RunDirectory(Path(result.directory))


@contextmanager
def playing(data_dir: Path, *flags: str) -> Iterator[RunDirectory]:
    """Let the explorer play Tallgrass in a process of its own."""
    known = set(run_paths(data_dir))
    command = [sys.executable, "-m", "ptp", "run", "--world", "tallgrass", "--agent", "explorer",
               "--tick-rate-base", "50", "--tick-rate-battle", "50",
               "--max-ticks", "100000", "--snapshot-disk", "100", "--random-seed", "3",
               "--data-dir", str(data_dir), "--quiet", *flags]  # fmt: skip
    process = subprocess.Popen(command)
    try:
        path = wait_for(lambda: next(iter(set(run_paths(data_dir)) - known), None))
        directory = RunDirectory(path)
        wait_for(lambda: status_of(directory))
        yield directory
    finally:
        process.terminate()
        process.wait(60)


def status_of(directory: RunDirectory) -> dict[str, Any] | None:
    """Return how a live run stands; None before it listens."""
    try:
        return ask(directory, "status")
    except PtpError:
        return None


def wait_for(look: Callable[[], T | None], seconds: float = 60) -> T:
    """Return what *look* sees as soon as it is something."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        seen = look()
        if seen:
            return seen
        time.sleep(0.02)
    raise AssertionError("it did not come")


def tick_of(directory: RunDirectory) -> int:
    """Return the tick a live run is at."""
    return int(ask(directory, "status")["tick"])
