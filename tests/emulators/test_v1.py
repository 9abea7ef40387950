"""Our own protocol: many commands at once, scripts, snapshots as bytes, pictures, and further games."""

from __future__ import annotations

import io
from pathlib import Path

import httpx
import pytest
from PIL import Image

from ptp.emulators.session import MAGIC
from ptp.worlds import make_world
from ptp.worlds.gameboy.world import GameBoyWorld
from ptp.worlds.registry import find_world
from tests.emulators.parts import get, post, serving


def test_many_commands_in_one_request_are_the_same_as_one_by_one(grass: httpx.Client) -> None:
    inputs = ["start", "a:10/130", "none", "b+up:8/24", 1] * 10
    post(grass, "/reset", seed=1)
    once = post(grass, "/v1/step", inputs=inputs, rewards=True, states=True)
    post(grass, "/reset", seed=1)
    each = [post(grass, "/v1/step", inputs=[command]) for command in inputs]
    assert once["played"] == len(once["rewards"]) == len(inputs)
    assert once["states"] == [it["position"]["state"] for it in each]
    assert once["position"]["state"] == get(grass, "/v1/state")["state"]
    assert (each[0]["rewards"], each[0]["states"]) == (None, None)
    assert get(grass, "/v1/state")["step"] == len(inputs)


def test_commands_are_checked_before_the_first_is_applied(grass: httpx.Client) -> None:
    post(grass, "/reset")
    for inputs, reason in (
        (["a", "jump"], "no button named 'jump'"),
        (["none/3600"] * 60, "too many"),
        ("a", "a list"),
        (["a"] * 10_001, "at most 10000"),
    ):
        refused = grass.post("/v1/step", json={"inputs": inputs})
        assert (refused.status_code, reason in refused.text) == (422, True), refused.text
    assert get(grass, "/v1/state")["step"] == 0


def test_the_end_of_an_episode_ends_the_commands(pole: httpx.Client) -> None:
    post(pole, "/reset", seed=1)
    ended = post(pole, "/v1/step", inputs=[0] * 100, rewards=True)
    assert ended["played"] == len(ended["rewards"]) == ended["position"]["step"] < 100
    assert ended["position"]["done"]
    refused = pole.post("/v1/step", json={"inputs": [0]})
    assert (refused.status_code, "/reset" in refused.text) == (409, True)


def test_a_snapshot_is_bytes_out_and_in(grass: httpx.Client) -> None:
    post(grass, "/reset", seed=1)
    post(grass, "/v1/step", inputs=["start", "a", "a"])
    snapshot = grass.get("/v1/snapshot").content
    picture = grass.get("/v1/frame").content
    post(grass, "/v1/step", inputs=["none/600"])
    restored = grass.post("/v1/snapshot", content=snapshot)
    assert (restored.status_code, restored.json()["position"]["step"]) == (200, 3)
    assert grass.get("/v1/frame").content == picture
    assert Image.open(io.BytesIO(picture)).size == (320, 288)


def test_a_state_of_the_emulator_is_taken_too(grass: httpx.Client) -> None:
    world = make_world(find_world("tallgrass"))
    world.reset(0)
    for _ in range(20):
        world.step(world.parse("a:10/130"))
    assert isinstance(world, GameBoyWorld)
    state, raw = world.state(world.observe()), world.env.save()
    world.close()
    assert grass.post("/v1/snapshot", content=raw).status_code == 200
    assert get(grass, "/v1/state")["state"]["coordinates"] == (
        {"x": state.coordinates.x, "y": state.coordinates.y} if state.coordinates else None
    )


@pytest.mark.parametrize("data", [b"", MAGIC, MAGIC + b"\xff\xff\xff\xff", MAGIC + b"\x08\0\0\0hello", b"x"])
def test_a_damaged_snapshot_is_refused_and_the_game_goes_on(
    grass: httpx.Client, pole: httpx.Client, data: bytes
) -> None:
    for client in (grass, pole):
        post(client, "/reset", seed=1)
        before = get(client, "/v1/state")
        assert client.post("/v1/snapshot", content=data).status_code == 422
        assert get(client, "/v1/state") == before
    damaged = bytearray(grass.get("/v1/snapshot").content)
    damaged[len(damaged) // 2] ^= 0xFF
    assert grass.post("/v1/snapshot", content=bytes(damaged[:-9])).status_code == 422
    assert grass.post("/v1/snapshot", content=pole.get("/v1/snapshot").content).status_code == 422


def test_a_script_plays_and_tells_what_failed(grass: httpx.Client) -> None:
    post(grass, "/reset", seed=1)
    text = 'REPEAT 3 { PRESS A 10 }\nCHECKPOINT "pressed"\nWAIT 60\n'
    played = post(grass, "/v1/script", text=text)
    assert (played["success"], played["checkpoints"], played["failures"]) == (True, ["pressed"], [])
    assert played["position"]["step"] > 3
    failed = post(grass, "/v1/script", text="EXPECT badges == 8\nPRESS A\n")
    assert (failed["success"], "line 1" in failed["failures"][0]) == (False, True)
    refused = grass.post("/v1/script", json={"text": "PRES A\nPRESS Q\n"})
    assert refused.status_code == 422
    assert "2" in refused.json()["message"]


def test_further_games_are_apart_and_bounded(tmp_path: Path) -> None:
    with serving("CartPole-v1", tmp_path, most=2) as client:
        one, two = (post(client, "/games") for _ in range(2))
        assert client.post("/games").status_code == 429
        assert [it["game_id"] for it in get(client, "/games")["games"]] == [one["game_id"], two["game_id"]]
        for made in (one, two):
            post(client, f"{made['path']}/reset", seed=9)
        post(client, f"{one['path']}/v1/step", inputs=[0, 1])
        assert get(client, f"{one['path']}/v1/state")["step"] == 2
        assert get(client, f"{two['path']}/v1/state")["step"] == 0
        assert get(client, "/v1/state")["seed"] is None
        assert client.delete(two["path"]).json() == {"game_id": two["game_id"]}
        assert client.delete(two["path"]).status_code == 404
        assert client.get(f"{two['path']}/v1/state").status_code == 404
        forked = post(client, f"{one['path']}/v1/fork")
        assert get(client, f"{forked['path']}/v1/state") == get(client, f"{one['path']}/v1/state")


def test_there_is_no_picture_before_a_game(tmp_path: Path) -> None:
    with serving("tallgrass", tmp_path) as client:
        assert client.get("/v1/frame").status_code == 400
        assert client.get("/v1/snapshot").status_code == 400
        assert post(client, "/v1/step", inputs=["a"])["played"] == 1
