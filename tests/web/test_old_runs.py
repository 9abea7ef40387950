"""Runs of every old schema open in the dashboard: what their files tell is told, and what they lack is said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import apsw
import httpx
import pytest

from ptp.recording.database import TAPELESS
from ptp.versioning.sqlite import old_names
from tests.versioning.databases import OLD, copy_run
from tests.web.parts import serving

SHOTS = ("latest", "tick-0", "tick-10", "screenshots-1", "none")
NAMES = {"{screenshot_id}": SHOTS, "{tick}": (0, 10, 11, 30), "{snapshot_id}": ("latest",)}
TOLD = ("run", "runs", "status", "decisions", "events", "actions", "metrics", "metrics/series", "logs", "export",
        "config", "screenshots", "snapshot/list", "tick/0", "tick/30")  # fmt: skip


def addresses(client: httpx.Client) -> list[str]:
    """Return every address that is read, with names that are known and names that are not."""
    paths = client.get("/api/v1/openapi.json").json()["paths"]
    found = [path for path, operations in paths.items() if "get" in operations]
    for name, values in NAMES.items():
        found = [path.replace(name, str(value)) for path in found for value in (values if name in path else ("",))]
    return found


@pytest.mark.parametrize("version", OLD)
def test_every_address_answers_for_a_run_of_an_old_schema(tmp_path: Path, version: str) -> None:
    run = copy_run(version, tmp_path).name
    with serving(tmp_path) as client:
        for address in addresses(client):
            answer = client.get(address, params={"run": run, "a": "latest", "b": "tick-10"})
            assert answer.status_code < 500, (address, answer.text)
            if answer.status_code != 200:
                assert answer.json()["message"], address
        for name in TOLD:
            assert client.get(f"/api/v1/{name}", params={"run": run}).status_code == 200, name
        newest = client.get(f"/api/v1/tick/30?run={run}").json()
        assert client.get(f"/api/v1/run?run={run}").json()["ticks_per_second"] is None
    assert (newest["last_tick"], newest["step"]) == (30, None)
    assert newest["decision"]["reasoning"] == "reasoning 2"
    assert newest["state"] == {"row": 3}


@pytest.mark.parametrize("version", sorted(TAPELESS))
def test_a_picture_that_an_old_run_did_not_keep_is_refused_with_the_reason(tmp_path: Path, version: str) -> None:
    run = copy_run(version, tmp_path).name
    with serving(tmp_path) as client:
        answer = client.get("/api/v1/frame", params={"run": run})
    assert answer.status_code == 422
    assert f"schema {version}, which keeps no tape" in answer.json()["message"]


ODD = ("plain words", "[1, 2]", json.dumps({"party": ["Mew"], "coordinates": [1, 2], "inventory": {"ball": 1},
       "screen_type": "title", "badges": "two", "money": "much", "location": 7, "owned": []}))  # fmt: skip


@pytest.mark.parametrize("state", ODD)
@pytest.mark.parametrize("version", OLD)
def test_a_state_of_another_form_is_told_as_null_and_not_as_an_error(tmp_path: Path, version: str, state: str) -> None:
    folder = copy_run(version, tmp_path)
    change(folder / "game_data.db", version, state)
    with serving(tmp_path) as client:
        status: dict[str, Any] = client.get("/api/v1/status").json()
        for name in TOLD:
            assert client.get(f"/api/v1/{name}").status_code == 200, name
    told = status["current_state"]
    assert (told["party"], told["coordinates"], told["screen_type"], told["badges"]) == (None, None, None, None)
    assert told["inventory"] == {"pokeballs": None, "potions": None}


def change(database: Path, version: str, state: str) -> None:
    table = old_names(version).get("action_history", "action_history")
    connection = apsw.Connection(str(database))
    connection.execute(f"UPDATE {table} SET game_state = ?, decision_context = ?", (state, state))
    connection.close()
