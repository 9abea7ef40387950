"""Snapshots over HTTP: from a run that shares them to a machine that goes on from them."""

from __future__ import annotations

import json
import urllib.parse
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from ptp.recording import RunDirectory
from ptp.snapshots.snapshot import unpack
from tests.steering import ask
from tests.web.parts import TOKEN, playing, record, serving

Ptp = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory with two runs that share their snapshots, and one that does not."""
    folder = tmp_path_factory.mktemp("shared")
    record(folder, world="CartPole-v1", max_ticks=120, snapshot_share=True, snapshot_name="balanced")
    record(folder, world="tallgrass", max_ticks=90, snapshot_share=True, snapshot_disk=40)
    record(folder, world="Taxi-v4", max_ticks=30)
    return folder


@pytest.fixture(scope="module")
def sharer(shared: Path) -> Iterator[httpx.Client]:
    """A client of a server that others can reach, so that everything needs the token."""
    with serving(shared, open_reading=False, hosts=None) as client:
        yield client


def run_of(client: httpx.Client, world: str) -> str:
    return str(client.get("/api/v1/runs", params={"world": world}).json()["runs"][0]["run_id"])


def address(client: httpx.Client, path: str) -> str:
    return urllib.parse.urljoin(str(client.base_url), path)


def test_what_is_shared_is_listed_with_what_it_needs_and_where_it_is(sharer: httpx.Client) -> None:
    found = sharer.get("/api/v1/snapshot/shared").json()
    assert [(line["world"], line["tick"]) for line in found["snapshots"]] == [
        ("tallgrass", 90), ("tallgrass", 80), ("tallgrass", 40), ("CartPole-v1", 120)
    ]  # fmt: skip
    assert found["more"] is False
    game, pole = found["snapshots"][0], found["snapshots"][-1]
    assert (pole["name"], pole["world_version"], pole["rom_sha1"]) == ("balanced", "1", None)
    assert len(game["rom_sha1"]) == 40
    for line in (game, pole):
        snapshot = unpack(sharer.get(line["download"]).content, "file")
        assert (snapshot.header.snapshot_id, snapshot.header.tick) == (line["snapshot_id"], line["tick"])
        assert snapshot.tape is not None


def test_the_list_is_as_long_as_asked_and_can_be_of_one_run(sharer: httpx.Client) -> None:
    found = sharer.get("/api/v1/snapshot/shared", params={"limit": 2}).json()
    assert (len(found["snapshots"]), found["more"]) == (2, True)
    only = sharer.get("/api/v1/snapshot/shared", params={"run": run_of(sharer, "CartPole-v1")}).json()
    assert [line["name"] for line in only["snapshots"]] == ["balanced"]


@pytest.mark.parametrize("path", ["shared", "export/latest"])
def test_a_run_that_does_not_share_is_refused_and_the_flag_is_named(sharer: httpx.Client, path: str) -> None:
    response = sharer.get(f"/api/v1/snapshot/{path}", params={"run": run_of(sharer, "Taxi-v4")})
    assert response.status_code == 403
    assert "--snapshot-share" in response.json()["message"]


@pytest.mark.parametrize("path", ["shared", "export/latest"])
def test_the_token_is_needed_where_others_can_connect_and_not_on_loopback(
    sharer: httpx.Client, shared: Path, path: str
) -> None:
    query = {"run": run_of(sharer, "CartPole-v1")}
    for wrong in ("", "Bearer wrong"):
        answer = sharer.get(f"/api/v1/snapshot/{path}", params=query, headers={"Authorization": wrong})
        assert answer.status_code == 401
    with serving(shared) as local:
        assert local.get(f"/api/v1/snapshot/{path}", params=query, headers={"Authorization": ""}).status_code == 200


def test_a_snapshot_that_is_not_there_is_answered_with_the_nearest_name(sharer: httpx.Client) -> None:
    query = {"run": run_of(sharer, "CartPole-v1")}
    response = sharer.get("/api/v1/snapshot/export/balnced", params=query)
    assert (response.status_code, "did you mean 'balanced'" in response.json()["message"]) == (404, True)
    for name in ("..%2fup", "a%2fb", "%00", "-x"):
        assert sharer.get(f"/api/v1/snapshot/export/{name}", params=query).status_code in {404, 422}


def test_a_snapshot_is_imported_from_a_dashboard_and_gone_on_with(sharer: httpx.Client, ptp: Ptp) -> None:
    for world in ("CartPole-v1", "tallgrass"):
        url = address(sharer, f"/api/v1/snapshot/export/latest?run={run_of(sharer, world)}")
        code, out, err = ptp("snapshot", "import", url, "--token", TOKEN)
        assert (code, err) == (0, "")
        assert "is intact" in out
        assert ptp("resume", "latest", "--max-ticks", "150", "--tick-rate-base", "0")[0] == 0
        assert ptp("replay", "latest", "--verify")[1].startswith("equal: 150 ticks")


def test_the_token_may_come_from_the_environment_or_the_address(
    sharer: httpx.Client, ptp: Ptp, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = address(sharer, f"/api/v1/snapshot/export/balanced?run={run_of(sharer, 'CartPole-v1')}")
    code, out, _ = ptp("snapshot", "import", f"{url}#token={urllib.parse.quote(TOKEN)}")
    assert code == 0
    assert "#token" not in out
    monkeypatch.setenv("PTP_TOKEN", TOKEN)
    assert ptp("snapshot", "import", url)[0] == 0


def test_what_the_dashboard_refuses_is_told_in_one_line(sharer: httpx.Client, ptp: Ptp) -> None:
    pole, taxi = run_of(sharer, "CartPole-v1"), run_of(sharer, "Taxi-v4")
    for path, token, message in (
        (f"export/latest?run={pole}", "wrong", "answered 401: the token is wrong"),
        (f"export/latest?run={taxi}", TOKEN, "answered 403: run"),
        (f"export/nothing?run={pole}", TOKEN, "answered 404: no snapshot named 'nothing'"),
        ("shared", TOKEN, "is not a ptp snapshot"),
    ):
        code, out, err = ptp("snapshot", "import", address(sharer, f"/api/v1/snapshot/{path}"), "--token", token)
        assert (code, out, err.count("\n")) == (1, "", 1)
        assert message in err
    assert json.loads(ptp("runs", "--json")[1]) == []


def test_a_live_run_shares_while_it_plays(tmp_path: Path, ptp: Ptp) -> None:
    with playing(tmp_path / "there", "--snapshot-share") as game, serving(tmp_path / "there") as client:
        header: dict[str, Any] = ask(game, "snapshot", name="now")["snapshot"]
        url = address(client, "/api/v1/snapshot/export/now")
        assert ptp("snapshot", "import", url)[0] == 0
    (imported,) = json.loads(ptp("runs", "--json")[1])
    assert imported["ticks"] == header["tick"]


def test_an_imported_run_can_be_looked_at_in_the_dashboard(sharer: httpx.Client, ptp: Ptp, tmp_path: Path) -> None:
    for world in ("CartPole-v1", "tallgrass"):
        url = address(sharer, f"/api/v1/snapshot/export/latest?run={run_of(sharer, world)}")
        assert ptp("snapshot", "import", url, "--token", TOKEN)[0] == 0
        assert ptp("show", "latest")[0] == 0
        with serving(tmp_path / "var") as client:
            for path in ("status", "run", "actions", "decisions", "metrics", "metrics/series", "tick/3", "tick/90",
                         "frame?tick=3", "frame", "events", "snapshot/list", "logs", "config"):  # fmt: skip
                assert client.get(f"/api/v1/{path}").status_code == 200, path
            assert client.get("/api/v1/status").json()["run_id"] == RunDirectory(max(_runs(tmp_path))).run_id


def _runs(tmp_path: Path) -> list[Path]:
    return list((tmp_path / "var" / "records").iterdir())
