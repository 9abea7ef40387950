"""The OpenAPI document is complete, and the server keeps to it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest

from ptp.errors import PtpError
from ptp.recording import RunDirectory
from ptp.recording.directory import run_paths
from tests.steering import ask
from tests.web.parts import TOKEN, playing, serving, tick_of, wait_for

CONFIG = Path(__file__).with_name("schemathesis.toml")
UNLIMITED = {"reads_per_second": 1e6, "writes_per_second": 1e6}


def document(client: httpx.Client) -> dict[str, Any]:
    found: dict[str, Any] = client.get("/api/v1/openapi.json").json()
    return found


def test_every_schema_and_parameter_is_typed_and_described(client: httpx.Client) -> None:
    schema = document(client)
    for name, component in schema["components"]["schemas"].items():
        assert component.get("description"), name
    step = schema["components"]["schemas"]["Step"]["properties"]
    assert (step["elapsed"]["type"], step["elapsed"]["description"]) == ("number", "Seconds since the run began.")
    for path, operations in schema["paths"].items():
        for method, operation in operations.items():
            assert operation.get("description") or operation.get("summary"), path
            assert "200" in operation["responses"], path
            for parameter in operation.get("parameters", ()):
                assert parameter.get("description"), (path, method, parameter["name"])
                assert parameter["schema"], path


def test_every_endpoint_of_the_contract_is_there(client: httpx.Client) -> None:
    paths = document(client)["paths"]
    for path in ("status", "screenshots/latest", "actions", "metrics", "snapshot/list", "config"):
        known = path.replace("screenshots/latest", "screenshots/{screenshot_id}")
        assert "get" in paths[f"/api/v1/{known}"], path
    assert "post" in paths["/api/v1/snapshot/restore/{snapshot_id}"]


@pytest.fixture
def probe() -> Callable[..., None]:
    """Let `schemathesis run` send what it makes up to a server, and find nothing wrong with the answers."""
    program = Path(sys.executable).with_name("schemathesis")
    if not program.exists():
        if os.environ.get("PTP_REQUIRE_ALL") == "1":
            pytest.fail("schemathesis is not installed")
        pytest.skip("schemathesis is not installed")

    def call(client: httpx.Client, *words: str) -> None:
        address = f"{client.base_url}/api/v1/openapi.json"
        slow = ["--max-response-time", "60"]  # how fast it answers is for the benchmarks to say
        options = ["--checks", "all", "--phases", "examples,coverage,fuzzing", "--no-color", *slow]
        token = ["--header", f"Authorization: Bearer {TOKEN}"]
        command = [str(program), "--config-file", str(CONFIG), "run", address, *options, *token, *words]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        assert done.returncode == 0, done.stdout

    return call


def test_generated_requests_about_ended_runs_are_answered_as_the_schema_says(
    shelf: Path, tmp_path: Path, probe: Callable[..., None]
) -> None:
    shutil.copytree(shelf, tmp_path / "var")  # some of them change runs
    for path in tmp_path.glob("var/records/*/config.yaml"):
        path.write_text(path.read_text().replace("normal: 0", "normal: 5"))  # forks leave the machine to the test
    with ending_forks(tmp_path / "var"), serving(tmp_path / "var", **UNLIMITED) as client:
        probe(client, "--max-examples", "5")


def test_generated_requests_about_a_live_run_are_answered_as_the_schema_says(
    tmp_path: Path, probe: Callable[..., None]
) -> None:
    with ending_forks(tmp_path), playing(tmp_path) as directory, serving(tmp_path, **UNLIMITED) as client:
        wait_for(lambda: tick_of(directory) > 50)
        probe(client, "--max-examples", "2", "--exclude-path", "/api/v1/control/stop")
        assert directory.is_alive()


@contextmanager
def ending_forks(data_dir: Path) -> Iterator[None]:
    """End the forks that generated requests began."""
    try:
        yield
    finally:
        for path in run_paths(data_dir):
            wait_for(partial(has_ended, RunDirectory(path)))


def has_ended(directory: RunDirectory) -> bool:
    """Whether a run has ended; one that has not is told to, as soon as it listens."""
    with suppress(PtpError):
        ask(directory, "stop")
    return not directory.is_alive()
