"""Whatever is asked in whatever order: an answer or a reason, and a game that is where it should be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.emulators.parts import get

WORDS = st.one_of(st.text(max_size=8), st.none(), st.integers(-3, 9), st.lists(st.integers(0, 3), max_size=2))
COMMANDS = st.sampled_from(["left", "right", 0, 1, "0"]) | WORDS
JUNK = st.dictionaries(st.sampled_from(["seed", "keys", "frames", "action", "inputs", "filename"]), WORDS, max_size=3)
REQUESTS = st.one_of(
    st.tuples(st.just("/reset"), st.fixed_dictionaries({}, optional={"seed": st.integers(0, 5)})),
    st.tuples(st.just("/step"), st.fixed_dictionaries({"action": st.fixed_dictionaries({"command": COMMANDS})})),
    st.tuples(st.just("/v1/step"), st.fixed_dictionaries({"inputs": st.lists(COMMANDS, max_size=5)})),
    st.tuples(st.just("/initialize"), st.just({})),
    st.tuples(
        st.just("/action"),
        st.fixed_dictionaries({"action_type": st.just("press_key"), "keys": st.lists(COMMANDS, max_size=3)}),
    ),
    st.tuples(st.just("/stop"), st.just({})),
    st.tuples(st.sampled_from(["/reset", "/step", "/action", "/v1/step", "/v1/script", "/save_state"]), JUNK),
    st.tuples(st.sampled_from(["save", "restore"]), st.just({})),
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(requests=st.lists(REQUESTS, max_size=12))
def test_every_sequence_is_answered_and_snapshots_hold(pole: httpx.Client, requests: list[tuple[str, Any]]) -> None:
    saved: tuple[bytes, dict[str, Any]] | None = None
    for path, body in requests:
        if path == "save":
            snapshot = pole.get("/v1/snapshot")
            if snapshot.status_code == 200:
                saved = snapshot.content, get(pole, "/v1/state")
        elif path == "restore":
            if saved is not None:
                restored = pole.post("/v1/snapshot", content=saved[0])
                assert restored.status_code == 200
                assert restored.json()["position"] == saved[1]
        else:
            answer = pole.post(path, json=body)
            assert answer.status_code in (200, 400, 409, 422), (path, body, answer.text)
            assert answer.status_code == 200 or answer.json()["message"]
    state = get(pole, "/v1/state")
    assert (state["seed"] is None) == (state["state"] is None)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    moves=st.lists(st.sampled_from(["a", "b:3", "up:10/130", "none/7", "b+right:4/9"]), min_size=1, max_size=6),
    cut=st.integers(0, 5),
)
def test_a_game_boy_continues_from_a_snapshot_anywhere(grass: httpx.Client, moves: list[str], cut: int) -> None:
    grass.post("/reset", json={"seed": 1})
    grass.post("/v1/step", json={"inputs": moves[:cut]})
    snapshot = grass.get("/v1/snapshot").content
    seen = []
    for _ in range(2):
        assert grass.post("/v1/snapshot", content=snapshot).status_code == 200
        stepped = grass.post("/v1/step", json={"inputs": moves, "states": True})
        seen.append((stepped.json(), grass.get("/v1/frame").content))
    assert seen[0] == seen[1]


@pytest.mark.parametrize("text", ["", "PRESS", "REPEAT 9 { PRESS LEFT }", "WHILE x { }", "\0", "PRESS LEFT\n" * 500])
def test_every_script_has_a_result_or_a_reason(pole: httpx.Client, tmp_path: Path, text: str) -> None:
    pole.post("/reset", json={"seed": 1})
    answer = pole.post("/v1/script", json={"text": text})
    assert answer.status_code in (200, 409, 422)
    assert answer.json().get("message") or "success" in answer.json()
