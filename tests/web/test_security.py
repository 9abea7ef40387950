"""Who may do what, and that nothing a client sends makes the server fail."""

from __future__ import annotations

import shutil
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import uvicorn

from ptp.errors import UsageError
from ptp.http.guard import HEADERS, MOST_BODY, Rates
from ptp.http.serving import is_loopback
from ptp.web.app import bind, create_app
from tests.web.parts import TOKEN, record, serving, wait_for

CHANGES = ["control/pause", "control/resume", "control/step", "control/snapshot", "control/stop", "control/rollback",
           "snapshot/restore/latest", "fork", "control/set", "control/restore"]  # fmt: skip


@pytest.fixture
def stranger(client: httpx.Client) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=client.base_url, timeout=30) as other:
        yield other


@pytest.mark.parametrize("path", CHANGES)
def test_what_changes_a_run_needs_the_token_even_on_loopback(stranger: httpx.Client, path: str) -> None:
    response = stranger.post(f"/api/v1/{path}", json={})
    assert response.status_code == 401
    assert response.headers["www-authenticate"] == "Bearer"
    assert "token" in response.json()["message"]


def test_reading_needs_no_token_on_loopback(stranger: httpx.Client) -> None:
    assert stranger.get("/api/v1/status").status_code == 200
    assert stranger.get("/").status_code == 200


def test_reading_needs_the_token_when_others_can_connect(shelf: Path) -> None:
    with serving(shelf, open_reading=False, hosts=None) as client:
        assert client.get("/api/v1/status").status_code == 200
        assert client.get("/api/v1/status", headers={"Authorization": "Bearer no"}).status_code == 401
        for path in ("/api/v1/status", "/api/v1/live", "/metrics", "/api/v1/openapi.json"):
            assert client.get(path, headers={"Authorization": ""}).status_code == 401, path
        assert client.get("/healthz", headers={"Authorization": ""}).status_code == 200


def test_wrong_tokens_are_refused_and_then_slowed_down(shelf: Path) -> None:
    with serving(shelf) as client:
        wrong = {"Authorization": "Bearer wrong"}
        answers = [client.post("/api/v1/control/pause", headers=wrong).status_code for _ in range(30)]
        assert set(answers) == {401, 429}
        assert answers[0] == 401


def test_a_page_that_rebinds_its_name_to_this_machine_is_refused(client: httpx.Client) -> None:
    odd = ("127.0.0.1:evil.example", "localhost:1:2", "127.0.0.1:", "[::1", "::1", "127.0.0.1@evil.example")
    for host in ("evil.example", "evil.example:8642", "127.0.0.1.evil.example", "", *odd):
        assert client.get("/api/v1/status", headers={"Host": host}).status_code == 421, host
    for host in ("localhost:1", "LOCALHOST", "[::1]:8642", "[::1]", "127.0.0.1"):
        assert client.get("/api/v1/status", headers={"Host": host}).status_code == 200, host


def test_every_answer_has_the_security_headers_and_none_opens_it_to_other_origins(client: httpx.Client) -> None:
    paths = ["/", "/static/app.js", "/api/v1/status", "/api/v1/nothing", "/healthz"]
    for path in paths:
        response = client.get(path, headers={"Origin": "https://evil.example"})
        for name, value in HEADERS.items():
            assert response.headers[name] == value, path
        assert "access-control-allow-origin" not in response.headers
    assert "unsafe-inline" not in HEADERS["Content-Security-Policy"]


@pytest.mark.parametrize(
    "path",
    [
        "/static/../app.py",
        "/static/..%2fapp.py",
        "/static/%2e%2e/%2e%2e/pyproject.toml",
        "/api/v1/status?run=../../etc",
        "/api/v1/status?run=/etc/passwd",
        "/api/v1/status?run=..",
        "/api/v1/status?run=%00",
        "/api/v1/screenshots/..%2f..%2fmetadata.json/image",
        "/api/v1/screenshots/../../metadata.json",
        "/api/v1/logs?run=.",
    ],
)
def test_no_path_leads_out_of_the_data_directory(client: httpx.Client, path: str) -> None:
    response = client.get(path)
    assert response.status_code in {400, 404, 422}
    assert response.json()["message"]


