"""Clients that vanish, that come all at once, that do not read, and that come from elsewhere."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from pathlib import Path

import httpx
import pytest
from websockets.exceptions import InvalidStatus

from tests.emulators.parts import ask, get, post, serving, talking
from tests.web.parts import wait_for

TOKEN = "a token for the tests"


def raw(client: httpx.Client) -> socket.socket:
    """Connect without speaking."""
    return socket.create_connection(("127.0.0.1", client.base_url.port or 80))


def request(path: str, body: bytes, length: int | None = None) -> bytes:
    size = len(body) if length is None else length
    return b"POST %b HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: %d\r\n\r\n%b" % (path.encode(), size, body)


def test_a_client_that_vanishes_mid_request_leaves_no_trace(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with serving("tallgrass", tmp_path) as client:
        post(client, "/reset", seed=1)
        body = json.dumps({"inputs": ["none/60"] * 50}).encode()
        for sent in (request("/v1/step", body), request("/v1/step", body[:50], len(body)), b"POST /v1/st"):
            with raw(client) as connection:
                connection.sendall(sent)
        wait_for(lambda: get(client, "/v1/state")["step"] == 50)
    assert capfd.readouterr().err == ""


def test_a_websocket_that_vanishes_frees_its_game_without_a_word(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with serving("tallgrass", tmp_path, record=True) as client:
        for _ in range(3):
            with talking(client, close_timeout=0) as connection:
                ask(connection, "reset", seed=1)
                connection.send(json.dumps({"type": "step", "data": {"command": "none/3600"}}))
                connection.socket.shutdown(socket.SHUT_RDWR)
        wait_for(lambda: get(client, "/games")["games"] == [])
    assert capfd.readouterr().err == ""


def test_two_hundred_at_once_are_all_answered(pole: httpx.Client) -> None:
    post(pole, "/reset", seed=1)

    async def all_at_once() -> list[int]:
        limits = httpx.Limits(max_connections=200)
        async with httpx.AsyncClient(base_url=pole.base_url, timeout=60, limits=limits) as client:
            answers = await asyncio.gather(*(client.post("/v1/step", json={"inputs": []}) for _ in range(200)))
        return [answer.status_code for answer in answers]

    assert asyncio.run(all_at_once()) == [200] * 200


def test_requests_of_many_threads_are_played_one_after_the_other(grass: httpx.Client) -> None:
    post(grass, "/reset", seed=1)
    threads = [threading.Thread(target=lambda: post(grass, "/v1/step", inputs=["none/2"] * 5)) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert get(grass, "/v1/state")["step"] == 100


def test_health_is_told_while_the_game_is_busy(grass: httpx.Client) -> None:
    post(grass, "/reset", seed=1)
    busy = threading.Thread(target=lambda: post(grass, "/v1/step", inputs=["none/2000"] * 90))
    busy.start()
    assert get(grass, "/health") == {"status": "healthy"}
    assert busy.is_alive()
    busy.join()


def test_a_game_that_is_taken_away_ends_in_the_middle_of_a_request(grass: httpx.Client) -> None:
    path = post(grass, "/games")["path"]
    post(grass, f"{path}/reset", seed=1)
    answers: list[httpx.Response] = []
    inputs = {"inputs": ["none/20"] * 10_000}
    busy = threading.Thread(target=lambda: answers.append(grass.post(f"{path}/v1/step", json=inputs)))
    busy.start()
    wait_for(lambda: grass.delete(path).status_code == 200)
    busy.join()
    assert answers[0].status_code in (404, 409), answers[0].text


def test_slow_readers_do_not_hold_up_others(tmp_path: Path) -> None:
    with serving("tallgrass", tmp_path) as client:
        post(client, "/reset", seed=1)
        with raw(client) as slow, talking(client) as silent:
            slow.sendall(b"GET /v1/state HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 200)
            for _ in range(200):
                silent.send(json.dumps({"type": "reset", "data": {"frames": True}}))
            for _ in range(20):
                post(client, "/v1/step", inputs=["none/1"])
            assert get(client, "/v1/state")["step"] == 20


def test_with_a_token_nobody_plays_without_it(tmp_path: Path) -> None:
    with serving("CartPole-v1", tmp_path, token=TOKEN) as client:
        for path in ("/reset", "/initialize", "/v1/step", "/games"):
            assert client.post(path, json={}).status_code == 401
        assert client.get("/v1/state").status_code == 401
        with pytest.raises(InvalidStatus), talking(client):
            pass
        with talking(client, additional_headers={"Authorization": f"Bearer {TOKEN}"}) as connection:
            assert ask(connection, "reset", seed=1)["type"] == "observation"
        assert client.get("/health").status_code == 200


def test_pages_of_other_sites_are_refused(pole: httpx.Client) -> None:
    there = {"Origin": "https://elsewhere.example"}
    refused = pole.post("/reset", json={}, headers=there)
    assert (refused.status_code, "--token" in refused.json()["message"]) == (403, True)
    assert pole.post("/reset", json={}, headers={"Host": "elsewhere.example"}).status_code == 421
    assert pole.post("/reset", json={}, headers={"Origin": str(pole.base_url).rstrip("/")}).status_code == 200
    with pytest.raises(InvalidStatus), talking(pole, additional_headers=there):
        pass


def test_a_body_that_is_nested_without_end_is_refused(pole: httpx.Client) -> None:
    for path in ("/v1/step", "/step", "/action"):
        assert pole.post(path, content=b'{"inputs":' + b"[" * 100_000).status_code == 422
    nested: list[object] = []
    for _ in range(500):
        nested = [nested]
    assert pole.post("/v1/step", json={"inputs": [nested]}).status_code == 422


def test_a_body_that_is_too_large_is_refused(pole: httpx.Client) -> None:
    assert pole.post("/v1/snapshot", content=bytes(5 << 20)).status_code == 413
