"""OpenEnv's protocol over HTTP and WebSocket: seeds are honoured, and games can be saved, restored and forked."""

from __future__ import annotations

import base64
import io
import json
from typing import Any

import httpx
import pytest
from PIL import Image

from tests.emulators.parts import ask, get, post, talking
from tests.web.parts import wait_for

MOVES = {"pole": ["left", "right", 1, "0", "right"], "grass": ["start", "a:10/130", "none/60", "b", 1]}


@pytest.fixture(params=["pole", "grass"])
def game(request: pytest.FixtureRequest) -> tuple[httpx.Client, list[Any]]:
    return request.getfixturevalue(request.param), MOVES[request.param]


def test_the_same_seed_and_actions_give_the_same_game(game: tuple[httpx.Client, list[Any]]) -> None:
    client, moves = game
    played = []
    for _ in range(2):
        first = post(client, "/reset", seed=7, episode_id="mine", unheard="of")
        assert (first["reward"], first["done"]) == (None, False)
        steps = [post(client, "/step", action={"command": move}, timeout_s=3) for move in moves]
        played.append([first, *steps])
        state = get(client, "/state")
        assert (state["episode_id"], state["step_count"], state["seed"]) == ("mine", len(moves), 7)
    assert played[0] == played[1]


def test_another_seed_gives_another_game(pole: httpx.Client) -> None:
    assert post(pole, "/reset", seed=1) != post(pole, "/reset", seed=2)


def test_over_a_websocket_the_game_is_the_same_as_over_http(game: tuple[httpx.Client, list[Any]]) -> None:
    client, moves = game
    with talking(client) as socket:
        spoken = [ask(socket, "reset", seed=3), *(ask(socket, "step", command=move) for move in moves)]
        state = ask(socket, "state")
    posted = [post(client, "/reset", seed=3), *(post(client, "/step", action={"command": move}) for move in moves)]
    assert [it["type"] for it in spoken] == ["observation"] * len(spoken)
    assert [it["data"] for it in spoken] == posted
    assert (state["type"], state["data"]["step_count"]) == ("state", len(moves))


def test_every_connection_has_a_game_of_its_own_and_frees_it(pole: httpx.Client) -> None:
    assert get(pole, "/games")["games"] == []
    with talking(pole) as one, talking(pole) as two:
        ask(one, "reset", seed=1)
        ask(two, "reset", seed=1)
        ask(one, "step", command=0)
        assert (ask(one, "state")["data"]["step_count"], ask(two, "state")["data"]["step_count"]) == (1, 0)
        assert len(get(pole, "/games")["games"]) == 2
        one.send(json.dumps({"type": "close"}))
        with pytest.raises(Exception, match="1000"):
            one.recv(timeout=60)
    wait_for(lambda: get(pole, "/games")["games"] == [])


def test_more_connections_than_games_are_told_so(pole: httpx.Client) -> None:
    made = [post(pole, "/games")["game_id"] for _ in range(get(pole, "/games")["most"])]
    with talking(pole) as socket:
        assert json.loads(socket.recv(timeout=60))["data"]["code"] == "CAPACITY_REACHED"
    for game_id in made:
        assert pole.delete(f"/games/{game_id}").status_code == 200


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("{", "INVALID_JSON"),
        (b"{}", "INVALID_JSON"),
        ('{"type":"step","data":{"command":' + "[" * 100_000, "INVALID_JSON"),
        ("[]", "VALIDATION_ERROR"),
        ('{"type": 3}', "VALIDATION_ERROR"),
        ('{"type": "dance"}', "UNKNOWN_TYPE"),
        ('{"type": "step", "data": {}}', "VALIDATION_ERROR"),
        ('{"type": "reset", "data": {"seed": -1}}', "VALIDATION_ERROR"),
        ('{"type": "reset", "data": {"seed": "x"}}', "VALIDATION_ERROR"),
        ('{"type": "step", "data": {"command": "up"}}', "VALIDATION_ERROR"),
        ('{"type": "step", "data": {"command": [1]}}', "VALIDATION_ERROR"),
        ('{"type": "restore", "data": {"snapshot": "??"}}', "VALIDATION_ERROR"),
        ('{"type": "restore", "data": {"snapshot": "aGVsbG8="}}', "VALIDATION_ERROR"),
        ('{"type": "restore"}', "VALIDATION_ERROR"),
    ],
)
def test_a_wrong_message_is_an_error_message_and_the_connection_stays(
    pole: httpx.Client, text: str | bytes, code: str
) -> None:
    with talking(pole) as socket:
        ask(socket, "reset", seed=1)
        socket.send(text)
        answer = json.loads(socket.recv(timeout=60))
        assert (answer["type"], answer["data"]["code"]) == ("error", code), answer
        assert answer["data"]["message"]
        assert ask(socket, "step", command=0)["type"] == "observation"


