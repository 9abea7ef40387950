"""Who may do what, and that nothing a client sends makes the server fail."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from ptp.errors import UsageError
from ptp.web.guard import HEADERS, MOST_BODY, Rates
from ptp.web.server import bind, is_loopback
from tests.web.parts import TOKEN, record, serving

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
    for host in ("evil.example", "evil.example:8642", "127.0.0.1.evil.example", ""):
        assert client.get("/api/v1/status", headers={"Host": host}).status_code == 421, host
    assert client.get("/api/v1/status", headers={"Host": "localhost:1"}).status_code == 200


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

    assert client.post("/api/v1/control/set", content=pieces()).status_code == 413
    assert client.get("/api/v1/status?run=" + "a" * 5000).status_code == 414


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
