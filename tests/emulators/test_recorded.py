"""Whatever client played: a recorded session is a run that replays."""

from __future__ import annotations

import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from ptp.recording import RunDirectory
from ptp.recording.directory import run_paths
from tests.emulators.parts import ask, get, post, replays, serving, talking
from tests.steering import ask as steer
from tests.web.parts import wait_for

KEYS: dict[str, list[Any]] = {"tallgrass": ["start", "a", "a", "b"], "CartPole-v1": ["left", "right", "left", "right"]}


@pytest.mark.parametrize("world", KEYS)
def test_a_pokemon_gym_session_replays(tmp_path: Path, world: str) -> None:
    with serving(world, tmp_path, record=True) as client:
        post(client, "/initialize")
        for key in KEYS[world] * 4:
            post(client, "/action", action_type="press_key", keys=[key])
        saved = post(client, "/save_state", filename="x")["state_file"]
        first = post(client, "/stop")["run_id"]
        post(client, "/initialize", load_state_file=saved)
        post(client, "/action", action_type="press_key", keys=KEYS[world])
    assert len(replays(tmp_path)) == 2
    metadata = RunDirectory(tmp_path / "records" / first).read_metadata()
    assert (metadata.agent, metadata.ticks) == ("pokemon-gym", 16)


@pytest.mark.parametrize("world", KEYS)
def test_a_websocket_session_replays_with_what_was_restored_and_forked(tmp_path: Path, world: str) -> None:
    keys = KEYS[world]
    with serving(world, tmp_path, record=True) as client:
        with talking(client) as socket:
            ask(socket, "reset", seed=3)
            for key in keys:
                ask(socket, "step", command=key)
            snapshot = ask(socket, "snapshot")["data"]["snapshot"]
            ask(socket, "reset")
            ask(socket, "step", command=keys[0])
            assert ask(socket, "restore", snapshot=snapshot)["type"] == "state"
            ask(socket, "step", command=keys[1])
            path = ask(socket, "fork")["data"]["path"]
            post(client, f"{path}/v1/step", inputs=keys)
        wait_for(lambda: get(client, "/games")["games"] == [])
    ticks = replays(tmp_path)
    assert len(ticks) == 2
    assert min(ticks) >= len(keys)


def test_our_own_requests_replay(tmp_path: Path) -> None:
    with serving("tallgrass", tmp_path, record=True) as client:
        post(client, "/v1/step", inputs=["start", "a:10/130", "b+up:8/24", "none/600"] * 20)
        post(client, "/v1/script", text="REPEAT 5 { PRESS A 10 }\nWAIT 100\n")
        run_id = get(client, "/v1/state")["run_id"]
    assert replays(tmp_path)[0] > 80
    assert RunDirectory(tmp_path / "records" / run_id).read_metadata().agent == "v1"


def test_without_record_nothing_is_kept_as_a_run(tmp_path: Path) -> None:
    with serving("CartPole-v1", tmp_path) as client:
        post(client, "/v1/step", inputs=[0])
        assert get(client, "/v1/state")["run_id"] is None
    assert run_paths(tmp_path) == []


def test_a_run_that_a_person_stops_ends_and_the_next_begins_another(tmp_path: Path) -> None:
    with serving("CartPole-v1", tmp_path, record=True) as client:
        post(client, "/reset", seed=1)
        post(client, "/v1/step", inputs=[0])
        (path,) = run_paths(tmp_path)
        person = threading.Thread(target=steer, args=(RunDirectory(path), "stop"))
        person.start()
        answers: list[httpx.Response] = []

        def is_refused() -> bool:  # the run hears a person whenever it is played
            post(client, "/reset", seed=1)
            answers.append(client.post("/v1/step", json={"inputs": [0]}))
            return answers[-1].status_code != 200

        wait_for(is_refused)
        person.join()
        assert (answers[-1].status_code, "stopped by request" in answers[-1].text) == (400, True)
        post(client, "/reset", seed=1)
        post(client, "/step", action={"command": 1})
    assert replays(tmp_path) == [len(answers), 1]


def test_a_paused_run_does_not_keep_the_server_from_ending(tmp_path: Path) -> None:
    with serving("CartPole-v1", tmp_path, record=True) as client:
        post(client, "/reset", seed=1)
        (path,) = run_paths(tmp_path)
        person = threading.Thread(target=steer, args=(RunDirectory(path), "pause"))
        playing = threading.Thread(target=play_on, args=(str(client.base_url),))
        person.start()
        playing.start()
        person.join()
    playing.join()
    assert replays(tmp_path)[0] >= 1


def play_on(url: str) -> None:
    with suppress(httpx.HTTPError), httpx.Client(base_url=url, timeout=60) as client:
        while client.post("/reset", json={"seed": 1}).status_code == 200:
            client.post("/v1/step", json={"inputs": [0]})