def test_a_stored_path_that_leads_out_of_the_run_is_not_followed(tmp_path: Path) -> None:
    import apsw

    directory = record(tmp_path, world="FrozenLake-v1", max_ticks=5)
    (tmp_path / "secret.png").write_bytes(b"the secret itself")
    connection = apsw.Connection(str(directory.database))
    connection.execute(
        "INSERT OR REPLACE INTO screenshots (screenshot_id, tick, file_path) VALUES ('x', 2, '../../secret.png')"
    )
    connection.close()
    with serving(tmp_path) as client:
        response = client.get("/api/v1/screenshots/x/image")
        assert response.status_code == 422
        assert b"the secret itself" not in response.content
        assert client.get("/api/v1/frame?tick=2").headers["content-type"].startswith("image/")


def test_bodies_and_addresses_are_bounded(client: httpx.Client) -> None:
    assert client.post("/api/v1/control/set", content=b"x" * (MOST_BODY + 1)).status_code == 413

    def pieces() -> Iterator[bytes]:
        for _ in range(20):
            yield b"x" * 8192

    for path in ("set", "pause"):  # whether the endpoint takes a body or not
        assert client.post(f"/api/v1/control/{path}", content=pieces()).status_code == 413
    assert client.request("GET", "/api/v1/status", content=pieces()).status_code == 413
    assert client.get("/api/v1/status?run=" + "a" * 5000).status_code == 414


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("runs?page=0", "page: not allowed; allowed: a whole number, at least 1, at most 1000000000"),
        ("runs?page=two", "page: not allowed; allowed: a whole number, at least 1, at most 1000000000"),
        ("runs?sort=luck", "sort: not allowed; allowed: one of agent, elapsed_seconds, "),
        ("status?run=a_b", "run: not allowed; allowed: text, length at most 64, pattern ^[0-9a-zA-Z-]+$"),
        ("status?run=latest%0A", "run: not allowed"),
        ("live?seconds=0", "seconds: not allowed; allowed: a number, more than 0"),
        ("frame?near=perhaps", "near: not allowed; allowed: true or false"),
        ("tick/-1", "tick: not allowed; allowed: a whole number, at least 0"),
        ("screenshots/diff?a=latest", "b: missing; allowed: text"),
    ],
)
def test_a_value_that_is_not_allowed_is_named_with_what_is(client: httpx.Client, address: str, message: str) -> None:
    response = client.get(f"/api/v1/{address}")
    assert (response.status_code, response.json()["error"]) == (422, "ValueNotAllowed")
    assert response.json()["message"].startswith(message)


@pytest.mark.parametrize(
    ("path", "body", "message"),
    [
        ("control/step", b'{"ticks": 2.5}', "ticks: not allowed; allowed: a whole number, at least 1, at most 1000000"),
        ("control/step", b'{"ticks": "3"}', "ticks: not allowed"),
        ("control/step", b'{"tick": 3}', "body: Object contains unknown field `tick`; allowed: ticks"),
        ("control/step", b"[]", "body: Expected `object`, got `array`; allowed: ticks"),
        ("control/step", b"{", "body: Input data was truncated"),
        ("control/restore", b"", "snapshot: missing; allowed: text, length at most 80"),
        ("control/snapshot", rb'{"name": "two\n"}', "name: not allowed"),
        ("control/set", b'{"settings": {}}', "settings: not allowed; allowed: an object with text values, at least 1"),
        ("control/set", b'{"settings": {"max-ticks": 3}}', "settings: not allowed"),
    ],
)
def test_a_body_that_is_not_allowed_is_refused_with_what_is(
    client: httpx.Client, path: str, body: bytes, message: str
) -> None:
    response = client.post(f"/api/v1/{path}", content=body)
    assert (response.status_code, response.json()["error"]) == (422, "ValueNotAllowed")
    assert response.json()["message"].startswith(message)


