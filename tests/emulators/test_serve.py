"""`ptp emulator serve` as a user runs it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.emulators.parts import ask, post, replays, talking

PTP = (sys.executable, "-m", "ptp")


@contextmanager
def served(*words: str) -> Iterator[tuple[subprocess.Popen[str], dict[str, Any]]]:
    command = [*PTP, "emulator", "serve", "--port", "0", "--json", *words]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield process, json.loads("".join(iter(process.stdout.readline, "}\n")) + "}")
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_server_that_is_stopped_finishes_its_runs(tmp_path: Path, number: signal.Signals) -> None:
    with served("--world", "CartPole-v1", "--record", "--data-dir", str(tmp_path)) as (process, address):
        assert address["token"] is None
        with httpx.Client(base_url=address["url"], timeout=60) as client, talking(client) as socket:
            post(client, "/initialize")
            post(client, "/action", action_type="press_key", keys=["left", "right"])
            ask(socket, "reset", seed=1)
            ask(socket, "step", command="left")
            process.send_signal(number)
            _, said = process.communicate(timeout=60)
        assert "Traceback" not in said
    assert sorted(replays(tmp_path)) == [1, 2]


def test_other_machines_need_the_token_that_is_printed(tmp_path: Path) -> None:
    with served("--host", "0.0.0.0", "--data-dir", str(tmp_path)) as (_, address):
        url = address["url"].replace("0.0.0.0", "127.0.0.1")
        assert httpx.post(f"{url}/reset", json={}).status_code == 401
        token = {"Authorization": f"Bearer {address['token']}"}
        assert httpx.post(f"{url}/reset", json={}, headers=token, timeout=60).status_code == 200


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--rom", "nothing.gb"], "nothing.gb"),
        (["--world", "NoSuchWorld-v0"], "NoSuchWorld"),
        (["--world", "tallgrass", "--rom", "x.gb"], "exclude each other"),
        (["--token", "short"], "--token has 5 characters"),
        (["--token", "a long enough token", "--no-token"], "exclude each other"),
        (["--games", "-1"], "--games -1 is not allowed"),
        (["--port", "99999"], "--port 99999 is not allowed"),
    ],
)
def test_what_can_not_be_served_is_refused_in_one_line(tmp_path: Path, words: list[str], reason: str) -> None:
    done = subprocess.run(
        [*PTP, "emulator", "serve", "--data-dir", str(tmp_path), *words], capture_output=True, text=True
    )
    assert done.returncode in (1, 2)
    assert reason in done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
