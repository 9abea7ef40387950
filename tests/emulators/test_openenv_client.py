"""OpenEnv's own client plays our games, from an environment of its own, since it brings over a hundred packages."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.emulators.parts import ask, talking

PYTHON = Path(__file__).parent.parent.parent / ".venv" / "openenv" / "bin" / "python"
PLAY = """
import json, sys
from openenv.core import GenericEnvClient
with GenericEnvClient(base_url=sys.argv[1]).sync() as env:
    results = [env.reset(seed=11), *(env.step({"command": move}) for move in json.loads(sys.argv[2]))]
    state = env.state()
print(json.dumps([[[it.observation, it.reward, it.done] for it in results], dict(state)]))
"""


@pytest.fixture(scope="module", autouse=True)
def official() -> None:
    if not PYTHON.exists():
        reason = "OpenEnv's client is not installed; `make .venv/openenv/setup` does that"
        (pytest.fail if os.environ.get("PTP_REQUIRE_ALL") == "1" else pytest.skip)(reason)


def play(client: httpx.Client, moves: list[Any]) -> Any:
    words = [str(PYTHON), "-c", PLAY, str(client.base_url), json.dumps(moves)]
    result = subprocess.run(words, capture_output=True, text=True, timeout=240)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout.splitlines()[-1])


@pytest.mark.parametrize(("game", "moves"), [("pole", [0, 1, 1, 0]), ("grass", ["start", "a:10/130", "b"])])
def test_the_official_client_plays_the_same_game_as_a_plain_websocket(
    game: str, moves: list[Any], request: pytest.FixtureRequest
) -> None:
    client: httpx.Client = request.getfixturevalue(game)
    results, state = play(client, moves)
    with talking(client) as socket:
        plain = [ask(socket, "reset", seed=11), *(ask(socket, "step", command=move) for move in moves)]
    assert results == [[it["data"]["observation"], it["data"]["reward"], it["data"]["done"]] for it in plain]
    assert state["step_count"] == len(moves)
