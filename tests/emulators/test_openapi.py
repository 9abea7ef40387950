"""The OpenAPI document of the game server is complete, and the server keeps to it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from tests.emulators.parts import get, serving

CONFIG = Path(__file__).with_name("schemathesis.toml")
TOKEN = "a token for the tests"


def test_every_operation_is_described_and_stands_for_every_game(pole: httpx.Client) -> None:
    document = get(pole, "/openapi.json")
    names = [operation["operationId"] for methods in document["paths"].values() for operation in methods.values()]
    assert len(names) == len(set(names))
    for path, methods in document["paths"].items():
        for operation in methods.values():
            assert operation["summary"], path
            assert all(parameter["description"] for parameter in operation["parameters"]), path
    for name in ("initialize", "action", "status", "stop", "evaluate", "save_state", "reset", "step", "state", "schema",
                 "metadata", "health", "v1/state", "v1/step", "v1/script", "v1/snapshot", "v1/frame"):  # fmt: skip
        assert {f"/{name}", f"/games/{{game_id}}/{name}"} <= set(document["paths"])
    for name, component in document["components"]["schemas"].items():
        assert component.get("description"), name


def test_generated_requests_are_answered_as_the_schema_says(tmp_path: Path) -> None:
    program = Path(sys.executable).with_name("schemathesis")
    if not program.exists():
        if os.environ.get("PTP_REQUIRE_ALL") == "1":
            pytest.fail("schemathesis is not installed")
        pytest.skip("schemathesis is not installed")
    with serving("CartPole-v1", tmp_path, most=3, token=TOKEN) as client:
        command = [str(program), "--config-file", str(CONFIG), "run", f"{client.base_url}/openapi.json", "--checks",
                   "all", "--phases", "examples,coverage,fuzzing", "--no-color", "--max-response-time", "60",
                   "--max-examples", "5", "--header", f"Authorization: Bearer {TOKEN}"]  # fmt: skip
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        assert done.returncode == 0, done.stdout
