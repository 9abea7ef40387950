"""The adapter on our own server."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import httpx

Call = Callable[..., tuple[int, str, str]]
FAST = ("--tick-rate-base", "0", "--random-seed", "7", "--json")


def url_of(server: httpx.Client) -> str:
    return str(server.base_url).rstrip("/")


def test_a_run_on_our_server_is_recorded_and_replays(ptp: Call, grass: httpx.Client) -> None:
    code, out, err = ptp("run", "--world", url_of(grass), "--agent", "random", "--max-ticks", "30", *FAST)
    assert code == 0, err
    result = json.loads(out)
    header = json.loads(Path(result["directory"], "metadata.json").read_text())
    assert (result["ticks"], header["facts"]["snapshot"]) == (30, "state")
    code, out, err = ptp("replay", result["run_id"], "--verify")
    assert code == 0, out + err