@pytest.mark.parametrize("path", ["status", "run", "actions", "metrics", "tick/1", "frame", "live", "config", "logs"])
def test_an_unknown_run_is_named_with_the_way_to_find_one(client: httpx.Client, path: str) -> None:
    response = client.get(f"/api/v1/{path}?run=zzz")
    assert response.status_code == 404
    assert "/api/v1/runs" in response.json()["message"]


def test_a_data_directory_without_runs_says_how_to_make_one(tmp_path: Path) -> None:
    with serving(tmp_path) as client:
        assert client.get("/api/v1/runs").json()["runs"] == []
        response = client.get("/api/v1/status")
        assert (response.status_code, "ptp run" in response.json()["message"]) == (404, True)


@pytest.mark.parametrize("harm", ["no database", "not a database", "no header", "damaged header", "no settings"])
def test_a_damaged_run_is_refused_with_the_reason_and_the_others_are_listed(
    shelf: Path, tmp_path: Path, harm: str
) -> None:
    shutil.copytree(shelf, tmp_path / "var")
    folder = max((tmp_path / "var" / "records").iterdir())
    if harm == "no database":
        (folder / "game_data.db").unlink()
    elif harm == "not a database":
        (folder / "game_data.db").write_bytes(b"no database" * 1000)
        (folder / "game_data.db-wal").unlink(missing_ok=True)
    elif harm == "no header":
        (folder / "metadata.json").unlink()
    elif harm == "damaged header":
        (folder / "metadata.json").write_text("{")
    else:
        (folder / "config.yaml").unlink()
    with serving(tmp_path / "var") as client:
        assert client.get("/api/v1/runs").status_code == 200
        for path in ("status", "run", "actions", "metrics", "metrics/series", "tick/3", "events", "decisions", "frame",
                     "screenshots", "screenshots/latest", "config", "logs", "snapshot/list", "export"):  # fmt: skip
            response = client.get(f"/api/v1/{path}", params={"run": folder.name})
            assert response.status_code < 500, (path, response.text)
            if response.status_code != 200:
                assert response.json()["message"], path


def test_a_dead_run_can_not_be_steered_and_says_how_to_go_on(client: httpx.Client, lake: str) -> None:
    for verb in ("pause", "resume", "step", "stop", "rollback"):
        response = client.post(f"/api/v1/control/{verb}", params={"run": lake})
        assert response.status_code == 409
        assert f"ptp resume {lake}" in response.json()["message"]


def test_accepted_connections_send_at_once(shelf: Path) -> None:
    listener, address = bind("127.0.0.1", 0, TOKEN)
    server = uvicorn.Server(uvicorn.Config(create_app(shelf, TOKEN), log_level="warning"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        wait_for(lambda: server.started)
        with httpx.Client(base_url=f"http://127.0.0.1:{address.port}") as client:
            assert client.get("/healthz").status_code == 200
            (connection,) = server.server_state.connections
            accepted = connection.transport.get_extra_info("socket")
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) != 0
    finally:
        server.should_exit = True
        thread.join()
        listener.close()


def test_each_client_has_so_many_requests_and_gets_new_ones_as_time_passes() -> None:
    now = [0.0]
    rates = Rates(5, lambda: now[0])
    assert [rates.take("one") for _ in range(12)] == [True] * 10 + [False] * 2
    assert rates.take("another")
    now[0] = 0.2
    assert [rates.take("one") for _ in range(2)] == [True, False]


def test_a_token_is_made_when_none_is_given_and_a_short_one_is_refused() -> None:
    listener, address = bind("127.0.0.1", 0, None)
    listener.close()
    assert len(address.token) >= 20
    assert address.url.endswith(f"/#token={address.token}")
    with pytest.raises(UsageError, match="--token"):
        bind("127.0.0.1", 0, "short")
    with pytest.raises(UsageError, match="--port"):
        bind("127.0.0.1", 70000, TOKEN)


def test_only_addresses_of_this_machine_are_loopback() -> None:
    assert [is_loopback(host) for host in ("localhost", "127.0.0.1", "::1", "127.9.9.9")] == [True] * 4
    assert [is_loopback(host) for host in ("0.0.0.0", "192.168.0.2", "example.org", "::")] == [False] * 4