def test_a_step_before_reset_and_after_the_end_is_refused(pole: httpx.Client) -> None:
    with talking(pole) as socket:
        assert ask(socket, "step", command=0)["data"]["code"] == "VALIDATION_ERROR"
        ask(socket, "reset", seed=1)
        while not ask(socket, "step", command=0)["data"]["done"]:
            pass
        ended = ask(socket, "step", command=0)
        assert (ended["data"]["code"], "reset" in ended["data"]["message"]) == ("EXECUTION_ERROR", True)


def test_a_snapshot_is_restored_in_the_same_game_and_in_another(game: tuple[httpx.Client, list[Any]]) -> None:
    client, moves = game
    with talking(client) as one, talking(client) as two:
        ask(one, "reset", seed=5)
        for move in moves:
            ask(one, "step", command=move)
        snapshot = ask(one, "snapshot")["data"]["snapshot"]
        after = [ask(one, "step", command=move) for move in moves]
        for socket in (one, two):
            restored = ask(socket, "restore", snapshot=snapshot)
            assert (restored["type"], restored["data"]["step_count"]) == ("state", len(moves))
            assert [ask(socket, "step", command=move) for move in moves] == after
        assert ask(two, "state")["data"]["step_count"] == 2 * len(moves)


def test_a_fork_continues_apart_and_ends_with_its_maker(game: tuple[httpx.Client, list[Any]]) -> None:
    client, moves = game
    with talking(client) as one:
        ask(one, "reset", seed=5)
        for move in moves:
            ask(one, "step", command=move)
        fork = ask(one, "fork")["data"]
        with talking(client, f"{fork['path']}/ws") as other:
            assert ask(other, "state")["data"]["step_count"] == len(moves)
            theirs = [ask(other, "step", command=move) for move in moves]
        assert [ask(one, "step", command=move) for move in moves] == theirs
    wait_for(lambda: fork["game_id"] not in str(get(client, "/games")))


def test_a_game_that_was_ended_by_others_says_so(pole: httpx.Client) -> None:
    path = post(pole, "/games")["path"]
    with talking(pole, f"{path}/ws") as socket:
        ask(socket, "reset", seed=1)
        assert pole.delete(path).status_code == 200
        assert ask(socket, "step", command=0)["data"]["code"] == "SESSION_ERROR"
    with talking(pole, f"{path}/ws") as socket:
        assert json.loads(socket.recv(timeout=60))["data"]["code"] == "SESSION_ERROR"


def test_pictures_come_if_they_are_asked_for(grass: httpx.Client) -> None:
    with talking(grass) as socket:
        assert "frame" not in ask(socket, "reset")["data"]["observation"]
        seen = ask(socket, "reset", frames=True)["data"]["observation"]["frame"]
        assert Image.open(io.BytesIO(base64.b64decode(seen))).size == (320, 288)


def test_schemas_and_metadata_describe_the_game(grass: httpx.Client) -> None:
    schema = get(grass, "/schema")
    assert set(schema) == {"action", "observation", "state"}
    assert "command" in json.dumps(schema["action"])
    about = get(grass, "/metadata")
    assert about["name"] == "tallgrass"
    assert about["extensions"] == ["snapshot", "restore", "fork"]
    assert all(word in about["readme_content"] for word in about["extensions"])
    assert get(grass, "/health") == {"status": "healthy"}
